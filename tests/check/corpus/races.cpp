// Streams that use the same bytes: events on the wrong side, too early, too late, or missing.
#include "tests/check/corpus/program.h"

namespace corpus {

// A pool hands a block out again when its store was submitted, not when it is over.
PROGRAM(blocks_reused_before_the_store_ended, "RW-RACE-002") {
  const aclrtStream load = Stream(), store = Stream();
  char *const block = Device(), *const in = Pinned(), *const out = Pinned(8 * kSize);
  for (int request = 0; request < 8; ++request) {
    if (right && request > 0) Order(store, load);
    Load(block, in, load);
    Order(load, store);
    Store(out + request * kSize, block, store);
  }
  Finish({load, store});
}

// A staging buffer gets the next tokens while the DMA of the last ones still reads it.
PROGRAM(source_overwritten_before_its_copy_ended, "RW-RACE-002") {
  const aclrtStream up = Stream(), down = Stream();
  char *const staging = Pinned(), *const tokens = Device(), *const next = Device();
  Load(tokens, staging, up);
  if (right) Order(up, down);
  Store(staging, next, down);
  Finish({up, down});
}

PROGRAM(event_recorded_on_the_wrong_stream, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtEvent loaded = Event();
  Load(block, in, load);
  Record(loaded, right ? load : work);
  Wait(work, loaded);
  Move(result, block, work);
  Finish({load, work});
}

PROGRAM(event_recorded_in_front_of_the_writer, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtEvent loaded = Event();
  if (!right) Record(loaded, load);
  Load(block, in, load);
  if (right) Record(loaded, load);
  Wait(work, loaded);
  Move(result, block, work);
  Finish({load, work});
}

PROGRAM(wait_queued_behind_the_reader, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtEvent loaded = Event();
  Load(block, in, load);
  Record(loaded, load);
  if (right) Wait(work, loaded);
  Move(result, block, work);
  if (!right) Wait(work, loaded);
  Finish({load, work});
}

PROGRAM(wait_on_the_wrong_stream, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream(), third = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtEvent loaded = Event();
  Load(block, in, load);
  Record(loaded, load);
  Wait(right ? work : third, loaded);
  Move(result, block, work);
  Finish({load, work, third});
}

// Of the events of a ring, the one of the neighbour.
PROGRAM(wait_for_the_neighbours_event, "RW-RACE-001") {
  const aclrtStream load = Stream(), other = Stream(), work = Stream();
  char *const block = Device(), *const beside = Device(), *const result = Device(), *const in = Pinned();
  const aclrtEvent events[] = {Event(), Event()};
  Load(block, in, load);
  Record(events[0], load);
  Load(beside, in, other);
  Record(events[1], other);
  Wait(work, events[right ? 0 : 1]);
  Move(result, block, work);
  Finish({load, other, work});
}

PROGRAM(default_stream_is_no_barrier, "RW-RACE-001") {
  const aclrtStream work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  Load(block, in, nullptr);
  if (right) Order(nullptr, work);
  Move(result, block, work);
  Finish({nullptr, work});
}

PROGRAM(default_stream_overwrites, "RW-RACE-002") {
  const aclrtStream store = Stream();
  char *const block = Device(), *const in = Pinned(), *const out = Pinned();
  Store(out, block, store);
  if (right) Finish(store);
  Load(block, in, nullptr);
  Finish({nullptr, store});
}

PROGRAM(priority_is_no_order, "RW-RACE-001") {
  aclrtStream first = nullptr, second = nullptr;
  MUST(aclrtCreateStreamWithConfig(&first, 0, ACL_STREAM_FAST_LAUNCH));
  MUST(aclrtCreateStreamWithConfig(&second, 7, ACL_STREAM_FAST_LAUNCH));
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  Load(block, in, first);
  Move(result, block, right ? first : second);
  Finish({first, second});
}

// a before b before c; the reader behind c relies on b, and waits for a.
PROGRAM(chain_with_a_link_left_out, "RW-RACE-001") {
  const aclrtStream a = Stream(), b = Stream(), c = Stream();
  char *const first = Device(), *const second = Device(), *const third = Device(), *const in = Pinned();
  Load(first, in, a);
  Order(a, b);
  Move(second, first, b);
  Order(right ? b : a, c);
  Move(third, second, c);
  Finish({a, b, c});
}

// Two buffers and two streams: the way back is missing.
PROGRAM(ping_pong_without_the_way_back, "RW-RACE-002") {
  const aclrtStream copy = Stream(), work = Stream();
  char *const buffers[] = {Device(), Device()}, *const in = Pinned(), *const result = Device();
  const aclrtEvent filled[] = {Event(), Event()}, used[] = {Event(), Event()};
  for (int step = 0; step < 6; ++step) {
    const int half = step % 2;
    if (right && step >= 2) Wait(copy, used[half]);
    Load(buffers[half], in, copy);
    Record(filled[half], copy);
    Wait(work, filled[half]);
    Move(result, buffers[half], work);
    Record(used[half], work);
  }
  Finish({copy, work});
}

// Parts of one block on two streams, which meet in one byte.
PROGRAM(halves_that_overlap_by_a_byte, "RW-RACE-003") {
  const aclrtStream one = Stream(), other = Stream();
  char *const block = Device(), *const in = Pinned();
  const size_t half = kSize / 2;
  Load(block, in, one, right ? half : half + 1);
  Load(block + half, in + half, other, half);
  Finish({one, other});
}

PROGRAM(zeros_that_come_late, "RW-RACE-003") {
  const aclrtStream clear = Stream(), load = Stream();
  char *const block = Device(), *const in = Pinned();
  MUST(aclrtMemsetAsync(block, kSize, 0, kSize, clear));
  if (right) Order(clear, load);
  Load(block, in, load);
  Finish({clear, load});
}

PROGRAM(words_set_while_the_store_reads, "RW-RACE-002") {
  const aclrtStream store = Stream(), clear = Stream();
  char *const block = Device(), *const out = Pinned();
  Store(out, block, store);
  if (right) Order(store, clear);
  MUST(aclrtMemsetD32Async(block, kSize, 7, kSize / 4, clear));
  Finish({store, clear});
}

// Every second column on its own stream: rows lie between each other without touching.
PROGRAM(columns_that_overlap, "RW-RACE-003") {
  const aclrtStream even = Stream(), odd = Stream();
  char *const block = Device(), *const in = Pinned();
  const size_t pitch = 256, width = 128, rows = kSize / pitch;
  MUST(aclrtMemcpy2dAsync(block, pitch, in, pitch, right ? width : width + 1, rows, ACL_MEMCPY_HOST_TO_DEVICE, even));
  MUST(aclrtMemcpy2dAsync(block + width, pitch, in + width, pitch, width, rows, ACL_MEMCPY_HOST_TO_DEVICE, odd));
  Finish({even, odd});
}

PROGRAM(last_row_read_too_early, "RW-RACE-001") {
  const aclrtStream load = Stream(), store = Stream();
  char *const block = Device(), *const in = Pinned(), *const out = Pinned();
  const size_t pitch = 512, width = 384, rows = kSize / pitch;
  MUST(aclrtMemcpy2dAsync(block, pitch, in, width, width, rows, ACL_MEMCPY_HOST_TO_DEVICE, load));
  // Behind every row there is room that nobody loads.
  Store(out, block + (rows - 1) * pitch + (right ? width : 0), store, pitch - width);
  Finish({load, store});
}

PROGRAM(rows_overwritten_while_read, "RW-RACE-002") {
  const aclrtStream store = Stream(), load = Stream();
  char *const block = Device(), *const in = Pinned(), *const out = Pinned();
  const size_t pitch = 512, width = 384, rows = kSize / pitch;
  MUST(aclrtMemcpy2dAsync(out, width, block, pitch, width, rows, ACL_MEMCPY_DEVICE_TO_HOST, store));
  if (right) Order(store, load);
  Load(block + 3 * pitch, in, load, 64);
  Finish({store, load});
}

PROGRAM(sums_of_two_streams_in_one_place, "RW-RACE-003") {
  const aclrtStream one = Stream(), other = Stream();
  char *const sum = Device(), *const first = Device(), *const second = Device();
  MUST(aclrtReduceAsync(sum, first, kSize, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, one, nullptr));
  if (right) Order(one, other);
  MUST(aclrtReduceAsync(sum, second, kSize, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_FLOAT, other, nullptr));
  Finish({one, other});
}

PROGRAM(summand_that_is_still_loaded, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const sum = Device(), *const summand = Device(), *const in = Pinned();
  Load(summand, in, load);
  if (right) Order(load, work);
  MUST(aclrtReduceAsync(sum, summand, kSize, ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, ACL_INT32, work, nullptr));
  Finish({load, work});
}

PROGRAM(two_results_in_one_pinned_buffer, "RW-RACE-003") {
  const aclrtStream one = Stream(), other = Stream();
  char *const first = Device(), *const second = Device(), *const out = Pinned(2 * kSize);
  Store(out, first, one);
  Store(right ? out + kSize : out, second, other);
  Finish({one, other});
}

// Readers of one block need no order among each other; the writer needs to wait for all of them.
PROGRAM(waits_for_one_of_two_readers, "RW-RACE-002") {
  const aclrtStream one = Stream(), other = Stream(), load = Stream();
  char *const block = Device(), *const in = Pinned(), *const out = Pinned(2 * kSize);
  Store(out, block, one);
  Store(out + kSize, block, other);
  Order(one, load);
  if (right) Order(other, load);
  Load(block, in, load);
  Finish({one, other, load});
}

PROGRAM(copied_with_condition, "RW-RACE-001") {
  const aclrtStream load = Stream(), store = Stream();
  char *const block = Device(), *const in = Pinned(), *const out = Pinned();
  MUST(aclrtMemcpyAsyncWithCondition(block, kSize, in, kSize, ACL_MEMCPY_HOST_TO_DEVICE, load));
  if (right) Order(load, store);
  MUST(aclrtMemcpyAsyncWithCondition(out, kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST, store));
  Finish({load, store});
}

// The direction by the addresses, from registered memory.
PROGRAM(registered_buffer_filled_while_sent, "RW-RACE-002") {
  const aclrtStream up = Stream(), down = Stream();
  alignas(4096) static char memory[kSize];
  MUST(aclrtHostRegisterV2(memory, kSize, ACL_HOST_REG_PINNED));
  char *const to = Device(), *const from = Device();
  MUST(aclrtMemcpyAsync(to, kSize, memory, kSize, ACL_MEMCPY_DEFAULT, up));
  if (right) Finish(up);
  MUST(aclrtMemcpyAsync(memory, kSize, from, kSize, ACL_MEMCPY_DEFAULT, down));
  Finish({up, down});
  MUST(aclrtHostUnregister(memory));
}

// A synchronise orders what comes later on every stream, if it is the right one's.
PROGRAM(host_waits_for_the_wrong_stream, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream(), idle = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  Load(block, in, load);
  Finish(right ? load : idle);
  Move(result, block, work);
  Finish({load, work});
}

PROGRAM(host_waits_for_an_earlier_event, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtEvent loaded = Event();
  Load(block, in, load, kSize / 2);
  if (!right) Record(loaded, load);
  Load(block + kSize / 2, in, load, kSize / 2);
  if (right) Record(loaded, load);
  MUST(aclrtSynchronizeEvent(loaded));
  Move(result, block, work);
  Finish({load, work});
}

}  // namespace corpus
