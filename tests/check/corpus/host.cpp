// Calls that work at once, beside what is queued.
#include <vector>

#include "tests/check/corpus/program.h"

namespace corpus {

PROGRAM(result_fetched_without_a_wait, "RW-HOST-003") {
  const aclrtStream work = Stream();
  char *const block = Device(), *const in = Pinned();
  std::vector<char> result(kSize);
  Load(block, in, work);
  if (right) Finish(work);
  MUST(aclrtMemcpy(result.data(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
  Finish(work);
}

PROGRAM(input_replaced_under_a_pending_move, "RW-HOST-003") {
  const aclrtStream work = Stream();
  char *const block = Device(), *const result = Device();
  const std::vector<char> next(kSize);
  Move(result, block, work);
  if (right) Finish(work);
  MUST(aclrtMemcpy(block, kSize, next.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE));
  Finish(work);
}

PROGRAM(staging_refilled_by_a_copy_of_the_host, "RW-HOST-003") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const staging = Pinned();
  const std::vector<char> next(kSize);
  Load(block, staging, load);
  if (right) Finish(load);
  MUST(aclrtMemcpy(staging, kSize, next.data(), kSize, ACL_MEMCPY_HOST_TO_HOST));
  Finish(load);
}

PROGRAM(cleared_under_a_store, "RW-HOST-003") {
  const aclrtStream store = Stream();
  char *const block = Device(), *const out = Pinned();
  Store(out, block, store);
  if (right) MUST(aclrtSynchronizeDevice());
  MUST(aclrtMemset(block, kSize, 0, kSize));
  Finish(store);
}

PROGRAM(words_cleared_under_a_load, "RW-HOST-003") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const in = Pinned();
  Load(block, in, load);
  if (right) MUST(aclrtSynchronizeStreamWithTimeout(load, -1));
  MUST(aclrtMemsetD32(block, kSize, 1, 16));
  Finish(load);
}

// An asynchronous memset of host memory works at once.
PROGRAM(host_memory_set_ahead_of_its_stream, "RW-HOST-003") {
  const aclrtStream store = Stream();
  char *const block = Device(), *const out = Pinned();
  Store(out, block, store);
  if (right) Finish(store);
  MUST(aclrtMemsetAsync(out, kSize, 0, kSize, store));
  Finish(store);
}

// What was refused has copied nothing.
PROGRAM(fetch_that_was_refused, "RW-HOST-003") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const in = Pinned();
  std::vector<char> result(kSize);
  Load(block, in, load);
  const aclError code = aclrtMemcpy(result.data(), right ? 1 : kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST);
  if ((code == ACL_SUCCESS) == right) MUST(ACL_ERROR_FAILURE);
  Finish(load);
}

// Only the buffered kind has taken its source when it returns.
PROGRAM(source_reused_behind_the_call, "RW-HOST-003") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const staging = Pinned();
  MUST(aclrtMemcpyAsync(block, kSize, staging, kSize, right ? ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE : ACL_MEMCPY_HOST_TO_DEVICE, load));
  MUST(aclrtMemset(staging, kSize, 0, kSize));
  Finish(load);
}

PROGRAM(rows_fetched_without_a_wait, "RW-HOST-003") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const in = Pinned();
  std::vector<char> rows(kSize);
  const size_t pitch = 256, width = 128;
  MUST(aclrtMemcpy2dAsync(block, pitch, in, pitch, width, 16, ACL_MEMCPY_HOST_TO_DEVICE, load));
  // Beside the columns that are loaded, nothing is pending.
  MUST(aclrtMemcpy2d(rows.data(), width, block + (right ? width : 0), pitch, width, 16, ACL_MEMCPY_DEVICE_TO_HOST));
  Finish(load);
}

PROGRAM(batch_at_once_beside_a_load, "RW-HOST-003") {
  const aclrtStream load = Stream();
  char *const block = Device(2 * kSize), *const in = Pinned();
  std::vector<char> out(2 * kSize);
  Load(block + kSize, in, load);
  if (right) Finish(load);
  void *dsts[] = {out.data(), out.data() + kSize}, *srcs[] = {block, block + kSize};
  size_t sizes[] = {kSize, kSize}, first = 0, failed = 0;
  aclrtMemcpyBatchAttr attr = {};
  attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  MUST(aclrtMemcpyBatch(dsts, sizes, srcs, sizes, 2, &attr, &first, 1, &failed));
  Finish(load);
}

// Asked once, and gone on whatever the answer was.
PROGRAM(answer_of_a_query_ignored, "RW-HOST-003") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const in = Pinned();
  std::vector<char> result(kSize);
  const aclrtEvent loaded = Event();
  uint64_t* const gate = Word();
  Hold(load, gate);
  Load(block, in, load);
  Record(loaded, load);
  if (right) Open(gate);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  do {
    MUST(aclrtQueryEventStatus(loaded, &status));
  } while (right && status != ACL_EVENT_RECORDED_STATUS_COMPLETE);
  MUST(aclrtMemcpy(result.data(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
  if (!right) Open(gate);
  Finish(load);
}

PROGRAM(stream_polled_until_complete, "RW-HOST-003") {
  const aclrtStream load = Stream(), other = Stream();
  char *const block = Device(), *const in = Pinned();
  std::vector<char> result(kSize);
  Load(block, in, load);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) MUST(aclrtStreamQuery(right ? load : other, &status));
  MUST(aclrtMemcpy(result.data(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
  Finish({load, other});
}

// A wait with a limit that was too short has not waited.
PROGRAM(limit_ran_out, "RW-HOST-003") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const in = Pinned();
  std::vector<char> result(kSize);
  uint64_t* const gate = Word();
  Hold(load, gate);
  Load(block, in, load);
  if (right) Open(gate);
  (void)aclrtSynchronizeStreamWithTimeout(load, right ? -1 : 1);
  MUST(aclrtMemcpy(result.data(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
  if (!right) Open(gate);
  Finish(load);
}

// A copy of pageable memory waits for its own stream, and for no other.
PROGRAM(pageable_copy_taken_for_a_barrier, "RW-HOST-003") {
  const aclrtStream load = Stream(), other = Stream();
  char *const block = Device(2 * kSize), *const in = Pinned();
  std::vector<char> pageable(kSize), result(kSize);
  Load(block, in, load);
  Load(block + kSize, pageable.data(), right ? load : other);
  MUST(aclrtMemcpy(result.data(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
  Finish({load, other});
}

}  // namespace corpus
