// HcclRegisterMem to HcclDisableMemAccess: checks in the order of the original, then the service.
#include <algorithm>

#include "hccl/onesided/one_sided.h"
#include "hccl/onesided/one_sided_checks.h"

using namespace ropeway::comm;
using ropeway::comm::Entry;
using ropeway::comm::Fail;
using ropeway::comm::Ok;
using ropeway::comm::RequirePointer;
using ropeway::comm::Status;

namespace ropeway::comm {

namespace {

// The original's exchange answers one code for whatever goes wrong between the ranks.
Status AsRuntimeError(Status status) {
  switch (status.code()) {
    case HCCL_E_TIMEOUT:
    case HCCL_E_REMOTE:
    case HCCL_E_TCP_CONNECT:
    case HCCL_E_TCP_TRANSFER: return Fail(HCCL_E_RUNTIME, "%s", status.text());
    default: return status;
  }
}

}  // namespace
}  // namespace ropeway::comm

HcclResult HcclRegisterMem(HcclComm comm, u32 remoteRank, int type, void* addr, u64 size, HcclMemDesc* desc) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("addr", addr));
    RW_TRY(RequirePointer("desc", desc));
    RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
    RW_TRY(RequireRank(*found.communicator, remoteRank));
    if (remoteRank == found.communicator->rank()) return Ok();
    RW_TRY(RequireMemory(type, addr, size));
    return found.service->Register(remoteRank, static_cast<CommMemType>(type), reinterpret_cast<uint64_t>(addr), size, desc);
  });
}

HcclResult HcclDeregisterMem(HcclComm comm, HcclMemDesc* desc) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("desc", desc));
    RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
    return found.service->Deregister(*desc);
  });
}

HcclResult HcclExchangeMemDesc(HcclComm comm, u32 remoteRank, HcclMemDescs* local, int timeout, HcclMemDescs* remote, u32* actualNum) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("local", local));
    RW_TRY(RequirePointer("remote", remote));
    RW_TRY(RequirePointer("actualNum", actualNum));
    if (local->arrayLength != 0) RW_TRY(RequirePointer("local->array", local->array));
    RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
    RW_TRY(RequireRank(*found.communicator, remoteRank));
    if (remoteRank == found.communicator->rank()) return Ok();
    RW_TRY_SET(const ropeway::Deadline deadline, DeadlineOf(*found.communicator, timeout));
    const std::vector<HcclMemDesc> own(local->array, local->array + local->arrayLength);
    std::vector<HcclMemDesc> received;
    RW_TRY(AsRuntimeError(found.service->Exchange(remoteRank, own, deadline, &received)));
    // The original writes past the array.
    if (received.size() > remote->arrayLength || (!received.empty() && remote->array == nullptr))
      return Fail(HCCL_E_PARA, "rank %u sent %zu descriptors and remote->array has room for %u", remoteRank, received.size(),
                  remote->array == nullptr ? 0 : remote->arrayLength);
    std::copy(received.begin(), received.end(), remote->array);
    *actualNum = static_cast<u32>(received.size());
    return Ok();
  });
}

HcclResult HcclEnableMemAccess(HcclComm comm, HcclMemDesc* remoteMemDesc, CommMem* remoteMem) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("remoteMemDesc", remoteMemDesc));
    RW_TRY(RequirePointer("remoteMem", remoteMem));
    RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
    return found.service->Enable(*remoteMemDesc, remoteMem);
  });
}

HcclResult HcclDisableMemAccess(HcclComm comm, HcclMemDesc* remoteMemDesc) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("remoteMemDesc", remoteMemDesc));
    RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
    return found.service->Disable(*remoteMemDesc);
  });
}
