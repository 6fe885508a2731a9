// Captured graphs: branches, replays beside each other and beside other work.
#include "tests/check/corpus/program.h"

namespace corpus {
namespace {

template <typename Work>
aclmdlRI Capture(aclrtStream stream, Work work) {
  MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  work();
  aclmdlRI graph = nullptr;
  MUST(aclmdlRICaptureEnd(stream, &graph));
  return graph;
}

void Replay(aclmdlRI graph, aclrtStream stream) { MUST(aclmdlRIExecuteAsync(graph, stream)); }

}  // namespace

PROGRAM(input_loaded_while_the_replay_reads, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), load = Stream();
  char *const input = Device(), *const result = Device(), *const in = Pinned();
  const aclmdlRI graph = Capture(work, [&] { Move(result, input, work); });
  for (int step = 0; step < 3; ++step) {
    Load(input, in, load);
    Order(load, work);
    Replay(graph, work);
    if (right) Order(work, load);
  }
  Finish({work, load});
}

PROGRAM(result_stored_while_the_replay_writes, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), store = Stream();
  char *const input = Device(), *const result = Device(), *const out = Pinned();
  const aclmdlRI graph = Capture(work, [&] { Move(result, input, work); });
  Replay(graph, work);
  if (right) Order(work, store);
  Store(out, result, store);
  Finish({work, store});
}

PROGRAM(two_graphs_with_one_buffer, "RW-GRAPH-001") {
  const aclrtStream one = Stream(), other = Stream();
  char *const shared = Device(), *const own = Device(), *const input = Device();
  const aclmdlRI first = Capture(one, [&] { Move(shared, input, one); });
  const aclmdlRI second = Capture(other, [&] { Move(right ? own : shared, input, other); });
  Replay(first, one);
  Replay(second, other);
  Finish({one, other});
}

// Replays of one graph run one after the other, on whatever streams.
PROGRAM(replays_on_two_streams_and_a_copy_beside, "RW-GRAPH-001") {
  const aclrtStream one = Stream(), other = Stream();
  char *const input = Device(), *const result = Device(), *const in = Pinned();
  const aclmdlRI graph = Capture(one, [&] { Move(result, input, one); });
  Replay(graph, one);
  Replay(graph, other);
  Load(input, in, right ? other : one);
  Finish({one, other});
}

PROGRAM(branches_that_write_one_block, "RW-GRAPH-001") {
  const aclrtStream stem = Stream(), branch = Stream();
  char *const input = Device(), *const result = Device(2 * kSize);
  const aclmdlRI graph = Capture(stem, [&] {
    Order(stem, branch);
    Move(result, input, stem);
    Move(right ? result + kSize : result, input, branch);
    Order(branch, stem);
  });
  for (int step = 0; step < 3; ++step) Replay(graph, stem);
  Finish(stem);
}

PROGRAM(branch_that_reads_before_the_stem_has_written, "RW-GRAPH-001") {
  const aclrtStream stem = Stream(), branch = Stream();
  char *const input = Device(), *const middle = Device(), *const result = Device();
  const aclmdlRI graph = Capture(stem, [&] {
    if (!right) Order(stem, branch);
    Move(middle, input, stem);
    if (right) Order(stem, branch);
    Move(result, middle, branch);
    Order(branch, stem);
  });
  Replay(graph, stem);
  Replay(graph, stem);
  Finish(stem);
}

PROGRAM(three_branches_and_a_forgotten_one, "RW-GRAPH-001") {
  const aclrtStream stem = Stream(), left = Stream(), middle = Stream();
  char *const input = Device(), *const parts = Device(2 * kSize), *const result = Device(2 * kSize);
  const aclmdlRI graph = Capture(stem, [&] {
    Order(stem, left);
    Order(stem, middle);
    Move(parts, input, left);
    Move(parts + kSize, input, middle);
    Order(left, stem);
    if (right) Order(middle, stem);
    Move(result, parts, stem, 2 * kSize);
    Order(middle, stem);
  });
  Replay(graph, stem);
  Finish(stem);
}

PROGRAM(notify_between_two_branches_too_early, "RW-GRAPH-001") {
  const aclrtStream stem = Stream(), branch = Stream();
  char *const input = Device(), *const middle = Device(), *const result = Device();
  const aclrtNotify ready = Notify();
  const aclmdlRI graph = Capture(stem, [&] {
    Order(stem, branch);
    if (!right) MUST(aclrtRecordNotify(ready, stem));
    Move(middle, input, stem);
    if (right) MUST(aclrtRecordNotify(ready, stem));
    MUST(aclrtWaitAndResetNotify(ready, branch, 0));
    Move(result, middle, branch);
    Order(branch, stem);
  });
  Replay(graph, stem);
  Replay(graph, stem);
  Finish(stem);
}

