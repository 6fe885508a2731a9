#include "runtime/batch_builder.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "runtime/runtime.h"
#include "runtime/transfer.h"

namespace ropeway {
namespace {

// A batch of so many items is started with the first of them. A GPU moves the smallest usual blocks, 4 KiB, in 80 ns each; to collect and
// to list one takes up to 10 ns, and a launch 5 us: so it is busy with the head until the next ones come, and with those until the others
// do.
struct EarlyStart {
  size_t items;  // of the batch, at least
  size_t head;
  size_t head_and_next;
};
constexpr EarlyStart kEarlyStarts[] = {{1536, 256, 1024}, {512, 128, 256}};

const EarlyStart* EarlyStartOf(size_t items) {
  const auto* const found =
      std::find_if(std::begin(kEarlyStarts), std::end(kEarlyStarts), [&](const EarlyStart& start) { return items >= start.items; });
  return found != std::end(kEarlyStarts) ? found : nullptr;
}

// Items that are looked at, and then added while they are still in the nearest cache.
constexpr size_t kAtATime = 512;

// What an item has shown of a block: from there to its end, every address lies in it. Most items of a batch lie in one block a side, and
// need no look at the tables then.
struct KnownSpan {
  uintptr_t begin = 0;
  size_t length = 0;

  bool Holds(const void* address, size_t size) const {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - begin;
    return offset < length && size - 1 < length - offset;  // size 0 wraps, and goes the long way
  }
  size_t RoomBehind(const void* address, size_t size) const { return begin + length - reinterpret_cast<uintptr_t>(address) - size; }
  // `room` from the address to the end of its block. The span of one block only grows.
  void Learn(const void* address, size_t room) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    if (at + room == begin + length && at >= begin) return;
    begin = at;
    length = room;
  }
};

// From the address to the end of its block, also where that is another process's. 0: no memory of this device.
size_t RoomOf(const Memory& memory, const void* address, size_t size, int device) {
  if (const size_t room = memory.RoomOnDevice(address, device); room != 0) [[likely]]
    return room;
  const Location found = memory.Find(address, size);
  return found.place == Place::kDevice && found.device == device ? found.room : 0;
}

}  // namespace

BatchBuilder::Declared BatchBuilder::Interpret(const aclrtMemLocation& location) {
  switch (location.type) {
    case ACL_MEM_LOCATION_TYPE_HOST:
    case ACL_MEM_LOCATION_TYPE_HOST_NUMA: return {Declared::Side::kHost, -1};
    case ACL_MEM_LOCATION_TYPE_DEVICE: return {Declared::Side::kDevice, Runtime::PhysicalId(static_cast<int>(location.id))};
    default: return {Declared::Side::kNeither, -1};
  }
}

Status BatchBuilder::Collect(size_t* fail_index) {
  for (size_t k = 0; k < items_.numAttrs; ++k) {
    const size_t begin = std::max(items_.attrsIndexes[k], next_);
    RW_TRY(CollectRange(begin, EndOfRange(k), items_.attrs[k], fail_index));
  }
  return Ok();
}

Status BatchBuilder::CollectRange(size_t begin, size_t end, const aclrtMemcpyBatchAttr& attr, size_t* fail_index) {
  const Declared to_declared = Interpret(attr.dstLoc);
  const Declared from_declared = Interpret(attr.srcLoc);
  for (size_t i = begin; i < end; ++i) {
    RW_TRY(CollectItem(i, to_declared, from_declared, fail_index));
    // The first item has settled what all share; from here on most need no more than two looks.
    i = CollectPlain(queued_.get(), i + 1, end, to_declared, from_declared) - 1;
  }
  return Ok();
}

// --- Batches that are started before they are whole ---------------------------------------------------------------------

// Items behind the head, in two steps, as long as they are as plain as those of the head: none of these can be refused.
class BatchBuilder::Rest final : public BatchRest {
 public:
  Rest(BatchBuilder& builder, Batch& batch) : builder_(builder), batch_(batch) {}

