// Models built by hand, and conditions of captured graphs: what a task may start counts, and what excludes each other does not meet.
#include <array>

#include "tests/check/corpus/program.h"

namespace corpus {
namespace {

constexpr uint32_t kHead = 0, kStarted = 0x7FFFFFFF;

// A model of two streams, the first of which is a head.
struct Built {
  explicit Built(uint32_t second = kStarted) : first(Keeper()), other(Keeper()) {
    MUST(aclmdlRIBuildBegin(&model, 0));
    MUST(aclmdlRIBindStream(model, first, kHead));
    MUST(aclmdlRIBindStream(model, other, second));
  }
  static aclrtStream Keeper() {
    aclrtStream stream = nullptr;
    MUST(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
    return stream;
  }
  void End() { End(first); }
  void End(aclrtStream at) {
    MUST(aclmdlRIEndTask(model, at));
    MUST(aclmdlRIBuildEnd(model, nullptr));
  }
  void Run(aclrtStream stream) { MUST(aclmdlRIExecuteAsync(model, stream)); }
  // What `to` has from here on comes behind what `from` has.
  void Join(aclrtStream from, aclrtStream to) {
    const aclrtNotify done = Notify();
    MUST(aclrtRecordNotify(done, from));
    MUST(aclrtWaitAndResetNotify(done, to, 0));
  }

  aclmdlRI model = nullptr;
  aclrtStream first, other;
};

template <size_t kCount>
struct Labels {
  Labels() {
    for (aclrtLabel& label : all) MUST(aclrtCreateLabel(&label));
    MUST(aclrtCreateLabelList(all.data(), kCount, &list));
  }
  void Switch(void* index, aclrtStream stream) { MUST(aclrtSwitchLabelByIndex(index, kCount, list, stream)); }
  void Set(size_t which, aclrtStream stream) { MUST(aclrtSetLabel(all[which], stream)); }
  std::array<aclrtLabel, kCount> all = {};
  aclrtLabelList list = nullptr;
};

// A captured graph with a condition of `kCount` bodies, each captured on a stream of its own.
template <size_t kCount>
struct Condition {
  explicit Condition(aclrtStream on) : stream(on) {
    MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    aclmdlRI root = nullptr;
    aclmdlRICaptureStatus status = {};
    MUST(aclmdlRICaptureGetInfo(stream, &status, &root));
    MUST(aclmdlRICondHandleCreate(root, 1, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &handle));
    MUST(aclmdlRICondHandleGetCondPtr(handle, &variable));
  }
  void Add(aclmdlRICondTaskType type) {
    aclmdlRICondTaskParams params = {};
    params.handle = handle;
    params.type = type;
    params.size = kCount;
    params.modelRIArray = bodies.data();
    MUST(aclmdlRIAddCondTask(params, stream, 0));
  }
  template <typename Work>
  void Body(size_t which, Work work) {
    const aclrtStream inside = Stream();
    MUST(aclmdlRICaptureToModelRIBegin(inside, bodies[which], ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    work(inside);
    aclmdlRI body = nullptr;
    MUST(aclmdlRICaptureEnd(inside, &body));
  }
  aclmdlRI End() {
    aclmdlRI graph = nullptr;
    MUST(aclmdlRICaptureEnd(stream, &graph));
    return graph;
  }
  aclrtStream stream;
  aclmdlRICondHandle handle = nullptr;
  uint64_t* variable = nullptr;
  std::array<aclmdlRI, kCount> bodies = {};
};

void Put(void* word, uint64_t value) { MUST(aclrtMemcpy(word, sizeof(value), &value, sizeof(value), ACL_MEMCPY_HOST_TO_DEVICE)); }

}  // namespace

PROGRAM(input_loaded_while_a_model_reads, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), load = Stream();
  char *const input = Device(), *const result = Device(), *const in = Pinned();
  Built built;
  Move(result, input, built.first);
  built.End();
  for (int step = 0; step < 3; ++step) {
    Load(input, in, load);
    Order(load, work);
    built.Run(work);
    if (right) Order(work, load);
  }
  Finish({work, load});
}

// An execution is over at its mark, whatever the other streams still do.
PROGRAM(stream_of_a_model_that_was_not_joined, "RW-GRAPH-001") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const result = Device(), *const out = Pinned();
  Built built;
  MUST(aclrtActiveStream(built.other, built.first));
  Move(result, input, built.other);
  if (right) built.Join(built.other, built.first);
  built.End();
  built.Run(work);
  Store(out, result, work);
  Finish(work);
  MUST(aclmdlRIDestroy(built.model));
}

PROGRAM(host_waits_for_the_mark_alone, "RW-HOST-003") {
  char *const input = Device(), *const result = Device(), *const out = Pinned();
  Built built;
  MUST(aclrtActiveStream(built.other, built.first));
  Move(result, input, built.other);
  if (right) built.Join(built.other, built.first);
  built.End();
  MUST(aclmdlRIExecute(built.model, -1));
  MUST(aclrtMemcpy(out, kSize, result, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
  MUST(aclmdlRIDestroy(built.model));
}

PROGRAM(heads_that_write_one_block, "RW-GRAPH-001") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const result = Device(2 * kSize);
  Built built(kHead);
  Move(result, input, built.first);
  Move(right ? result + kSize : result, input, built.other);
  built.Join(built.other, built.first);
  built.End();
  for (int step = 0; step < 3; ++step) built.Run(work);
  Finish(work);
}

PROGRAM(stream_started_before_its_input_is_there, "RW-GRAPH-001") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const middle = Device(), *const result = Device();
  Built built;
  if (!right) MUST(aclrtActiveStream(built.other, built.first));
  Move(middle, input, built.first);
  if (right) MUST(aclrtActiveStream(built.other, built.first));
  Move(result, middle, built.other);
  built.Join(built.other, built.first);
  built.End();
  built.Run(work);
  built.Run(work);
  Finish(work);
}

PROGRAM(notify_of_a_model_too_early, "RW-GRAPH-001") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const middle = Device(), *const result = Device();
  Built built(kHead);
  const aclrtNotify ready = Notify();
  if (!right) MUST(aclrtRecordNotify(ready, built.other));
  Move(middle, input, built.other);
  if (right) MUST(aclrtRecordNotify(ready, built.other));
  MUST(aclrtWaitAndResetNotify(ready, built.first, 0));
  Move(result, middle, built.first);
  built.Join(built.other, built.first);
  built.End();
  for (int step = 0; step < 3; ++step) built.Run(work);
  Finish(work);
}

// A classic event stays set: the wait of the second execution is for nothing.
PROGRAM(event_of_a_model_not_reset, "RW-GRAPH-001") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const middle = Device(), *const result = Device();
  Built built(kHead);
  const aclrtEvent ready = Flag();
  Move(middle, input, built.other);
  Record(ready, built.other);
  Wait(built.first, ready);
  if (right) MUST(aclrtResetEvent(ready, built.first));
  Move(result, middle, built.first);
  built.Join(built.other, built.first);
  built.End();
  built.Run(work);
  built.Run(work);
  Finish(work);
}

