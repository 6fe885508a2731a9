#include "hccl/link/remote_range.h"

#include <atomic>
#include <map>
#include <optional>

#include "acl/acl.h"
#include "base/mutex.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {
namespace {

struct Range {
  uintptr_t begin;
  uint64_t size;
  LinkTarget target;
  RegionId region;
};

// Never destroyed: copies may be queued while the process ends.
struct Table {
  Mutex mutex{LockRank::kHcclRemoteRanges};
  std::map<uintptr_t, Range> ranges RW_GUARDED_BY(mutex);  // by begin, without overlap
  std::atomic<size_t> count{0};                            // of the ranges: most programs have none and shall not pay for the lock
};
Table& TheTable() {
  static Table* const table = new Table;
  return *table;
}

std::optional<Range> Find(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  Table& table = TheTable();
  if (table.count.load(std::memory_order_acquire) == 0) return std::nullopt;
  LockGuard lock(table.mutex);
  const auto next = table.ranges.upper_bound(at);
  if (next == table.ranges.begin()) return std::nullopt;
  const Range& range = std::prev(next)->second;
  if (at - range.begin >= range.size) return std::nullopt;
  return range;
}

// Where the host reaches the local side, or the device memory of a context that it cannot reach; and whether somebody may move or free it
// once the call has returned.
struct LocalSide {
  void* view;
  bool pageable;
  aclrtContext context = nullptr;
};

comm::Result<LocalSide> Locate(const void* address, uint64_t size) {
  void* const local = const_cast<void*>(address);
  aclrtPtrAttributes attributes{};
  RW_TRY(comm::FromRuntime("aclrtPointerGetAttributes", aclrtPointerGetAttributes(local, &attributes)));
  if (attributes.location.type != ACL_MEM_LOCATION_TYPE_DEVICE)
    return LocalSide{local, attributes.location.type != ACL_MEM_LOCATION_TYPE_HOST};
  LocalSide side{nullptr, false};
  const aclError code = ropewayHostView(local, size, &side.view);
  if (code != ACL_ERROR_RT_FEATURE_NOT_SUPPORT || !MovesDeviceMemory(ChosenLink())) {
    RW_TRY(comm::FromRuntime("ropewayHostView", code));
    return side;
  }
  aclGetRecentErrMsg();
  side.view = local;
  RW_TRY(comm::FromRuntime("aclrtGetCurrentContext", aclrtGetCurrentContext(&side.context)));
  return side;
}

comm::Status Copy(const Range& range, const void* remote, const void* local, uint64_t count, bool put, void* stream) {
  const uint64_t offset = reinterpret_cast<uintptr_t>(remote) - range.begin;
  if (count > range.size - offset)
    return comm::Fail(HCCL_E_PARA, "%lu bytes from offset %lu leave the %lu bytes of rank %u's region", count, offset, range.size,
                      range.target.rank);
  RW_TRY_SET(const LocalSide side, Locate(local, count));
  // As for every copy with pageable memory: after the work before it, and over when the call returns.
  if (side.pageable) RW_TRY(comm::FromRuntime("aclrtSynchronizeStream", aclrtSynchronizeStream(stream)));
  const auto again = [remote, local, count, region = range.region, offset,
                      context = side.context]() -> comm::Result<std::vector<TransferItem>> {
    const std::optional<Range> found = Find(remote);
    if (!found || found->region != region) return comm::Fail(HCCL_E_PARA, "%p is no memory of another rank any more", remote);
    if (context != nullptr) return std::vector<TransferItem>{{const_cast<void*>(local), region, offset, count, context}};
    RW_TRY_SET(const LocalSide now, Locate(local, count));
    return std::vector<TransferItem>{{now.view, region, offset, count}};
  };
  RW_TRY(LaunchTransfer(range.target, put, {{side.view, range.region, offset, count, side.context}}, again, stream));
  return side.pageable ? comm::FromRuntime("aclrtSynchronizeStream", aclrtSynchronizeStream(stream)) : comm::Ok();
}

}  // namespace

void* ReserveRemoteRange(uint64_t size, const LinkTarget& target, RegionId region) {
  void* begin = nullptr;
  if (ropewayReserveRemote(size, &begin) != ACL_SUCCESS) return nullptr;
  Table& table = TheTable();
  LockGuard lock(table.mutex);
  const auto at = reinterpret_cast<uintptr_t>(begin);
  table.ranges[at] = {at, size, target, region};
  table.count.store(table.ranges.size(), std::memory_order_release);
  return begin;
}

void ReleaseRemoteRange(void* begin) {
  Table& table = TheTable();
  LockGuard lock(table.mutex);
  const auto found = table.ranges.find(reinterpret_cast<uintptr_t>(begin));
  if (found == table.ranges.end()) return;
  ropewayReleaseRemote(begin);
  table.ranges.erase(found);
  table.count.store(table.ranges.size(), std::memory_order_release);
}

bool RouteRemote(void* dst, const void* src, uint64_t count, void* stream, Status* status) {
  const auto to = Find(dst);
  const auto from = Find(src);
  if (!to && !from) return false;
  *status = to && from ? Fail(HCCL_E_PARA, "dst and src are both memory of another host: one side must be of this one")
            : to       ? Copy(*to, dst, src, count, true, stream)
                       : Copy(*from, src, dst, count, false, stream);
  return true;
}

}  // namespace ropeway::comm