 private:
  bool Collect() noexcept override {
    const aclrtMemcpyBatchAttr& attr = builder_.items_.attrs[0];
    const EarlyStart* const start = EarlyStartOf(builder_.EndOfRange(0));
    const bool first_step = builder_.next_ == start->head;
    const size_t end = first_step ? start->head_and_next : builder_.EndOfRange(0);
    builder_.next_ = builder_.CollectPlain(&batch_, builder_.next_, end, Interpret(attr.dstLoc), Interpret(attr.srcLoc));
    return first_step && builder_.next_ == end;
  }

  BatchBuilder& builder_;
  Batch& batch_;
};

bool BatchBuilder::CollectHead() {
  const EarlyStart* const start = EarlyStartOf(EndOfRange(0));
  if (start == nullptr) return false;
  const Declared to_declared = Interpret(items_.attrs[0].dstLoc);
  const Declared from_declared = Interpret(items_.attrs[0].srcLoc);
  size_t refused = 0;
  if (!CollectItem(0, to_declared, from_declared, &refused).ok()) return false;  // Collect will come to it again
  next_ = CollectPlain(queued_.get(), 1, start->head, to_declared, from_declared);
  return next_ == start->head;
}

std::pair<std::unique_ptr<Batch>, std::shared_ptr<BatchRest>> BatchBuilder::HandOver() {
  auto rest = std::make_shared<Rest>(*this, *queued_);
  queued_->SetRest(rest);
  return {std::move(queued_), std::move(rest)};
}

// Items between pinned and device memory as declared, in their blocks, on the executing device, the way of the batch. Returns the
// first that is not so.
size_t BatchBuilder::CollectPlain(Batch* batch, size_t begin, size_t end, const Declared& to_declared, const Declared& from_declared) {
  const bool to_device = to_declared.side == Declared::Side::kDevice;
  const Declared& host = to_device ? from_declared : to_declared;
  const int device = to_device ? to_declared.device : from_declared.device;
  if (batch == nullptr || to_device_ != to_device || host.side != Declared::Side::kHost || device != rules_.executing_device) return begin;
  if (Runtime::Get().strict_alignment()) return begin;  // each item is looked at
  const Memory& memory = Runtime::Get().memory();
  void* const* devices = to_device ? items_.dsts : items_.srcs;
  void* const* hosts = to_device ? items_.srcs : items_.dsts;
  const size_t* sizes = items_.sizes;
  KnownSpan on_device, in_pinned;
  for (size_t i = begin; i < end;) {
    size_t next = i;
    const size_t stop = std::min(end, i + kAtATime);
    while (next < stop && on_device.Holds(devices[next], sizes[next]) && in_pinned.Holds(hosts[next], sizes[next])) ++next;
    if (next > i) {
      batch->AddRun(items_.dsts + i, items_.srcs + i, sizes + i, next - i, device_left_ >= sizes[i] && host_left_ >= sizes[i]);
      device_left_ = on_device.RoomBehind(devices[next - 1], sizes[next - 1]);
      host_left_ = in_pinned.RoomBehind(hosts[next - 1], sizes[next - 1]);
      i = next;
      continue;
    }
    on_device.Learn(devices[i], RoomOf(memory, devices[i], sizes[i], device));
    in_pinned.Learn(hosts[i], memory.RoomInPinned(hosts[i]));
    if (!on_device.Holds(devices[i], sizes[i]) || !in_pinned.Holds(hosts[i], sizes[i])) return i;
  }
  return end;
}

Status BatchBuilder::CollectItem(size_t i, const Declared& to_declared, const Declared& from_declared, size_t* fail_index) {
  const Memory& memory = Runtime::Get().memory();
  const size_t size = items_.sizes[i];
  const Location to = memory.Find(items_.dsts[i], size);
  const Location from = memory.Find(items_.srcs[i], size);
  if (Status status = CheckItem(i, to_declared, from_declared, to, from); !status.ok()) {
    *fail_index = i;
    return status;
  }
  if (size == 0) return Ok();
  const bool pageable = to.place == Place::kPageable || from.place == Place::kPageable;
  RW_TRY(CheckReach(i, to, from, pageable));
  if (pageable && pageable_ == nullptr && queued_ != nullptr) queued_->Seal();
  Add(pageable ? pageable_ : queued_, i, to, from);
  return Ok();
}

