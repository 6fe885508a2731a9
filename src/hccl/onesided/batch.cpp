// HcclBatchPut and HcclBatchGet as items of a stream: copies for what this process can address, transfers for the rest.
#include <cstring>
#include <new>

#include "acl/acl_rt.h"
#include "base/mutex.h"
#include "hccl/membership/find.h"
#include "hccl/membership/stream_op.h"
#include "hccl/onesided/one_sided.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {

struct DirectCopy {
  void* to;
  const void* from;
  uint64_t size;
  bool to_device;
  bool from_device;
};

namespace {

aclrtMemcpyKind KindOf(const DirectCopy& copy) {
  if (copy.to_device) return copy.from_device ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE;
  return ACL_MEMCPY_DEVICE_TO_HOST;
}

// The runtime queues no copy between host addresses. One on the lane that comes to it is what it would do.
Status QueueHostCopy(const DirectCopy& copy, void* stream) {
  const auto start = [](void* argument, ropewayOperation operation) {
    const std::unique_ptr<DirectCopy> work(static_cast<DirectCopy*>(argument));
    memmove(work->to, work->from, work->size);
    ropewayFinishOperation(operation, 0, nullptr);
  };
  const auto drop = [](void* argument, int32_t started) {
    if (started == 0) delete static_cast<DirectCopy*>(argument);
  };
  const auto repeat = [](void* pattern) -> void* { return new (std::nothrow) DirectCopy(*static_cast<DirectCopy*>(pattern)); };
  const auto forget = [](void* pattern) { delete static_cast<DirectCopy*>(pattern); };
  auto work = std::make_unique<DirectCopy>(copy);
  RW_TRY(IsCaptured(stream)
             ? FromRuntime("ropewayCaptureOperation", ropewayCaptureOperation(start, drop, repeat, forget, work.get(), stream))
             : FromRuntime("ropewayLaunchOperation", ropewayLaunchOperation(start, drop, work.get(), stream)));
  work.release();
  return Ok();
}

Status Queue(const DirectCopy& copy, void* stream) {
  if (!copy.to_device && !copy.from_device) return QueueHostCopy(copy, stream);
  return FromRuntime("aclrtMemcpyAsync", aclrtMemcpyAsync(copy.to, copy.size, copy.from, copy.size, KindOf(copy), stream));
}

}  // namespace

// Checked as a whole before the first item is queued.
struct OneSided::Work {
  std::vector<DirectCopy> copies;
  std::vector<TransferItem> transfers;
  LinkTarget target;
};

Status OneSided::Plan(bool put, uint32_t peer, const std::vector<BatchItem>& items, Work* work) {
  LockGuard lock(mutex_);
  work->target = TargetOf(peer);
  for (size_t i = 0; i < items.size(); ++i) {
    const BatchItem& item = items[i];
    const RemoteRegion* remote = pairs_[peer].remote.Find(item.remote, item.size);
    if (remote == nullptr)
      return Fail(HCCL_E_INTERNAL, "desc[%zu].remoteAddr: [0x%lx, +%lu) is not inside one enabled region of rank %u", i, item.remote,
                  item.size, peer);
    const LocalRegion* local = local_.Find(item.local, item.size);
    if (local == nullptr)
      return Fail(HCCL_E_INTERNAL, "desc[%zu].localAddr: [0x%lx, +%lu) is not inside one registered region: register it, too", i,
                  item.local, item.size);
    const uint64_t offset = item.remote - remote->begin;
    if (remote->descriptor.route == Route::kLink) {
      if (local->view == nullptr && !MovesDeviceMemory(ChosenLink()))
        return Fail(HCCL_E_NOT_SUPPORT,
                    "desc[%zu].localAddr: UCX moves no device memory of this engine: use ROPEWAY_HCCL_LINK=tcp, or host memory", i);
      char* const here = local->base() + (item.local - local->address);
      work->transfers.push_back({here, remote->descriptor.region, offset, item.size, local->context});
      continue;
    }
    const bool local_device = local->type == COMM_MEM_TYPE_DEVICE;
    const bool remote_device = remote->descriptor.type == COMM_MEM_TYPE_DEVICE;
    void* const here = reinterpret_cast<void*>(item.local);
    void* const there = static_cast<char*>(remote->mapped) + offset;
    work->copies.push_back(put ? DirectCopy{there, here, item.size, remote_device, local_device}
                               : DirectCopy{here, there, item.size, local_device, remote_device});
  }
  return Ok();
}

Result<std::vector<TransferItem>> OneSided::TransfersOf(bool put, uint32_t peer, const std::vector<BatchItem>& items) {
  Work work;
  RW_TRY(Plan(put, peer, items, &work));
  return std::move(work.transfers);
}

Status OneSided::Batch(bool put, uint32_t peer, const std::vector<BatchItem>& items, void* stream) {
  RW_TRY(RequireNotSuspended(communicator_));
  Work work;
  RW_TRY(Plan(put, peer, items, &work));
  const ropewayLink way = communicator_.SameProcess(peer) ? ROPEWAY_LINK_LOCAL : ROPEWAY_LINK_SHARED_MEMORY;
  for (const DirectCopy& copy : work.copies) {
    const Carrying carrying({way, peer, copy.size, 1});
    RW_TRY(Queue(copy, stream));
  }
  if (work.transfers.empty()) return Ok();
  const auto again = [weak = communicator_.weak_from_this(), put, peer, items]() -> Result<std::vector<TransferItem>> {
    const std::shared_ptr<Communicator> communicator = weak.lock();
    if (!communicator) return Fail(HCCL_E_PARA, "the communicator is destroyed");
    return OneSided::Of(*communicator)->TransfersOf(put, peer, items);
  };
  return LaunchTransfer(work.target, put, std::move(work.transfers), again, stream);
}

}  // namespace ropeway::comm
