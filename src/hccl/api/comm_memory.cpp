// Memory that programs name to a communicator, so that collectives work with it in place: HcclCommRegister, HcclCommSetMemoryRange and
// their kin. Collectives do so with any device memory. What is left for these calls is to keep the books as the original does: what was
// named can be taken back once, and what does not fit is refused.
#include <map>
#include <set>

#include "base/mutex.h"
#include "hccl/base/result.h"
#include "hccl/hccl_comm.h"
#include "hccl/hccl_ex.h"
#include "hccl/membership/find.h"
#include "hccl/p2p/host_view.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

class CommMemory {
 public:
  static std::shared_ptr<CommMemory> Of(Communicator& communicator) {
    static constexpr Service kBooks{};  // says whose state it is, and hears nothing
    return std::static_pointer_cast<CommMemory>(communicator.State(kBooks, [] { return std::make_shared<CommMemory>(); }));
  }

  void* Register() {
    LockGuard lock(mutex_);
    registered_.insert(++last_);
    return reinterpret_cast<void*>(last_);
  }
  Status Deregister(const void* handle) {
    LockGuard lock(mutex_);
    RW_TRY(RequireLocked(handle));
    registered_.erase(reinterpret_cast<uintptr_t>(handle));
    return Ok();
  }
  Status RequireRegistered(const void* handle) {
    LockGuard lock(mutex_);
    return RequireLocked(handle);
  }

  Status SetRange(char* begin, size_t size) {
    LockGuard lock(mutex_);
    RW_TRY(RequireApart(ranges_, begin, size));
    ranges_[begin] = size;
    return Ok();
  }
  Status UnsetRange(char* begin) {
    LockGuard lock(mutex_);
    const auto range = ranges_.find(begin);
    if (range == ranges_.end()) return Fail(HCCL_E_PARA, "baseVirPtr %p is no range of HcclCommSetMemoryRange", static_cast<void*>(begin));
    const auto inside = active_.lower_bound(begin);
    if (inside != active_.end() && inside->first < begin + range->second)
      return Fail(HCCL_E_PARA, "%p in this range is active: call HcclCommDeactivateCommMemory first", static_cast<void*>(inside->first));
    ranges_.erase(range);
    return Ok();
  }
  Status Activate(char* begin, size_t size) {
    LockGuard lock(mutex_);
    auto range = ranges_.upper_bound(begin);
    const bool inside =
        range != ranges_.begin() && (--range, size <= range->second) && static_cast<size_t>(begin - range->first) <= range->second - size;
    if (!inside) return Fail(HCCL_E_PARA, "[%p, + %zu) is not inside one range of HcclCommSetMemoryRange", static_cast<void*>(begin), size);
    RW_TRY(RequireApart(active_, begin, size));
    active_[begin] = size;
    return Ok();
  }
  Status Deactivate(char* begin) {
    LockGuard lock(mutex_);
    if (active_.erase(begin) == 0) return Fail(HCCL_E_PARA, "virPtr %p is not active", static_cast<void*>(begin));
    return Ok();
  }

 private:
  using Ranges = std::map<char*, size_t>;

  Status RequireLocked(const void* handle) const RW_REQUIRES(mutex_) {
    if (registered_.contains(reinterpret_cast<uintptr_t>(handle))) return Ok();
    return Fail(HCCL_E_PARA, "%p is no handle of HcclCommRegister in this communicator", handle);
  }
  static Status RequireApart(const Ranges& ranges, char* begin, size_t size) {
    const auto behind = ranges.lower_bound(begin + size);
    if (behind == ranges.begin()) return Ok();
    const auto& [other, bytes] = *std::prev(behind);
    if (other + bytes <= begin) return Ok();
    return Fail(HCCL_E_PARA, "[%p, + %zu) overlaps [%p, + %zu), which is there already", static_cast<void*>(begin), size,
                static_cast<void*>(other), bytes);
  }

  Mutex mutex_{LockRank::kHcclCommMemory};
  std::set<uintptr_t> registered_ RW_GUARDED_BY(mutex_);
  uintptr_t last_ RW_GUARDED_BY(mutex_) = 0;
  Ranges ranges_ RW_GUARDED_BY(mutex_);
  Ranges active_ RW_GUARDED_BY(mutex_);
};

