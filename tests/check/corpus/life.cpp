// What is freed, unregistered, unmapped, reset or destroyed while work depends on it; and what is left.
#include <cstdlib>

#include "tests/check/corpus/program.h"

namespace corpus {
namespace {

void Upload(void* block, aclrtStream stream, bool wait) {
  char* const staging = Pinned();
  Load(block, staging, stream);
  if (wait) Finish(stream);
  MUST(aclrtFreeHost(staging));
}

}  // namespace

PROGRAM(staging_freed_by_the_function_that_used_it, "RW-LIFE-001") {
  const aclrtStream load = Stream();
  Upload(Device(), load, right);
  Finish(load);
}

PROGRAM(block_freed_behind_another_streams_wait, "RW-LIFE-001") {
  const aclrtStream load = Stream(), store = Stream();
  char *const block = Device(), *const in = Pinned(), *const out = Pinned();
  Load(block, in, load);
  Order(load, store);
  Store(out, block, store);
  Finish(right ? store : load);
  MUST(aclrtFree(block));
  Finish(store);
}

PROGRAM(block_freed_behind_an_earlier_event, "RW-LIFE-001") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const in = Pinned();
  const aclrtEvent loaded = Event();
  Load(block, in, load, kSize / 2);
  if (!right) Record(loaded, load);
  Load(block + kSize / 2, in, load, kSize / 2);
  if (right) Record(loaded, load);
  MUST(aclrtSynchronizeEventWithTimeout(loaded, -1));
  MUST(aclrtFree(block));
  Finish(load);
}

PROGRAM(pinned_target_freed_under_its_store, "RW-LIFE-001") {
  const aclrtStream store = Stream();
  char *const block = Device(), *const out = Pinned();
  Store(out, block, store);
  MUST(right ? aclrtFreeHostWithDevSync(out) : aclrtFreeHost(out));
  Finish(store);
}

PROGRAM(scratch_freed_under_a_move, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  char *const scratch = Device(), *const result = Device();
  Move(result, scratch, work);
  MUST(right ? aclrtFreeWithDevSync(scratch) : aclrtFree(scratch));
  Finish(work);
}

PROGRAM(block_freed_under_a_memset, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  char* const block = Device();
  MUST(aclrtMemsetAsync(block, kSize, 0, kSize, work));
  if (right) MUST(aclrtDestroyStream(work));  // waits for its work
  MUST(aclrtFree(block));
}

PROGRAM(arrays_of_a_batch_freed, "RW-LIFE-001") {
  const aclrtStream load = Stream();
  char *const first = Device(), *const second = Device(), *const one = Pinned(), *const other = Pinned();
  LoadBatch({{first, one}, {second, other}}, load);
  if (right) Finish(load);
  MUST(aclrtFreeHost(other));
  Finish(load);
}

// An address comes back from the allocator: the new block has nothing to do with the old one's work.
PROGRAM(block_freed_and_allocated_in_a_loop, "RW-LIFE-001") {
  const aclrtStream streams[] = {Stream(), Stream()};
  char* const in = Pinned();
  for (int round = 0; round < 4; ++round) {
    char* const block = Device();
    Load(block, in, streams[round % 2]);
    if (right) Finish(streams[round % 2]);
    MUST(aclrtFree(block));
  }
  Finish({streams[0], streams[1]});
}

PROGRAM(managed_block_freed_under_a_memset, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  void* block = nullptr;
  MUST(aclrtMemAllocManaged(&block, kSize, ACL_RT_MEM_ATTACH_GLOBAL));
  MUST(aclrtMemsetAsync(block, kSize, 0, kSize, work));
  if (right) Finish(work);
  MUST(aclrtFree(block));
  Finish(work);
}

PROGRAM(block_freed_behind_a_copy_that_waits, "RW-LIFE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtNotify ready = Notify();
  MUST(aclrtWaitAndResetNotify(ready, work, 0));
  Move(result, block, work);
  Load(result, in, load, 64);
  MUST(aclrtRecordNotify(ready, load));
  Finish(right ? work : load);
  MUST(aclrtFree(block));
  Finish({load, work});
}

