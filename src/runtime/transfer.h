// A copy between two places, once a call has checked its own arguments: where the bytes are, whether the executing device
// may reach them, and the task that moves them. Shared by every copy of the API. What every copy runs through is inline;
// what explains a refusal is not.
#pragma once

#include "base/status.h"
#include "copy/direction.h"
#include "copy/plan.h"
#include "engine/task.h"
#include "memory/memory.h"
#include "runtime/context.h"
#include "runtime/runtime.h"

namespace ropeway {

struct Transfer {
  void* dst;
  const void* src;
  size_t dst_extent;  // bytes from the first to the last that are touched
  size_t src_extent;
  Location to;
  Location from;

  bool any_pageable() const { return to.place == Place::kPageable || from.place == Place::kPageable; }
};

// Whether `extent` bytes stay in their block, on the executing device or on the host.
inline bool IsPlain(const Location& location, size_t extent, int executing_device) {
  return extent <= location.room && (location.device < 0 || location.device == executing_device);
}

// Finds out where both sides are; dst first. 107000 for device addresses in no block.
inline Status Locate(void* dst, size_t dst_extent, const void* src, size_t src_extent, Transfer* transfer) {
  transfer->dst = dst;
  transfer->src = src;
  transfer->dst_extent = dst_extent;
  transfer->src_extent = src_extent;
  const Memory& memory = Runtime::Get().memory();
  RW_TRY(memory.Locate("dst", dst, dst_extent, &transfer->to));
  return memory.Locate("src", src, src_extent, &transfer->from);
}

// 107000 for addresses that the setting `strict alignment` refuses: those of asynchronous copies and of batches.
[[gnu::cold]] Status ExplainAlignment(const char* dst_name, const void* dst, const char* src_name, const void* src);
inline bool IsAligned(const void* dst, const void* src) {
  constexpr uintptr_t kCopyAlignment = 64;
  return !Runtime::Get().strict_alignment() || (reinterpret_cast<uintptr_t>(dst) | reinterpret_cast<uintptr_t>(src)) % kCopyAlignment == 0;
}
inline Status RequireAlignment(const char* dst_name, const void* dst, const char* src_name, const void* src) {
  return IsAligned(dst, src) ? Ok() : ExplainAlignment(dst_name, dst, src_name, src);
}

// The last checks before bytes are promised to move (rules/copies.md 7, rules/devices.md 5): both ranges stay in their blocks, and
// the executing device has been given access to the others. 107000.
Status RequireReach(const Transfer& transfer, int executing_device);

// The same for a copy that is about to be queued, with the two answers that stand in front of them: 107003 when the stream
// is another context's, and 107000 for addresses that the setting `strict alignment` refuses.
Status RequireQueuedReach(const Transfer& transfer, const Stream& stream, Context& context);

inline Task CopyTask(const Runtime& runtime, void* dst, const void* src, size_t size, const char* call) {
  Task task;
  task.kind = TaskKind::kCopy;
  task.method = PlanCopy(size, runtime.traits()).method;
  task.flags = 0;
  task.call = call;
  task.copy = {dst, src, size};
  return task;
}

Task RowsTask(void* dst, size_t dst_pitch, const void* src, size_t src_pitch, size_t width, size_t height, const char* call);

}  // namespace ropeway