PROGRAM(word_written_by_the_outside_too_early, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), load = Stream();
  char *const input = Device(), *const result = Device(), *const in = Pinned();
  uint64_t* const ready = Word();
  const aclmdlRI graph = Capture(work, [&] {
    MUST(aclrtValueWait(ready, 1, ACL_STREAM_WAIT_VALUE_GEQ, work));
    Move(result, input, work);
  });
  if (!right) MUST(aclrtValueWrite(ready, 1, 0, load));
  Load(input, in, load);
  if (right) MUST(aclrtValueWrite(ready, 1, 0, load));
  Replay(graph, work);
  Finish({work, load});
}

PROGRAM(rows_and_batches_in_a_graph, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), load = Stream();
  char *const blocks = Device(4 * kSize), *const in = Pinned(2 * kSize), *const out = Pinned(kSize);
  const aclmdlRI graph = Capture(work, [&] {
    LoadBatch({{blocks, in}, {blocks + kSize, in + kSize}}, work);
    MUST(aclrtMemcpy2dAsync(out, 64, blocks, 256, 64, 16, ACL_MEMCPY_DEVICE_TO_HOST, work));
  });
  Replay(graph, work);
  Load(blocks + (right ? 2 : 1) * kSize, in, load);
  Finish({work, load});
}

PROGRAM(staging_of_a_replay_refilled_by_the_host, "RW-HOST-003") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const staging = Pinned();
  const aclmdlRI graph = Capture(work, [&] { Load(input, staging, work); });
  for (int step = 0; step < 3; ++step) {
    MUST(aclrtMemset(staging, kSize, step, kSize));
    Replay(graph, work);
    if (right) Finish(work);
  }
  Finish(work);
}

PROGRAM(buffer_freed_under_a_replay, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const result = Device();
  const aclmdlRI graph = Capture(work, [&] { Move(result, input, work); });
  Replay(graph, work);
  if (right) Finish(work);
  MUST(aclrtFree(input));
  (void)aclrtSynchronizeStream(work);
}

PROGRAM(graph_destroyed_under_its_replay, "RW-LIFE-005") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const result = Device();
  const aclmdlRI graph = Capture(work, [&] { Move(result, input, work); });
  Replay(graph, work);
  if (right) Finish(work);
  MUST(aclmdlRIDestroy(graph));
  MUST(aclrtFree(input));  // it has waited for the replay
  Finish(work);
}

// The end of a graph waits for its replays, and for nothing behind them.
PROGRAM(end_of_a_graph_taken_for_a_barrier, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const result = Device(), *const out = Pinned();
  const aclmdlRI graph = Capture(work, [&] { Move(result, input, work); });
  Replay(graph, work);
  Finish(work);
  if (!right) Store(out, result, work);
  MUST(aclmdlRIDestroy(graph));
  MUST(aclrtFreeHost(out));
  Finish(work);
}

// A replay that waits for what is submitted behind it, and is set back for the next one.
PROGRAM(word_of_the_replay_before, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), load = Stream();
  char *const input = Device(), *const result = Device(), *const in = Pinned();
  uint64_t* const ready = Word();
  const aclmdlRI graph = Capture(work, [&] {
    MUST(aclrtValueWait(ready, 1, ACL_STREAM_WAIT_VALUE_GEQ, work));
    Move(result, input, work);
    if (right) MUST(aclrtValueWrite(ready, 0, 0, work));
  });
  for (int round = 0; round < 2; ++round) {
    Replay(graph, work);
    Load(input, in, load);
    MUST(aclrtValueWrite(ready, 1, 0, load));
    if (right) Order(work, load);
  }
  Finish({work, load});
}

// An external wait looks at the record that is the latest when the replay is submitted.
PROGRAM(external_wait_for_the_wrong_stream, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), load = Stream(), idle = Stream();
  char *const input = Device(), *const result = Device(), *const in = Pinned();
  const aclrtEvent loaded = Event();
  const aclmdlRI graph = Capture(work, [&] {
    MUST(aclrtStreamWaitEventWithFlag(work, loaded, 0, ACL_EVENT_WAIT_EXTERNAL));
    Move(result, input, work);
  });
  Load(input, in, load);
  Record(loaded, right ? load : idle);
  Replay(graph, work);
  Finish({work, load, idle});
}

// An external event tells the outside of every replay.
PROGRAM(external_event_not_waited_for, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), store = Stream();
  char *const input = Device(), *const result = Device(), *const out = Pinned();
  const aclrtEvent done = Event();
  const aclmdlRI graph = Capture(work, [&] {
    Move(result, input, work);
    MUST(aclrtRecordEventWithFlag(done, work, ACL_EVENT_RECORD_EXTERNAL));
  });
  Replay(graph, work);
  if (right) Wait(store, done);
  Store(out, result, store);
  Finish({work, store});
}

}  // namespace corpus