// What has not even been released yet is pending, too.
PROGRAM(block_freed_under_a_copy_that_is_held_back, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  char *const block = Device(), *const result = Device();
  uint64_t* const gate = Word();
  Hold(work, gate);
  Move(result, block, work);
  if (right) {
    Open(gate);
    Finish(work);
  }
  MUST(aclrtFree(block));
  if (!right) Open(gate);
  Finish(work);
}

PROGRAM(registration_ended_under_a_load, "RW-LIFE-002") {
  const aclrtStream load = Stream();
  void* const weights = std::aligned_alloc(4096, kSize);
  void* alias = nullptr;
  MUST(aclrtHostRegister(weights, kSize, ACL_HOST_REGISTER_MAPPED, &alias));
  Load(Device(), weights, load);
  if (right) Finish(load);
  MUST(aclrtHostUnregister(weights));
  Finish(load);
  std::free(weights);
}

// Pinned memory may be registered for its device address, and is pinned behind that, too.
PROGRAM(pinned_block_freed_behind_its_registration, "RW-LIFE-001") {
  const aclrtStream load = Stream();
  char* const in = Pinned();
  MUST(aclrtHostRegisterV2(in, kSize, ACL_HOST_REG_MAPPED));
  MUST(aclrtHostUnregister(in));
  Load(Device(), in, load);
  if (right) Finish(load);
  MUST(aclrtFreeHost(in));
  Finish(load);
}

PROGRAM(registration_ended_under_a_store, "RW-LIFE-002") {
  const aclrtStream store = Stream(), other = Stream();
  void* const result = std::aligned_alloc(4096, 2 * kSize);
  MUST(aclrtHostRegisterV2(result, 2 * kSize, ACL_HOST_REG_PINNED));
  Store(static_cast<char*>(result) + kSize, Device(), store);
  Finish(right ? store : other);
  MUST(aclrtHostUnregister(result));
  Finish(store);
  std::free(result);
}

PROGRAM(registration_ended_under_a_batch, "RW-LIFE-002") {
  const aclrtStream load = Stream();
  char* const memory = static_cast<char*>(std::aligned_alloc(4096, 2 * kSize));
  MUST(aclrtHostRegisterV2(memory, 2 * kSize, ACL_HOST_REG_PINNED));
  LoadBatch({{Device(), memory}, {Device(), memory + kSize}}, load);
  if (right) Finish(load);
  MUST(aclrtHostUnregister(memory));
  Finish(load);
  std::free(memory);
}

PROGRAM(stream_destroyed_by_force, "RW-LIFE-005") {
  const aclrtStream work = Stream();
  Load(Device(), Pinned(), work);
  MUST(right ? aclrtDestroyStream(work) : aclrtDestroyStreamForce(work));
}

PROGRAM(event_destroyed_under_its_waiter, "RW-LIFE-005") {
  const aclrtStream load = Stream(), work = Stream();
  const aclrtEvent loaded = Flag();
  Load(Device(), Pinned(), load);
  Record(loaded, load);
  Wait(work, loaded);
  if (right) Finish(work);
  MUST(aclrtDestroyEvent(loaded));
  Finish({load, work});
}

PROGRAM(notify_destroyed_under_its_waiter, "RW-LIFE-005") {
  const aclrtStream load = Stream(), work = Stream();
  const aclrtNotify ready = Notify();
  MUST(aclrtWaitAndResetNotify(ready, work, 0));
  MUST(aclrtRecordNotify(ready, load));
  Finish(right ? work : load);
  MUST(aclrtDestroyNotify(ready));
  Finish({load, work});
}

PROGRAM(device_reset_under_its_work, "RW-LIFE-004") {
  MUST(aclrtSetDevice(1));
  const aclrtStream load = Stream();
  Load(Device(), Pinned(), load);
  if (right) MUST(aclrtSynchronizeDevice());
  MUST(aclrtResetDevice(1));
  MUST(aclrtSetDevice(0));
}

