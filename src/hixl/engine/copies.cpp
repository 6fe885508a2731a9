#include "hixl/engine/copies.h"

#include <algorithm>
#include <cstring>
#include <functional>

#include "acl/acl.h"
#include "base/bytes.h"
#include "hixl/engine/result.h"
#include "ropeway/ropeway.h"

namespace ropeway::transfer {
namespace {

// Host code in a stream's order: one of the two functions gets it, once.
struct HostWork {
  std::function<void()> work;
  std::function<void()> dropped;
};

void Run(void* argument, ropewayOperation operation) {
  const std::unique_ptr<HostWork> work(static_cast<HostWork*>(argument));
  work->work();
  ropewayFinishOperation(operation, 0, "");
}

void Drop(void* argument, int32_t started) {
  if (started != 0) return;
  const std::unique_ptr<HostWork> work(static_cast<HostWork*>(argument));
  work->dropped();
}

Status Launch(aclrtStream stream, std::function<void()> work, std::function<void()> dropped) {
  auto held = std::make_unique<HostWork>(HostWork{std::move(work), std::move(dropped)});
  RW_TRY(FromRuntime("ropewayLaunchOperation", ropewayLaunchOperation(&Run, &Drop, held.get(), stream)));
  static_cast<void>(held.release());
  return Ok();
}

// How many bytes host code moves before it looks whether it still may.
constexpr size_t kBite = 1 << 20;

template <typename Move>
bool InBites(comm::Lease& lease, const Copy& copy, Move&& move) {
  bool good = true;
  for (size_t done = 0; good && done < copy.size; done += kBite) {
    const size_t size = std::min(kBite, copy.size - done);
    good = lease.Use([&] { good = move(copy.to.address + done, copy.from.address + done, size); }) && good;
  }
  return good;
}

std::string MoveOnHost(const Copies& copies, const ProcessMemory* process, comm::Lease& lease) {
  const auto by_hand = [](uintptr_t to, uintptr_t from, size_t size) {
    std::memmove(At(to), At(from), size);
    return true;
  };
  const auto by_kernel = [&](uintptr_t to, uintptr_t from, size_t size) {
    return copies.write ? process->Move(true, At(from), to, size) : process->Move(false, At(to), from, size);
  };
  for (const Copy& copy : copies.inside_host)
    if (!InBites(lease, copy, by_hand)) return "the transfer was given up";
  for (const Copy& copy : copies.of_process)
    if (!InBites(lease, copy, by_kernel)) return "memory of the other engine's process cannot be reached any more";
  return "";
}

aclrtMemLocation LocationOf(const Place& place) {
  return {place.device < 0 ? 0 : static_cast<uint32_t>(place.device),
          place.device < 0 ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE};
}

aclrtMemcpyKind KindOf(const Copy& copy) {
  if (copy.to.device < 0) return ACL_MEMCPY_DEVICE_TO_HOST;
  return copy.from.device < 0 ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_DEVICE;
}

// The arrays of a batch; copies between the same devices share an attribute.
struct BatchArrays {
  std::vector<void*> to, from;
  std::vector<size_t> sizes, first_items;
  std::vector<aclrtMemcpyBatchAttr> attributes;

  explicit BatchArrays(const std::vector<Copy>& copies) {
    to.reserve(copies.size());
    from.reserve(copies.size());
    sizes.reserve(copies.size());
    const Copy* last = nullptr;
    for (const Copy& copy : copies) {
      if (last == nullptr || last->to.device != copy.to.device || last->from.device != copy.from.device) {
        first_items.push_back(to.size());
        attributes.push_back({LocationOf(copy.to), LocationOf(copy.from), {}});
      }
      to.push_back(At(copy.to.address));
      from.push_back(At(copy.from.address));
      sizes.push_back(copy.size);
      last = &copy;
    }
  }
};

}  // namespace

Status CopyStream::Open() {
  RW_TRY(FromRuntime("aclrtCreateStream", aclrtCreateStream(&stream_)));
  // What comes after a failed copy must not look like its success.
  return FromRuntime("ropewayStopStreamOnFailure", ropewayStopStreamOnFailure(stream_));
}

Status CopyStream::Queue(Copies copies, std::shared_ptr<const ProcessMemory> process, const std::shared_ptr<Request>& request) {
  RW_TRY(QueueBatch(copies.over_the_bus));
  RW_TRY(QueueOneByOne(copies.inside_devices));
  if (!copies.inside_host.empty() || !copies.of_process.empty()) return QueueOnHost(std::move(copies), std::move(process), request);
  return QueueMark(request);
}

Status CopyStream::QueueBatch(const std::vector<Copy>& copies) {
  if (copies.empty()) return Ok();
  BatchArrays arrays(copies);
  size_t failed = SIZE_MAX;
  const aclError code =
      aclrtMemcpyBatchAsync(arrays.to.data(), arrays.sizes.data(), arrays.from.data(), arrays.sizes.data(), copies.size(),
                            arrays.attributes.data(), arrays.first_items.data(), arrays.attributes.size(), &failed, stream_);
  if (code != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) return FromRuntime("aclrtMemcpyBatchAsync", code);
  aclGetRecentErrMsg();
  return QueueOneByOne(copies);  // a product without batches
}

Status CopyStream::QueueOneByOne(const std::vector<Copy>& copies) {
  for (const Copy& copy : copies)
    RW_TRY(FromRuntime("aclrtMemcpyAsync",
                       aclrtMemcpyAsync(At(copy.to.address), copy.size, At(copy.from.address), copy.size, KindOf(copy), stream_)));
  return Ok();
}

Status CopyStream::QueueOnHost(Copies copies, std::shared_ptr<const ProcessMemory> process, const std::shared_ptr<Request>& request) {
  auto work = [request, process = std::move(process), copies = std::move(copies)] {
    request->Done(MoveOnHost(copies, process.get(), *request->lease()));
  };
  return Launch(stream_, std::move(work), [request] { request->Done("the runtime gave the transfer up"); });
}

Status CopyStream::QueueMark(const std::shared_ptr<Request>& request) {
  return Launch(
      stream_, [request] { request->Done(""); },
      [request] { request->Done("the runtime gave the transfer up: a copy failed, or the device is gone"); });
}

void CopyStream::Wait(Deadline deadline) {
  if (stream_ == nullptr) return;
  const int64_t left_ms = (deadline.at_ns() - NowNs()) / 1000000 + 1;
  aclrtSynchronizeStreamWithTimeout(stream_, static_cast<int32_t>(std::clamp<int64_t>(left_ms, 1, INT32_MAX)));
}

void CopyStream::Look() {
  aclrtStreamStatus ignored;
  if (stream_ != nullptr) aclrtStreamQuery(stream_, &ignored);
}

void CopyStream::Abort() {
  if (stream_ != nullptr) aclrtStreamAbort(stream_);
}

void CopyStream::Destroy() {
  if (stream_ != nullptr) aclrtDestroyStreamForce(stream_);
}

}  // namespace ropeway::transfer
