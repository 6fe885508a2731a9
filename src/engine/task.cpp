#include "engine/task.h"

namespace ropeway {

const char* TaskKindName(TaskKind kind) {
  static constexpr const char* kNames[] = {"copy",  "copy2d", "set",  "set32", "reduce",
                                           "record", "wait",  "call", "fail",  "nothing"};
  return kNames[static_cast<size_t>(kind)];
}

size_t TaskBytes(const Task& task) {
  switch (task.kind) {
    case TaskKind::kCopy: return task.copy.size;
    case TaskKind::kCopy2d: return task.copy_2d.width * task.copy_2d.height;
    case TaskKind::kSet: return task.set.count;
    case TaskKind::kSetWords: return task.set.count * sizeof(uint32_t);
    case TaskKind::kReduce: return task.reduce.size;
    default: return 0;
  }
}

}  // namespace ropeway
