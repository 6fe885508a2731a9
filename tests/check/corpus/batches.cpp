// Batches, descriptors and cells: many ranges in one call, and addresses that are read when the task runs.
#include <cstring>

#include "tests/check/corpus/program.h"

namespace corpus {
namespace {

constexpr aclrtMemcpyKind kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
constexpr size_t kDescriptor = 64;

void Set(void* descriptor, void* from, void* to) { MUST(aclrtSetMemcpyDesc(descriptor, kInner, from, to, kSize, nullptr)); }
void Launch(void* descriptor, aclrtStream stream) { MUST(aclrtMemcpyAsyncWithDesc(descriptor, kInner, stream)); }

// Two cells in device memory that hold the addresses of a destination and of a source.
struct Cells {
  void* addresses[2];
};
void SetCells(Cells* cells, void* to, void* from) {
  const Cells said{{to, from}};
  MUST(aclrtMemcpy(cells, sizeof said, &said, sizeof said, ACL_MEMCPY_HOST_TO_DEVICE));
}
Cells* NewCells(void* to, void* from) {
  auto* const cells = reinterpret_cast<Cells*>(Device(64));
  SetCells(cells, to, from);
  return cells;
}
void CopyByCells(Cells* cells, aclrtStream stream) {
  auto** const to = reinterpret_cast<void**>(cells);
  const auto** const from = const_cast<const void**>(to + 1);
  MUST(aclrtMemcpyAsyncWithOffset(to, kSize, 0, from, kSize, 0, kInner, stream));
}

}  // namespace

// A table of blocks with one entry twice.
PROGRAM(same_block_twice_in_a_batch, "RW-BATCH-001") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const other = Device(), *const in = Pinned(2 * kSize);
  LoadBatch({{block, in}, {right ? other : block, in + kSize}}, load);
  Finish(load);
}

// One source for many destinations is fine.
PROGRAM(items_that_overlap_by_a_byte, "RW-BATCH-001") {
  const aclrtStream load = Stream();
  char *const pool = Device(3 * kSize), *const in = Pinned();
  LoadBatch({{pool + 2 * kSize, in}, {pool, in}, {pool + (right ? kSize : kSize - 1), in}}, load);
  Finish(load);
}

PROGRAM(two_results_of_a_batch_in_one_buffer, "RW-BATCH-001") {
  const aclrtStream store = Stream();
  char *const first = Device(), *const second = Device(), *const out = Pinned(2 * kSize);
  StoreBatch({{out, first}, {right ? out + kSize : out, second}}, store);
  Finish(store);
}

PROGRAM(batch_at_once_with_an_overlap, "RW-BATCH-001") {
  char *const pool = Device(2 * kSize), *const in = Pinned();
  void *dsts[] = {pool, pool + (right ? kSize : kSize / 2)}, *srcs[] = {in, in};
  size_t sizes[] = {kSize, kSize}, first = 0, failed = 0;
  aclrtMemcpyBatchAttr attr = {};
  attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  MUST(aclrtMemcpyBatch(dsts, sizes, srcs, sizes, 2, &attr, &first, 1, &failed));
}

PROGRAM(offloaded_blocks_loaded_again_too_early, "RW-RACE-001") {
  const aclrtStream store = Stream(), load = Stream();
  char *const first = Device(), *const second = Device(), *const pool = Pinned(2 * kSize), *const target = Device();
  StoreBatch({{pool, first}, {pool + kSize, second}}, store);
  if (right) Order(store, load);
  LoadBatch({{target, pool + kSize}}, load);
  Finish({store, load});
}

PROGRAM(blocks_of_a_batch_reused_before_it_ended, "RW-RACE-002") {
  const aclrtStream store = Stream(), load = Stream();
  char *const blocks = Device(4 * kSize), *const pool = Pinned(4 * kSize), *const in = Pinned();
  StoreBatch({{pool, blocks}, {pool + kSize, blocks + kSize}, {pool + 2 * kSize, blocks + 2 * kSize}}, store);
  // The fourth block is not part of the batch.
  Load(blocks + (right ? 3 : 2) * kSize, in, load);
  Finish({store, load});
}

PROGRAM(batches_of_two_streams_with_one_target_in_common, "RW-RACE-003") {
  const aclrtStream one = Stream(), other = Stream();
  char *const blocks = Device(4 * kSize), *const in = Pinned();
  LoadBatch({{blocks, in}, {blocks + kSize, in}}, one);
  LoadBatch({{blocks + 3 * kSize, in}, {blocks + (right ? 2 : 1) * kSize, in}}, other);
  Finish({one, other});
}

// A pageable item makes the batch wait for its stream; the pinned ones stay asynchronous.
PROGRAM(batch_behind_a_load_of_another_stream, "RW-RACE-001") {
  const aclrtStream load = Stream(), store = Stream();
  char *const block = Device(), *const in = Pinned(), *const out = Pinned();
  LoadBatch({{block, in}}, load);
  if (right) Finish(load);
  StoreBatch({{out, block}}, store);
  Finish({load, store});
}

PROGRAM(descriptor_set_again_under_its_launch, "RW-DESC-001") {
  const aclrtStream work = Stream();
  char *const from = Device(2 * kSize), *const to = Device(2 * kSize), *const descriptors = Device(2 * kDescriptor);
  Set(descriptors, from, to);
  Launch(descriptors, work);
  char* const next = right ? descriptors + kDescriptor : descriptors;
  Set(next, from + kSize, to + kSize);
  Launch(next, work);
  Finish(work);
}