PROGRAM(result_of_a_switched_stream_stored_too_early, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), store = Stream();
  char *const input = Device(), *const result = Device(), *const out = Pinned();
  uint64_t *const left = Word(), *const limit = Word();
  Built built;
  MUST(aclrtSwitchStream(left, ACL_RT_EQUAL, limit, ACL_RT_SWITCH_INT64, built.other, nullptr, built.first));
  Move(result, input, built.other);
  built.End(built.other);
  built.Run(work);
  if (right) Order(work, store);
  Store(out, result, store);
  Finish({work, store});
}

PROGRAM(buffer_of_a_loop_loaded_meanwhile, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), load = Stream();
  char *const input = Device(), *const result = Device(), *const in = Pinned();
  uint64_t* const leave = Word();
  Put(leave, 1);
  Built built;
  Labels<2> labels;
  labels.Set(0, built.first);
  Move(result, input, built.first);
  labels.Switch(leave, built.first);
  labels.Set(1, built.first);
  built.End();
  built.Run(work);
  if (right) Order(work, load);
  Load(input, in, load);
  Finish({work, load});
}

PROGRAM(index_of_a_label_changed_meanwhile, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), other = Stream();
  char* const input = Device();
  uint64_t *const leave = Word(), *const one = Word();
  Put(leave, 1);
  Put(one, 1);
  Built built;
  Labels<2> labels;
  labels.Set(0, built.first);
  Move(input + kSize / 2, input, built.first, kSize / 2);
  labels.Switch(leave, built.first);
  labels.Set(1, built.first);
  built.End();
  built.Run(work);
  if (right) Order(work, other);
  Move(leave, one, other, sizeof(*one));
  Finish({work, other});
}

// Of the labels one is gone to: what stands behind the other never meets the stream that the first one starts.
PROGRAM(ways_that_exclude_each_other, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), store = Stream();
  char *const input = Device(), *const result = Device(), *const out = Pinned();
  uint64_t *const way = Word(), *const last = Word();
  Put(last, 2);
  Built built;
  Labels<3> labels;
  Move(result, input, built.other);
  labels.Switch(way, built.first);
  labels.Set(0, built.first);
  MUST(aclrtActiveStream(built.other, built.first));
  built.Join(built.other, built.first);
  labels.Switch(last, built.first);
  labels.Set(1, built.first);
  Move(result, input, built.first);
  labels.Set(2, built.first);
  built.End();
  for (uint64_t step = 0; step < 4; ++step) {
    built.Run(work);
    Finish(work);
    if (step == 3) break;
    Put(way, step % 3);
  }
  built.Run(work);
  if (right) Order(work, store);
  Store(out, result, store);
  Finish({work, store});
}

