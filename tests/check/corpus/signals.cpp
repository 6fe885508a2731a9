// Events of all kinds, notifies and words: which record a wait is tied to, and waits that nobody releases.
#include "tests/check/corpus/program.h"

namespace corpus {
namespace {

void RecordNotify(aclrtNotify notify, aclrtStream stream) { MUST(aclrtRecordNotify(notify, stream)); }
void WaitNotify(aclrtStream stream, aclrtNotify notify) { MUST(aclrtWaitAndResetNotify(notify, stream, 0)); }
void WriteWord(uint64_t* word, uint64_t value, aclrtStream stream) { MUST(aclrtValueWrite(word, value, 0, stream)); }
void WaitWord(aclrtStream stream, uint64_t* word, uint64_t value, uint32_t condition = ACL_STREAM_WAIT_VALUE_GEQ) {
  MUST(aclrtValueWait(word, value, condition, stream));
}

}  // namespace

// The wait comes first. A classic event stands for a record that comes later, an Ex event does not.
PROGRAM(wait_for_a_record_that_comes_later, "RW-EVENT-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtEvent loaded = right ? Flag() : Event();
  Wait(work, loaded);
  if (right) Move(result, block, work);
  Load(block, in, load);
  Record(loaded, load);
  Finish({load, work});
}

PROGRAM(event_of_another_slot_waited_for, "RW-EVENT-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const in = Pinned();
  const aclrtEvent slots[] = {Event(), Event()};
  Load(block, in, load);
  Record(slots[0], load);
  Wait(work, slots[right ? 0 : 1]);
  Finish({load, work});
}

// Behind the end of a capture its events are unrecorded.
PROGRAM(captured_record_waited_for_outside, "RW-EVENT-001") {
  const aclrtStream stream = Stream(), work = Stream();
  char *const block = Device(), *const in = Pinned();
  const aclrtEvent loaded = Event();
  MUST(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  Load(block, in, stream);
  Record(loaded, stream);
  aclmdlRI graph = nullptr;
  MUST(aclmdlRICaptureEnd(stream, &graph));
  MUST(aclmdlRIExecuteAsync(graph, stream));
  if (right) Record(loaded, stream);
  Wait(work, loaded);
  Finish({stream, work});
}

PROGRAM(one_event_for_two_producers, "RW-EVENT-002") {
  const aclrtStream one = Stream(), other = Stream(), work = Stream();
  char *const first = Device(), *const second = Device(), *const in = Pinned();
  const aclrtEvent shared = Event(), own = right ? Event() : shared;
  Load(first, in, one);
  Record(shared, one);
  Load(second, in, other);
  Record(own, other);
  Wait(work, shared);
  if (right) Wait(work, own);
  Finish({one, other, work});
}

// In a loop an event may be recorded again: its waiter was queued before.
PROGRAM(event_recorded_again_before_its_wait, "RW-EVENT-002") {
  const aclrtStream streams[] = {Stream(), Stream()}, work = Stream();
  char *const blocks[] = {Device(), Device()}, *const in = Pinned();
  const aclrtEvent loaded = Event();
  for (int round = 0; round < 2; ++round) {
    Load(blocks[round], in, streams[round]);
    Record(loaded, streams[round]);
    if (right) Wait(work, loaded);
  }
  if (!right) Wait(work, loaded);
  Finish({streams[0], streams[1], work});
}

PROGRAM(default_event_on_the_wrong_stream, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  aclrtEvent loaded = nullptr;
  MUST(aclrtCreateEvent(&loaded));
  Load(block, in, load);
  Record(loaded, right ? load : work);
  Wait(work, loaded);
  Move(result, block, work);
  Finish({load, work});
}

// The flag of a classic event stays set: the second round walks through.
PROGRAM(flag_not_reset_between_rounds, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const blocks[] = {Device(), Device()}, *const result = Device(), *const in = Pinned();
  const aclrtEvent loaded = Flag();
  for (char* const block : blocks) {
    Load(block, in, load);
    Record(loaded, load);
    Wait(work, loaded);
    if (right) {
      MUST(aclrtResetEvent(loaded, work));
      Order(work, load);
    }
    Move(result, block, work);
  }
  Finish({load, work});
}

PROGRAM(classic_event_recorded_too_early, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtEvent loaded = Flag();
  if (!right) Record(loaded, load);
  Load(block, in, load);
  if (right) Record(loaded, load);
  Wait(work, loaded);
  Move(result, block, work);
  Finish({load, work});
}

PROGRAM(notify_recorded_in_front_of_the_copy, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtNotify loaded = Notify();
  if (!right) RecordNotify(loaded, load);
  Load(block, in, load);
  if (right) RecordNotify(loaded, load);
  WaitNotify(work, loaded);
  Move(result, block, work);
  Finish({load, work});
}

// The wait may be submitted first: a notify is a bit.
PROGRAM(notify_waited_for_on_another_stream, "RW-RACE-002") {
  const aclrtStream load = Stream(), work = Stream(), third = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtNotify loaded = Notify();
  WaitNotify(right ? work : third, loaded);
  Move(result, block, work);
  Load(block, in, load);
  RecordNotify(loaded, load);
  Finish({load, work, third});
}

PROGRAM(notify_for_one_way_only, "RW-RACE-002") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtNotify filled = Notify(), used = Notify();
  Load(block, in, load);
  RecordNotify(filled, load);
  WaitNotify(work, filled);
  Move(result, block, work);
  RecordNotify(used, work);
  if (right) WaitNotify(load, used);
  Load(block, in, load);
  Finish({load, work});
}

PROGRAM(word_written_in_front_of_the_copy, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  uint64_t* const ready = Word();
  if (!right) WriteWord(ready, 1, load);
  Load(block, in, load);
  if (right) WriteWord(ready, 1, load);
  WaitWord(work, ready, 1);
  Move(result, block, work);
  Finish({load, work});
}

// The second round waits for a number that the first one wrote.
PROGRAM(word_of_the_last_round, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const blocks[] = {Device(), Device()}, *const result = Device(), *const in = Pinned();
  uint64_t* const rounds = Word();
  for (uint64_t round = 1; round <= 2; ++round) {
    Load(blocks[round - 1], in, load);
    WriteWord(rounds, round, load);
    WaitWord(work, rounds, right ? round : 1);
    Move(result, blocks[round - 1], work);
  }
  Finish({load, work});
}

// The reader sets the word back, so that the next round waits anew.
PROGRAM(word_not_set_back_between_rounds, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const blocks[] = {Device(), Device()}, *const result = Device(), *const in = Pinned();
  uint64_t* const ready = Word();
  for (char* const block : blocks) {
    Load(block, in, load);
    WriteWord(ready, 1, load);
    WaitWord(work, ready, 1, ACL_STREAM_WAIT_VALUE_EQ);
    if (right) {
      WriteWord(ready, 0, work);
      Order(work, load);
    }
    Move(result, block, work);
  }
  Finish({load, work});
}

PROGRAM(word_beside_the_right_one, "RW-RACE-001") {
  const aclrtStream load = Stream(), other = Stream(), work = Stream();
  char *const block = Device(), *const beside = Device(), *const result = Device(), *const in = Pinned();
  uint64_t* const words = Word();
  Load(block, in, load);
  WriteWord(words, 1, load);
  Load(beside, in, other);
  WriteWord(words + 1, 1, other);
  WaitWord(work, words + (right ? 0 : 1), 1, ACL_STREAM_WAIT_VALUE_EQ);
  Move(result, block, work);
  Finish({load, other, work});
}

PROGRAM(bit_of_another_producer, "RW-RACE-001") {
  const aclrtStream load = Stream(), other = Stream(), work = Stream();
  char *const block = Device(), *const beside = Device(), *const result = Device(), *const in = Pinned();
  uint64_t* const word = Word();
  Load(beside, in, other);
  WriteWord(word, 1, other);
  Order(other, load);
  Load(block, in, load);
  WriteWord(word, 3, load);
  WaitWord(work, word, right ? 2 : 1, ACL_STREAM_WAIT_VALUE_AND);
  Move(result, block, work);
  Finish({load, other, work});
}

PROGRAM(record_submitted_behind_the_synchronise, "RW-HANG-001") {
  const aclrtStream load = Stream(), work = Stream();
  const aclrtEvent loaded = Flag();
  Wait(work, loaded);
  if (right) Record(loaded, load);
  Finish(work);
  if (!right) Record(loaded, load);
}

PROGRAM(notify_taken_twice_and_recorded_once, "RW-HANG-001") {
  const aclrtStream load = Stream(), work = Stream();
  const aclrtNotify first = Notify(), second = right ? Notify() : first;
  RecordNotify(first, load);
  if (right) RecordNotify(second, load);
  WaitNotify(work, first);
  WaitNotify(work, second);
  Finish({load, work});
}

PROGRAM(streams_that_wait_for_each_other, "RW-HANG-001") {
  const aclrtStream one = Stream(), other = Stream();
  const aclrtNotify first = Notify(), second = Notify();
  if (right) RecordNotify(second, one);
  WaitNotify(one, first);
  if (!right) RecordNotify(second, one);
  WaitNotify(other, second);
  RecordNotify(first, other);
  Finish({one, other});
}

// Not only streams are waited for.
PROGRAM(event_behind_a_wait_for_nobody, "RW-HANG-001") {
  const aclrtStream load = Stream(), work = Stream();
  const aclrtEvent over = Event();
  const aclrtNotify ready = Notify();
  WaitNotify(work, ready);
  Record(over, work);
  if (right) RecordNotify(ready, load);
  MUST(aclrtSynchronizeEvent(over));
}

PROGRAM(device_with_a_wait_for_nobody, "RW-HANG-001") {
  const aclrtStream load = Stream(), work = Stream();
  const aclrtNotify ready = Notify();
  WaitNotify(work, ready);
  if (right) RecordNotify(ready, load);
  MUST(aclrtSynchronizeDevice());
}

PROGRAM(stream_destroyed_at_a_wait_for_nobody, "RW-HANG-001") {
  const aclrtStream load = Stream(), work = Stream();
  const aclrtNotify ready = Notify();
  WaitNotify(work, ready);
  if (right) RecordNotify(ready, load);
  MUST(aclrtDestroyStream(work));
}

PROGRAM(pageable_copy_behind_a_wait_for_nobody, "RW-HANG-001") {
  const aclrtStream load = Stream(), work = Stream();
  char* const block = Device();
  static char pageable[kSize];
  const aclrtNotify ready = Notify();
  WaitNotify(work, ready);
  if (right) RecordNotify(ready, load);
  Load(block, pageable, work);
}

PROGRAM(word_that_never_gets_there, "RW-HANG-001") {
  const aclrtStream load = Stream(), work = Stream();
  uint64_t* const rounds = Word();
  WriteWord(rounds, right ? 2 : 1, load);
  WaitWord(work, rounds, 2);
  Finish({load, work});
}

}  // namespace corpus
