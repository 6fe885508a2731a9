#include "api/state_table.h"

#include <cstddef>
#include <cstring>

#include "engine/sched/queue.h"
#include "ropeway/ropeway.h"
#include "runtime/runtime.h"
#include "stream/event.h"
#include "stream/notify.h"
#include "stream/stream.h"

// Classes with bases have no distances by the standard, and plain ones by every compiler that builds this.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace ropeway {

using sched::LaneQueue;

// A friend of all whose insides it measures.
struct StateShape {
  template <typename T, uint8_t kTag>
  static state::SlabShape OfSlab(Slab<T, kTag>& slab) {
    return {reinterpret_cast<uint64_t>(slab.objects_), Slab<T, kTag>::kCapacity, offsetof(T, generation_), offsetof(T, references_),
            offsetof(T, index_)};
  }

  static state::StreamShape OfStream() {
    static_assert(sizeof(Stream::queue_) == sizeof(void*));
    return {sizeof(Stream),
            offsetof(Stream, id_),
            offsetof(Stream, options_) + offsetof(StreamOptions, device),
            offsetof(Stream, options_) + offsetof(StreamOptions, is_default),
            offsetof(Stream, obstacles_),
            offsetof(Stream, error_code_),
            offsetof(Stream, queue_),
            Stream::kCapturing,
            Stream::kAborting};
  }

  static state::QueueShape OfQueue() {
    static_assert(sizeof(LaneQueue::ring_) == sizeof(void*));
    using state::QueueState;
    static_assert(static_cast<uint32_t>(QueueState::kIdle) == LaneQueue::kIdle &&
                  static_cast<uint32_t>(QueueState::kQueued) == LaneQueue::kQueued &&
                  static_cast<uint32_t>(QueueState::kOwned) == LaneQueue::kOwned &&
                  static_cast<uint32_t>(QueueState::kBlocked) == LaneQueue::kBlocked);
    return {sizeof(LaneQueue),
            offsetof(LaneQueue, submitted_),
            offsetof(LaneQueue, completed_),
            offsetof(LaneQueue, base_),
            offsetof(LaneQueue, halted_),
            offsetof(LaneQueue, state_),
            offsetof(LaneQueue, ring_),
            LaneQueue::kRing};
  }

  // As TaskBytes has it.
  static state::KindShape OfKind(TaskKind kind) {
    using state::WaitsFor;
    switch (kind) {
      case TaskKind::kCopy: return {{}, WaitsFor::kNothing, offsetof(Task, copy.size), 0, 1};
      case TaskKind::kCopy2d: return {{}, WaitsFor::kNothing, offsetof(Task, copy_2d.width), offsetof(Task, copy_2d.height), 1};
      case TaskKind::kBatch: return {{}, WaitsFor::kNothing, offsetof(Task, batch.bytes), 0, 1};
      case TaskKind::kCopyByCells: return {{}, WaitsFor::kNothing, offsetof(Task, by_cells.size), 0, 1};
      case TaskKind::kSet: return {{}, WaitsFor::kNothing, offsetof(Task, set.count), 0, 1};
      case TaskKind::kSetWords: return {{}, WaitsFor::kNothing, offsetof(Task, set.count), 0, sizeof(uint32_t)};
      case TaskKind::kReduce: return {{}, WaitsFor::kNothing, offsetof(Task, reduce.size), 0, 1};
      case TaskKind::kAwait: return {{}, WaitsFor::kGate, 0, 0, 0};
      case TaskKind::kAwaitValue: return {{}, WaitsFor::kValue, 0, 0, 0};
      case TaskKind::kCall:
      case TaskKind::kKernel: return {{}, WaitsFor::kFunction, 0, 0, 0};
      case TaskKind::kReplay: return {{}, WaitsFor::kGraph, 0, 0, 0};
      default: return {{}, WaitsFor::kNothing, 0, 0, 0};
    }
  }

  static state::TaskShape OfTask() {
    state::TaskShape shape{};
    shape.size = sizeof(Task);
    shape.kind = offsetof(Task, kind);
    shape.call = offsetof(Task, call);
    shape.gate = offsetof(Task, await.gate);
    shape.address = offsetof(Task, await_value.address);
    shape.value = offsetof(Task, await_value.value);
    shape.test = offsetof(Task, await_value.test);
    shape.function = offsetof(Task, call_host.function);
    shape.sink = offsetof(Task, call_host.sink);
    shape.kinds = static_cast<uint32_t>(kLastTaskKind) + 1;
    static_assert(static_cast<size_t>(kLastTaskKind) < std::size(decltype(shape.shapes){}));
    for (uint32_t i = 0; i < shape.kinds; ++i) {
      shape.shapes[i] = OfKind(static_cast<TaskKind>(i));
      std::strncpy(shape.shapes[i].name, TaskKindName(static_cast<TaskKind>(i)), sizeof shape.shapes[i].name - 1);
    }
    return shape;
  }

  static state::Table Make() {
    static_assert(sizeof(Memory::device_heaps_) == 3 * sizeof(void*) && sizeof(Memory::host_heap_) == sizeof(void*));
    static_assert(sizeof(Runtime::devices_) == 3 * sizeof(void*) && sizeof(Runtime::memory_) == sizeof(void*));
    state::Table table{};
    table.version = state::kVersion;
    table.size = sizeof(state::Table);
    std::strncpy(table.release, ropewayGetVersion(), sizeof table.release - 1);
    table.streams = OfSlab(Streams());
    table.records = OfSlab(Records());
    table.events = OfSlab(Events());
    table.notifies = OfSlab(Notifies());
    table.stream = OfStream();
    table.queue = OfQueue();
    table.task = OfTask();
    table.record = {offsetof(Record, gate_), offsetof(Record, event_), offsetof(Record, stream_), offsetof(Record, sequence_)};
    table.event = {offsetof(Event, flag_), offsetof(Event, id_)};
    table.notify = {offsetof(Notify, flag_), offsetof(Notify, id_)};
    table.heap = {sizeof(Heap), offsetof(Heap, blocks_), offsetof(Heap, bytes_), offsetof(Heap, peak_bytes_), offsetof(Heap, capacity_)};
    table.memory = {offsetof(Memory, device_heaps_), offsetof(Memory, host_heap_)};
    table.device = {offsetof(Device, users_)};
    table.runtime = {reinterpret_cast<uint64_t>(&Runtime::instance_), offsetof(Runtime, memory_), offsetof(Runtime, devices_)};
    std::memcpy(table.magic, state::kMagic, sizeof table.magic);
    return table;
  }
};

}  // namespace ropeway

#pragma GCC diagnostic pop

// Filled when the library is loaded, in memory of its own, which core files have.
extern "C" [[gnu::visibility("default"), gnu::used]] const ropeway::state::Table ropewayStateTable = ropeway::StateShape::Make();