PROGRAM(buffer_freed_under_a_model, "RW-LIFE-001") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const result = Device();
  Built built;
  Move(result, input, built.first);
  built.End();
  built.Run(work);
  if (right) Finish(work);
  MUST(aclrtFree(input));
  (void)aclrtSynchronizeStream(work);
}

// A stream that was cleaned keeps other work.
PROGRAM(cleaned_stream_uses_other_memory, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), load = Stream();
  char *const input = Device(), *const other = Device(), *const result = Device(), *const in = Pinned();
  Built built;
  Move(result, right ? input : other, built.other);
  built.End();
  MUST(aclrtPersistentTaskClean(built.first));
  Move(result, right ? other : input, built.first);
  MUST(aclmdlRIEndTask(built.model, built.first));
  built.Run(work);
  Load(input, in, load);
  Finish({work, load});
}

// Pageable memory is copied at once, beside what runs.
PROGRAM(pageable_copy_on_a_bound_stream, "RW-HOST-003") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const in = Pinned();
  static char pageable[kSize];
  Built built;
  Load(input, in, work);
  if (right) Finish(work);
  Load(input, pageable, built.first);
  built.End();
  built.Run(work);
  Finish(work);
}

PROGRAM(body_of_a_condition_beside_a_load, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), load = Stream();
  char *const input = Device(), *const result = Device(), *const in = Pinned();
  Condition<1> condition(work);
  condition.Add(ACL_MODEL_RI_COND_TYPE_IF);
  condition.Body(0, [&](aclrtStream inside) { Move(result, input, inside); });
  const aclmdlRI graph = condition.End();
  MUST(aclmdlRIExecuteAsync(graph, work));
  if (right) Order(work, load);
  Load(input, in, load);
  Finish({work, load});
}

// Both bodies write the block, and only one of them runs.
PROGRAM(two_bodies_with_one_result, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), store = Stream();
  char *const one = Device(), *const other = Device(), *const result = Device(), *const out = Pinned();
  Condition<2> condition(work);
  condition.Add(ACL_MODEL_RI_COND_TYPE_IF);
  condition.Body(0, [&](aclrtStream inside) { Move(result, one, inside); });
  condition.Body(1, [&](aclrtStream inside) { Move(result, other, inside); });
  Move(one, result, work);
  const aclmdlRI graph = condition.End();
  for (int step = 0; step < 3; ++step) MUST(aclmdlRIExecuteAsync(graph, work));
  if (right) Order(work, store);
  Store(out, result, store);
  Finish({work, store});
}

PROGRAM(branches_inside_a_body, "RW-GRAPH-001") {
  const aclrtStream work = Stream();
  char *const input = Device(), *const middle = Device(), *const result = Device();
  Condition<1> condition(work);
  condition.Add(ACL_MODEL_RI_COND_TYPE_IF);
  condition.Body(0, [&](aclrtStream inside) {
    const aclrtStream branch = Stream();
    if (!right) Order(inside, branch);
    Move(middle, input, inside);
    if (right) Order(inside, branch);
    Move(result, middle, branch);
    Order(branch, inside);
  });
  const aclmdlRI graph = condition.End();
  MUST(aclmdlRIExecuteAsync(graph, work));
  Finish(work);
}

PROGRAM(variable_of_a_condition_written_meanwhile, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), other = Stream();
  char *const input = Device(), *const result = Device();
  uint64_t* const one = Word();
  Condition<1> condition(work);
  condition.Add(ACL_MODEL_RI_COND_TYPE_IF);
  condition.Body(0, [&](aclrtStream inside) { Move(result, input, inside); });
  uint64_t* const variable = condition.variable;
  const aclmdlRI graph = condition.End();
  MUST(aclmdlRIExecuteAsync(graph, work));
  if (right) Order(work, other);
  Move(variable, one, other, sizeof(*one));
  Finish({work, other});
}

// Either body tells the other stream, which waits for whichever runs.
PROGRAM(bodies_that_both_tell, "RW-GRAPH-001") {
  const aclrtStream work = Stream(), store = Stream();
  char *const one = Device(), *const other = Device(), *const result = Device(), *const out = Pinned();
  const aclrtNotify ready = Notify();
  Condition<2> condition(work);
  condition.Add(ACL_MODEL_RI_COND_TYPE_IF);
  condition.Body(0, [&](aclrtStream inside) {
    if (!right) MUST(aclrtRecordNotify(ready, inside));
    Move(result, one, inside);
    if (right) MUST(aclrtRecordNotify(ready, inside));
  });
  condition.Body(1, [&](aclrtStream inside) {
    Move(result, other, inside);
    MUST(aclrtRecordNotify(ready, inside));
  });
  const aclmdlRI graph = condition.End();
  for (int step = 0; step < 3; ++step) {
    MUST(aclmdlRIExecuteAsync(graph, work));
    MUST(aclrtWaitAndResetNotify(ready, store, 0));
    Store(out, result, store);
    Order(store, work);
  }
  Finish({work, store});
}

}  // namespace corpus