struct CommMemoryRef {
  CommunicatorHold communicator;
  std::shared_ptr<CommMemory> memory;
};
Result<CommMemoryRef> FindMemory(HcclComm comm) {
  RW_TRY_SET(CommunicatorHold communicator, RequireCommunicator(comm));
  std::shared_ptr<CommMemory> memory = CommMemory::Of(*communicator);
  return CommMemoryRef{std::move(communicator), std::move(memory)};
}

Status RequireRange(const char* name, const void* begin, size_t size) {
  if (size == 0) return Fail(HCCL_E_PARA, "size is 0");
  if (reinterpret_cast<uintptr_t>(begin) + size < size) return Fail(HCCL_E_PARA, "%s %p + %zu passes the end of memory", name, begin, size);
  return Ok();
}

Status RequireZero(const char* name, uint64_t value) {
  return value == 0 ? Ok() : Fail(HCCL_E_PARA, "%s is %lu; only 0 is defined", name, value);
}

}  // namespace
}  // namespace ropeway::comm

HcclResult HcclCommRegister(HcclComm comm, void* addr, uint64_t size, void** handle, uint32_t) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("addr", addr));
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY(RequireRange("addr", addr, size));
    RW_TRY_SET(const CommMemoryRef found, FindMemory(comm));
    RW_TRY(HostViewOf(addr, size).status());
    *handle = found.memory->Register();
    return Ok();
  });
}

HcclResult HcclCommDeregister(HcclComm comm, void* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY_SET(const CommMemoryRef found, FindMemory(comm));
    return found.memory->Deregister(handle);
  });
}

HcclResult HcclCommExchangeMem(HcclComm comm, void* windowHandle, uint32_t* peerRanks, uint32_t peerRankNum) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("windowHandle", windowHandle));
    RW_TRY(RequirePointer("peerRanks", peerRanks));
    RW_TRY_SET(const CommMemoryRef found, FindMemory(comm));
    Communicator& communicator = *found.communicator;
    if (peerRankNum == 0 || peerRankNum > communicator.size())
      return Fail(HCCL_E_PARA, "peerRankNum is %u; the communicator has %u ranks", peerRankNum, communicator.size());
    RW_TRY(found.memory->RequireRegistered(windowHandle));
    for (uint32_t i = 0; i < peerRankNum; ++i) {
      if (peerRanks[i] >= communicator.size())
        return Fail(HCCL_E_PARA, "peerRanks[%u] is %u; the communicator has %u ranks", i, peerRanks[i], communicator.size());
    }
    for (uint32_t i = 0; i < peerRankNum; ++i) {
      const uint32_t peer = peerRanks[i];
      if (peer == communicator.rank()) continue;
      if (const HcclResult result = communicator.Connect(peer, communicator.ConnectDeadline()); result != HCCL_SUCCESS)
        return Fail(result, "no connection to rank %u: %s", peer, ResultMeaning(result));
    }
    return Ok();
  });
}

HcclResult HcclCommSetMemoryRange(HcclComm comm, void* baseVirPtr, size_t size, size_t alignment, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("baseVirPtr", baseVirPtr));
    RW_TRY(RequireRange("baseVirPtr", baseVirPtr, size));
    RW_TRY(RequireZero("alignment", alignment));
    RW_TRY(RequireZero("flags", flags));
    RW_TRY_SET(const CommMemoryRef found, FindMemory(comm));
    return found.memory->SetRange(static_cast<char*>(baseVirPtr), size);
  });
}

HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void* baseVirPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("baseVirPtr", baseVirPtr));
    RW_TRY_SET(const CommMemoryRef found, FindMemory(comm));
    return found.memory->UnsetRange(static_cast<char*>(baseVirPtr));
  });
}

HcclResult HcclCommActivateCommMemory(HcclComm comm, void* virPtr, size_t size, size_t, aclrtDrvMemHandle handle, uint64_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("virPtr", virPtr));
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY(RequireRange("virPtr", virPtr, size));
    RW_TRY(RequireZero("flags", flags));
    RW_TRY_SET(const CommMemoryRef found, FindMemory(comm));
    RW_TRY(HostViewOf(virPtr, size).status());
    return found.memory->Activate(static_cast<char*>(virPtr), size);
  });
}

HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void* virPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("virPtr", virPtr));
    RW_TRY_SET(const CommMemoryRef found, FindMemory(comm));
    return found.memory->Deactivate(static_cast<char*>(virPtr));
  });
}
