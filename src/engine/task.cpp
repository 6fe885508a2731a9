#include "engine/task.h"

#include <cstdlib>

#include "engine/batch.h"
#include "engine/task_graph.h"

namespace ropeway {

Task MarkTask(Marker* marker, const Signal& signal, const char* call) {
  Task task{};
  task.kind = TaskKind::kMark;
  task.call = call;
  task.mark = {marker, signal};
  return task;
}

Task AwaitTask(Gate* gate, Marker* marker, int64_t timeout_ns, const Signal& signal, const char* call) {
  Task task{};
  task.kind = TaskKind::kAwait;
  task.call = call;
  task.await = {gate, marker, timeout_ns, signal};
  return task;
}

Task KernelTask(HostCallSink* sink, KernelCall* kernel, const char* call) {
  Task task{};
  task.kind = TaskKind::kKernel;
  task.flags = Task::kOwnsPayload;
  task.call = call;
  task.call_host = {sink, [](void* argument) { static_cast<KernelCall*>(argument)->Run(); }, kernel, true};
  return task;
}

const char* TaskKindName(TaskKind kind) {
  static constexpr const char* kNames[] = {
      "copy",    "copy2d", "batch",       "copy_by_desc",    "copy_by_cells", "set",    "set32",    "reduce",
      "store",   "record", "wait",        "wait_value",      "call",          "kernel", "replay",   "fail",
      "nothing", "signal", "wait_signal", "record_external", "wait_external", "finish", "activate", "switch",
      "jump",    "body"};
  static_assert(sizeof(kNames) / sizeof(*kNames) == static_cast<size_t>(kLastTaskKind) + 1);
  return kNames[static_cast<size_t>(kind)];
}

size_t TaskBytes(const Task& task) {
  switch (task.kind) {
    case TaskKind::kCopy: return task.copy.size;
    case TaskKind::kCopy2d: return task.copy_2d.width * task.copy_2d.height;
    case TaskKind::kBatch: return task.batch.bytes;
    case TaskKind::kCopyByCells: return task.by_cells.size;
    case TaskKind::kSet: return task.set.count;
    case TaskKind::kSetWords: return task.set.count * sizeof(uint32_t);
    case TaskKind::kReduce: return task.reduce.size;
    case TaskKind::kStore: return sizeof(uint64_t);
    default: return 0;
  }
}

bool Holds(ValueTest test, uint64_t m, uint64_t value) {
  switch (test) {
    case ValueTest::kAtLeast: return static_cast<int64_t>(m - value) >= 0;
    case ValueTest::kEqual: return m == value;
    case ValueTest::kAnyBit: return (m & value) != 0;
    case ValueTest::kNotAllBits: return ~(m | value) != 0;
  }
  return false;
}

bool Holds(Comparison comparison, int64_t left, int64_t right) {
  switch (comparison) {
    case Comparison::kEqual: return left == right;
    case Comparison::kNotEqual: return left != right;
    case Comparison::kGreater: return left > right;
    case Comparison::kGreaterOrEqual: return left >= right;
    case Comparison::kLess: return left < right;
    case Comparison::kLessOrEqual: return left <= right;
  }
  return false;
}

void ReleasePayload(const Task& task) {
  if ((task.flags & Task::kOwnsPayload) == 0) return;
  if (task.kind == TaskKind::kBatch) {
    delete task.batch.list;
  } else if (task.kind == TaskKind::kKernel) {
    delete &KernelOf(task);
  } else {
    std::free(const_cast<void*>(task.copy.src));
  }
}

void EndReplay(const Task& task) {
  delete[] task.replay.bindings;
  if (GraphKeeper* keeper = task.replay.graph->keeper) keeper->ReplayGone();
}

void DropTask(const Task& task) {
  switch (task.kind) {
    case TaskKind::kMark: task.mark.marker->Dropped(); break;
    case TaskKind::kAwait: task.await.marker->Dropped(); break;
    case TaskKind::kReplay:
      for (uint32_t i = 0; i < task.replay.graph->bindings; ++i) {
        if (Marker* marker = task.replay.bindings[i].marker) marker->Dropped();
      }
      EndReplay(task);
      break;
    default: ReleasePayload(task);
  }
}

}  // namespace ropeway