void BatchBuilder::Add(std::unique_ptr<Batch>& batch, size_t i, const Location& to, const Location& from) {
  const size_t size = items_.sizes[i];
  if (batch == nullptr) batch = std::make_unique<Batch>(items_.numBatches - i);
  // A neighbour of the item in front lies in the same blocks when these go on behind that item.
  const bool to_device = to.place == Place::kDevice;
  batch->Add(items_.dsts[i], items_.srcs[i], size, device_left_ >= size && host_left_ >= size);
  device_left_ = (to_device ? to.room : from.room) - size;
  host_left_ = (to_device ? from.room : to.room) - size;
}

Status BatchBuilder::CheckItem(size_t i, const Declared& to_declared, const Declared& from_declared, const Location& to,
                               const Location& from) {
  if (items_.sizes[i] == 0 && !rules_.zero_sizes)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "sizes[%zu] is 0, but other items of the batch are not; leave the item out", i);
  if (items_.srcs[i] == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "srcs[%zu] is NULL", i);
  if (items_.dsts[i] == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "dsts[%zu] is NULL", i);
  RW_TRY(CheckSide("dsts", i, items_.dsts[i], to_declared, to));
  RW_TRY(CheckSide("srcs", i, items_.srcs[i], from_declared, from));
  const bool to_device = to.place == Place::kDevice;
  if (to_device == (from.place == Place::kDevice))
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "item %zu goes from %s to %s; a batch copies between host and device", i, PlaceName(from.place),
                PlaceName(to.place));
  if (!to_device_.has_value()) to_device_ = to_device;
  if (*to_device_ != to_device)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "item %zu goes from %s to %s, the items in front of it the other way; make two batches", i,
                PlaceName(from.place), PlaceName(to.place));
  if (items_.sizes[i] != 0 && !IsAligned(items_.dsts[i], items_.srcs[i])) {
    const std::string item = "[" + std::to_string(i) + "]";
    return ExplainAlignment(("dsts" + item).c_str(), items_.dsts[i], ("srcs" + item).c_str(), items_.srcs[i]);
  }
  return Ok();
}

Status BatchBuilder::CheckSide(const char* name, size_t i, const void* address, const Declared& declared, const Location& real) const {
  const bool good = real.place != Place::kNowhere && declared.Fits(real) && items_.sizes[i] <= real.room;
  if (good) return Ok();
  char item[32];
  snprintf(item, sizeof(item), "%s[%zu]", name, i);
  if (real.place == Place::kNowhere) return Runtime::Get().memory().ExplainNowhere(item, address);
  if (!declared.Fits(real)) {
    constexpr const char* kSides[] = {"host", "device", "neither host nor device"};
    const int there = Runtime::UserIdOf(real.device);
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "%s %p is %s (device %d), but its attribute declares %s (device %d)", item, address,
                PlaceName(real.place), real.device < 0 ? -1 : there, kSides[static_cast<int>(declared.side)],
                declared.device < 0 ? -1 : Runtime::UserIdOf(declared.device));
  }
  return Runtime::Get().memory().RequireRoom(item, address, items_.sizes[i], real);
}

// Refusals of the submit, which name no item (rules/batches.md 2, step 17).
Status BatchBuilder::CheckReach(size_t i, const Location& to, const Location& from, bool pageable) const {
  if (!pageable && rules_.stream != nullptr && queued_ == nullptr) RW_TRY(rules_.stream->RequireContext(rules_.scope));
  const int device = to.device >= 0 ? to.device : from.device;
  if (device == rules_.executing_device || rules_.executing_device < 0) [[likely]]
    return Ok();
  const size_t size = items_.sizes[i];
  return RequireReach({items_.dsts[i], items_.srcs[i], size, size, to, from}, rules_.executing_device);
}

}  // namespace ropeway
