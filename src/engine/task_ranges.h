// The bytes that a task names, worked out here for everybody: those who look at them again before they move, tell of them, print them, or
// wait for one of them to change.
#pragma once

#include <string_view>

#include "engine/batch.h"
#include "engine/task.h"

namespace ropeway {

struct TaskRange {
  std::string_view name;  // of the argument
  const void* address;
  size_t extent;  // to the last byte; rows leave gaps
  bool written;
};

// From the first byte of the first row to the last byte of the last one.
inline size_t RowsExtent(size_t pitch, size_t width, size_t height) { return height == 0 ? 0 : pitch * (height - 1) + width; }

// Calls visit(TaskRange) for each, until one is refused by false; whether none was. What a descriptor or a pair of cells names is not
// known before it runs: there are the descriptor and the cells.
template <typename Visit>
bool ForEachRange(const Task& task, Visit visit) {
  const auto both = [&](const void* dst, size_t dst_extent, const void* src, size_t src_extent) {
    return visit(TaskRange{"dst", dst, dst_extent, true}) && visit(TaskRange{"src", src, src_extent, false});
  };
  switch (task.kind) {
    case TaskKind::kCopy: return both(task.copy.dst, task.copy.size, task.copy.src, task.copy.size);
    case TaskKind::kCopy2d: {
      const auto& rows = task.copy_2d;
      return both(rows.dst, RowsExtent(rows.dst_pitch, rows.width, rows.height), rows.src,
                  RowsExtent(rows.src_pitch, rows.width, rows.height));
    }
    case TaskKind::kBatch:
      for (const Piece& piece : task.batch.list->pieces()) {
        if (!both(piece.dst, piece.size, piece.src, piece.size)) return false;
      }
      return true;
    case TaskKind::kReduce: return both(task.reduce.dst, task.reduce.size, task.reduce.src, task.reduce.size);
    case TaskKind::kCopyByDesc: return visit(TaskRange{"descriptor", task.by_desc.descriptor, task.by_desc.size, false});
    case TaskKind::kCopyByCells:
      return visit(TaskRange{"dst_cell", task.by_cells.dst_cell, sizeof(void*), false}) &&
             visit(TaskRange{"src_cell", task.by_cells.src_cell, sizeof(void*), false});
    case TaskKind::kSet:
    case TaskKind::kSetWords: return visit(TaskRange{"dst", task.set.dst, TaskBytes(task), true});
    case TaskKind::kStore: return visit(TaskRange{"address", task.store.address, sizeof(uint64_t), true});
    case TaskKind::kAwaitValue: return visit(TaskRange{"address", task.await_value.address, sizeof(uint64_t), false});
    case TaskKind::kSwitch: {
      const size_t size = task.switch_to.wide ? sizeof(int64_t) : sizeof(int32_t);
      return visit(TaskRange{"leftValue", task.switch_to.left, size, false}) &&
             visit(TaskRange{"rightValue", task.switch_to.right, size, false});
    }
    case TaskKind::kJump: return visit(TaskRange{"ptr", task.jump.index, sizeof(uint32_t), false});
    case TaskKind::kBody: return visit(TaskRange{"condition", task.body.value, sizeof(uint64_t), false});
    default: return true;
  }
}

}  // namespace ropeway
