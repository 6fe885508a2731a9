// HcclRemapRegistedMemory: the pages behind registered addresses were replaced, and peers shall see the new ones.
#include "base/mutex.h"
#include "hccl/onesided/one_sided.h"

using namespace ropeway::comm;
using ropeway::comm::Entry;
using ropeway::comm::Fail;
using ropeway::comm::Ok;
using ropeway::comm::RequirePointer;
using ropeway::comm::Status;

namespace ropeway::comm {

Status OneSided::Remap(const CommMem& memory) {
  LockGuard lock(mutex_);
  const auto address = reinterpret_cast<uint64_t>(memory.addr);
  for (LocalRegion& region : local_.all()) {
    if (region.address != address || region.size != memory.size) continue;
    RW_TRY_SET(char* view, HostViewOf(region.type, memory.addr, memory.size));
    for (const auto& [peer, exported] : region.exports)
      if (exported.route == Route::kMapping)
        return Fail(HCCL_E_NOT_SUPPORT, "rank %u has mapped the old pages of %p: deregister and register again", peer, memory.addr);
    region.view = view;
    for (const auto& [peer, exported] : region.exports)
      if (const auto& link = pairs_[peer].link; link != nullptr && exported.route == Route::kLink)
        link->Expose(exported.number, region.ForPeer());
    return Ok();
  }
  return Fail(HCCL_E_NOT_FOUND, "[%p, +%lu) is not registered in this communicator", memory.addr, memory.size);
}

}  // namespace ropeway::comm

HcclResult HcclRemapRegistedMemory(HcclComm* comm, CommMem* memInfoArray, u64 commSize, u64 arraySize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("memInfoArray", memInfoArray));
    if (commSize == 0 || arraySize == 0) return Fail(HCCL_E_PARA, "commSize %llu or arraySize %llu is 0", commSize, arraySize);
    for (u64 i = 0; i < commSize; ++i) {
      RW_TRY_SET(const OneSidedRef found, FindOneSided(comm[i]));
      for (u64 j = 0; j < arraySize; ++j) RW_TRY(found.service->Remap(memInfoArray[j]));
    }
    return Ok();
  });
}
