// Communicators by name, what they were made with, and how they are halted and go on.
#include <cstring>

#include "acl/acl_rt.h"
#include "hccl/api/count_checks.h"
#include "hccl/api/state_callbacks.h"
#include "hccl/base/result.h"
#include "hccl/bootstrap/bootstrap.h"
#include "hccl/hccl_comm.h"
#include "hccl/membership/find.h"
#include "hccl/membership/registry.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

Result<HcclComm> RequireName(const char* argument, const char* name) {
  int32_t device = -1;
  if (aclrtGetDevice(&device) != ACL_SUCCESS) aclGetRecentErrMsg();
  const HcclComm comm = HandleOfName(name, device);
  if (comm == nullptr) return Fail(HCCL_E_NOT_FOUND, "%s: no communicator of this process is named \"%s\"", argument, name);
  return comm;
}

// A rank that is gone does not come back.
Status RequireAllThere(const std::shared_ptr<Communicator>& communicator) {
  uint32_t rank = 0;
  RunOnIo([&] {
    while (rank < communicator->size() && (rank == communicator->rank() || communicator->Ended(rank) == HCCL_SUCCESS)) ++rank;
  });
  if (rank == communicator->size()) return Ok();
  return Fail(HCCL_E_REMOTE, "rank %u is gone: make a new communicator of the others", rank);
}

template <typename T>
Status Tell(const T* from, size_t bytes, uint32_t room, void* to) {
  if (room < bytes) return Fail(HCCL_E_PARA, "infoLen is %u, and the answer has %zu bytes", room, bytes);
  std::memcpy(to, from, bytes);
  return Ok();
}

}  // namespace
}  // namespace ropeway::comm

HcclResult HcclConfigGetInfo(HcclComm comm, HcclConfigType cfgType, uint32_t infoLen, void* info) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("info", info));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    const HcclOpExpansionMode mode = communicator->op_expansion_mode();
    const std::string& algorithm = communicator->algorithm();
    if (cfgType == HCCL_CONFIG_TYPE_OP_EXPANSION_MODE) return Tell(&mode, sizeof mode, infoLen, info);
    if (cfgType == HCCL_CONFIG_TYPE_HCCL_ALGO) return Tell(algorithm.c_str(), algorithm.size() + 1, infoLen, info);
    return Fail(HCCL_E_PARA, "cfgType is %d, neither HCCL_CONFIG_TYPE_OP_EXPANSION_MODE (0) nor HCCL_CONFIG_TYPE_HCCL_ALGO (1)", cfgType);
  });
}

HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("commName", commName));
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY_SET(*comm, RequireName("commName", commName));
    return Ok();
  });
}

HcclResult HcclCommGetStatus(const char* commId, HcclCommStatus* status) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("commId", commId));
    RW_TRY(RequirePointer("status", status));
    *status = HCCL_COMM_STATUS_INVALID;
    RW_TRY_SET(const HcclComm comm, RequireName("commId", commId));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    *status = communicator->suspended() ? HCCL_COMM_STATUS_SUSPENDING : HCCL_COMM_STATUS_READY;
    return Ok();
  });
}

HcclResult HcclCommSuspend(HcclComm comm) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    communicator->Suspend();
    return Ok();
  });
}

HcclResult HcclCommResume(HcclComm comm) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    RW_TRY(TellStateCallbacks(comm, HCCL_COMM_STATE_PHASE_RESUME_PRE));
    RW_TRY(RequireAllThere(communicator.shared()));
    communicator->BeginLife();
    return TellStateCallbacks(comm, HCCL_COMM_STATE_PHASE_RESUME_POST);
  });
}

HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t* ranks, bool* useBackup, uint32_t nRanks) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("ranks", ranks));
    RW_TRY(RequirePointer("useBackup", useBackup));
    RW_TRY_SET(const CommunicatorHold communicator, RequireCommunicator(comm));
    if (nRanks == 0 || nRanks > communicator->size())
      return Fail(HCCL_E_PARA, "nRanks is %u; the communicator has %u ranks", nRanks, communicator->size());
    for (uint32_t i = 0; i < nRanks; ++i) RW_TRY(RequireRankOf("ranks[]", ranks[i], *communicator));
    for (uint32_t i = 0; i < nRanks; ++i) {
      if (useBackup[i]) return Fail(HCCL_E_NOT_SUPPORT, "useBackup[%u] is true, and rank %u has no second network card", i, ranks[i]);
    }
    return Ok();
  });
}