PROGRAM(descriptor_of_a_replay_set_again, "RW-DESC-001") {
  const aclrtStream work = Stream();
  char *const from = Device(2 * kSize), *const to = Device(), *const descriptor = Device(kDescriptor);
  Set(descriptor, from, to);
  MUST(aclmdlRICaptureBegin(work, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  Launch(descriptor, work);
  aclmdlRI graph = nullptr;
  MUST(aclmdlRICaptureEnd(work, &graph));
  for (int round = 0; round < 2; ++round) {
    Set(descriptor, from + round * kSize, to);
    MUST(aclmdlRIExecuteAsync(graph, work));
    if (right) Finish(work);
  }
  Finish(work);
}

PROGRAM(descriptor_beside_the_one_that_was_set, "RW-DESC-002") {
  const aclrtStream work = Stream();
  char *const from = Device(), *const to = Device(), *const descriptors = Device(2 * kDescriptor);
  MUST(aclrtMemset(descriptors, 2 * kDescriptor, 0, 2 * kDescriptor));
  Set(descriptors + (right ? kDescriptor : 0), from, to);
  Launch(descriptors + kDescriptor, work);
  (void)aclrtSynchronizeStream(work);  // tells that the task of the wrong one failed
}

// Every replay reads the descriptor anew: it may be set behind the capture.
PROGRAM(descriptor_set_behind_the_capture, "RW-DESC-001") {
  const aclrtStream work = Stream();
  char *const from = Device(), *const to = Device(), *const descriptor = Device(kDescriptor);
  MUST(aclmdlRICaptureBegin(work, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  Launch(descriptor, work);
  aclmdlRI graph = nullptr;
  MUST(aclmdlRICaptureEnd(work, &graph));
  Set(descriptor, from, to);
  MUST(aclmdlRIExecuteAsync(graph, work));
  if (!right) Set(descriptor, from, to);
  Finish(work);
}

PROGRAM(descriptors_of_two_streams_with_one_target, "RW-RACE-003") {
  const aclrtStream one = Stream(), other = Stream();
  char *const from = Device(2 * kSize), *const to = Device(2 * kSize), *const descriptors = Device(2 * kDescriptor);
  Set(descriptors, from, to);
  Set(descriptors + kDescriptor, from + kSize, right ? to + kSize : to);
  Launch(descriptors, one);
  Launch(descriptors + kDescriptor, other);
  Finish({one, other});
}

PROGRAM(source_of_a_descriptor_is_still_loaded, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const from = Device(), *const to = Device(), *const descriptor = Device(kDescriptor), *const in = Pinned();
  Set(descriptor, from, to);
  Load(from, in, load);
  if (right) Order(load, work);
  Launch(descriptor, work);
  Finish({load, work});
}

// Descriptors can be copied: the launch reads them where they lie.
PROGRAM(descriptor_overwritten_by_a_copy, "RW-RACE-002") {
  const aclrtStream work = Stream(), update = Stream();
  char *const from = Device(), *const to = Device(), *const descriptors = Device(2 * kDescriptor);
  Set(descriptors, from, to);
  Set(descriptors + kDescriptor, from, to);
  Launch(descriptors, work);
  if (right) Order(work, update);
  Move(descriptors, descriptors + kDescriptor, update, kDescriptor);
  Finish({work, update});
}

PROGRAM(descriptor_freed_under_its_launch, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  char *const from = Device(), *const to = Device(), *const descriptor = Device(kDescriptor);
  Set(descriptor, from, to);
  Launch(descriptor, work);
  if (right) Finish(work);
  MUST(aclrtFree(descriptor));
  Finish(work);
}

PROGRAM(source_freed_under_a_descriptors_launch, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  char *const from = Device(), *const to = Device(), *const descriptor = Device(kDescriptor);
  Set(descriptor, from, to);
  Launch(descriptor, work);
  if (right) Finish(work);
  MUST(aclrtFree(from));
  (void)aclrtSynchronizeStream(work);  // the addresses are looked at when the task runs
}

PROGRAM(cells_changed_under_a_copy, "RW-HOST-003") {
  const aclrtStream work = Stream();
  char *const from = Device(2 * kSize), *const to = Device();
  Cells* const cells = NewCells(to, from);
  CopyByCells(cells, work);
  if (right) Finish(work);
  SetCells(cells, to, from + kSize);
  CopyByCells(cells, work);
  Finish(work);
}

PROGRAM(cells_still_written_when_read, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const from = Device(), *const to = Device();
  Cells *const cells = NewCells(to, from), *const said = reinterpret_cast<Cells*>(Pinned(64));
  *said = {{to, from}};
  Load(cells, said, load, sizeof(Cells));
  if (right) Order(load, work);
  CopyByCells(cells, work);
  Finish({load, work});
}

PROGRAM(cells_freed_under_a_copy, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  Cells* const cells = NewCells(Device(), Device());
  CopyByCells(cells, work);
  if (right) Finish(work);
  MUST(aclrtFree(cells));
  (void)aclrtSynchronizeStream(work);
}

// The bytes that the cells lead to.
PROGRAM(target_of_cells_read_too_early, "RW-RACE-001") {
  const aclrtStream work = Stream(), store = Stream();
  char *const from = Device(), *const to = Device(), *const out = Pinned();
  CopyByCells(NewCells(to, from), work);
  if (right) Order(work, store);
  Store(out, to, store);
  Finish({work, store});
}

}  // namespace corpus