// Every thread that has set the device resets it. Only the last one ends it.
PROGRAM(device_reset_by_the_last_of_two, "RW-LIFE-004") {
  MUST(aclrtSetDevice(1));
  if (right) MUST(aclrtSetDevice(1));
  const aclrtStream load = Stream();
  Load(Device(), Pinned(), load);
  MUST(aclrtResetDevice(1));
  if (right) {
    MUST(aclrtSetDevice(1));
    Finish(load);
    MUST(aclrtResetDeviceForce(1));
  }
  MUST(aclrtSetDevice(0));
}

PROGRAM(device_reset_by_force, "RW-LIFE-004") {
  MUST(aclrtSetDevice(1));
  const aclrtStream load = Stream(), other = Stream();
  Load(Device(), Pinned(), load);
  Finish(right ? load : other);
  MUST(aclrtResetDeviceForce(1));
  MUST(aclrtSetDevice(0));
}

PROGRAM(context_destroyed_under_its_work, "RW-LIFE-005") {
  aclrtContext before = nullptr, context = nullptr;
  MUST(aclrtGetCurrentContext(&before));
  MUST(aclrtCreateContext(&context, 0));
  const aclrtStream load = Stream();
  char* const in = Pinned();
  Load(Device(), in, load);
  if (right) Finish(load);
  MUST(aclrtDestroyContext(context));
  MUST(aclrtSetCurrentContext(before));
  MUST(aclrtFreeHost(in));  // its work is over with the context
}

// What was refused has ended nothing.
PROGRAM(free_that_was_refused, "RW-LIFE-001") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const in = Pinned();
  Load(block, in, load);
  if (!right) MUST(aclrtFree(block));
  if (right && aclrtFreeHost(block) == ACL_SUCCESS) MUST(ACL_ERROR_FAILURE);
  Finish(load);
  if (right) MUST(aclrtFree(block));
}

// A copy of pageable memory waits for its stream, also when it then tells what became of that.
PROGRAM(error_of_a_stream_told_by_a_pageable_copy, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  char *const block = Device(), *const in = Pinned();
  static char pageable[kSize];
  Load(block, in, work);
  MUST(aclrtMemcpyAsync(block, kSize, pageable, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, work));  // fails when it runs
  if (right && aclrtMemcpyAsync(block, kSize, pageable, kSize, ACL_MEMCPY_HOST_TO_DEVICE, work) == ACL_SUCCESS) MUST(ACL_ERROR_FAILURE);
  MUST(aclrtFreeHost(in));
  (void)aclrtSynchronizeStream(work);
}

PROGRAM(stream_left, "RW-LEAK-001") {
  const aclrtStream stream = Stream();
  Finish(stream);
  if (right) MUST(aclrtDestroyStream(stream));
}

PROGRAM(event_left, "RW-LEAK-001") {
  const aclrtEvent event = Event();
  Record(event, nullptr);
  MUST(aclrtSynchronizeEvent(event));
  if (right) MUST(aclrtDestroyEvent(event));
}

PROGRAM(notify_left, "RW-LEAK-001") {
  const aclrtNotify notify = Notify();
  if (right) MUST(aclrtDestroyNotify(notify));
}

PROGRAM(pinned_block_left_on_an_error_path, "RW-LEAK-001") {
  char *const staging = Pinned(), *const block = Device();
  const bool failed = aclrtMemcpyAsync(block, 1, staging, kSize, ACL_MEMCPY_HOST_TO_DEVICE, nullptr) != ACL_SUCCESS;
  MUST(aclrtFree(block));
  if (failed && !right) return;
  MUST(aclrtFreeHost(staging));
}

PROGRAM(registration_left, "RW-LEAK-001") {
  alignas(4096) static char memory[4096];
  MUST(aclrtHostRegisterV2(memory, sizeof memory, ACL_HOST_REG_PINNED));
  if (right) MUST(aclrtHostUnregister(memory));
}

}  // namespace corpus
