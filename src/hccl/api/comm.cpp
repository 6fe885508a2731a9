// What a communicator says about itself, barriers, and its end.
#include <cstring>

#include "hccl/api/state_callbacks.h"
#include "hccl/base/result.h"
#include "hccl/bootstrap/bootstrap.h"
#include "hccl/hccl_comm.h"
#include "hccl/membership/barrier.h"
#include "hccl/membership/find.h"
#include "hccl/membership/registry.h"
#include "hccl/membership/services.h"

using namespace ropeway::comm;

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("rankSize", rankSize));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    *rankSize = communicator->size();
    return Ok();
  });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("rank", rank));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    *rank = communicator->rank();
    return Ok();
  });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("commName", commName));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    std::strncpy(commName, communicator->name().c_str(), COMM_NAME_MAX_LENGTH - 1);
    commName[COMM_NAME_MAX_LENGTH - 1] = '\0';
    return Ok();
  });
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("asyncError", asyncError));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    *asyncError = communicator->async_error();
    return Ok();
  });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    RW_TRY(RequireNotSuspended(*communicator));
    return FromRuntime("ropewayLaunchOperation", LaunchBarrier(communicator.shared(), stream));
  });
}

HcclResult HcclCommDestroy(HcclComm comm) {
  return Entry(__func__, [&]() -> Status {
    if (comm == nullptr) return Ok();
    {
      RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
      RW_TRY(TellStateCallbacks(comm, HCCL_COMM_STATE_PHASE_DESTROY_PRE));
      for (const Service* service : AllServices()) {
        if (service->may_destroy != nullptr) RW_TRY(service->may_destroy(*communicator));
      }
    }
    std::shared_ptr<Communicator> communicator;
    const HcclResult removed = RemoveCommunicator(comm, &communicator);
    if (removed == HCCL_E_AGAIN) return Fail(removed, "another thread is inside a call with this communicator: try again later");
    if (removed != HCCL_SUCCESS) return Fail(removed, "comm %p is no communicator of this process, or no longer", comm);
    Dissolve(communicator);
    return TellStateCallbacks(comm, HCCL_COMM_STATE_PHASE_DESTROY_POST);
  });
}
