// Who releases a value wait: every way of writing device memory, from streams and from host threads. And whom a wait
// holds up: its own stream, nobody else.
#include <memory>

#include "tests/conformance/copy/call_checks.h"
#include "tests/conformance/runtime/value_word.h"

namespace ropeway_test {
namespace value_wait_release_test {

constexpr uint64_t kReleased = 0x0101010101010101;  // what a memset with 1 makes of a word

using ValueWaitRelease = StreamTest;

// A stream of its own for every test that needs more than one.
std::vector<std::unique_ptr<TestStream>> MakeStreams(size_t count) {
  std::vector<std::unique_ptr<TestStream>> streams;
  for (size_t i = 0; i < count; ++i) streams.push_back(std::make_unique<TestStream>());
  return streams;
}

TEST_F(ValueWaitRelease, ByWhateverWritesTheWord) {
  TestStream other_stream;
  aclrtStream other = other_stream.get();
  PinnedBuffer pinned(8);
  std::memset(pinned.get(), 1, 8);
  DeviceBuffer source(8);
  source.Write(std::vector<uint8_t>(8, 1));
  uint64_t pageable = kReleased;
  struct Row {
    const char* what;
    Callable<aclError(void*)> write;
  };
  const Row rows[] = {
      {"value write of another stream", [&](void* w) { return aclrtValueWrite(w, kReleased, 0, other); }},
      {"value write of the default stream", [&](void* w) { return aclrtValueWrite(w, kReleased, 0, nullptr); }},
      {"copy from pinned memory by another stream",
       [&](void* w) { return aclrtMemcpyAsync(w, 8, pinned.get(), 8, ACL_MEMCPY_HOST_TO_DEVICE, other); }},
      {"copy from pageable memory by another stream",
       [&](void* w) { return aclrtMemcpyAsync(w, 8, &pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE, other); }},
      {"copy on the device by another stream",
       [&](void* w) { return aclrtMemcpyAsync(w, 8, source.get(), 8, ACL_MEMCPY_DEVICE_TO_DEVICE, other); }},
      {"memset of another stream", [&](void* w) { return aclrtMemsetAsync(w, 8, 1, 8, other); }},
      {"memset of words of another stream", [&](void* w) { return aclrtMemsetD32Async(w, 8, 0x01010101, 2, other); }},
      {"copy by the host", [&](void* w) { return aclrtMemcpy(w, 8, &pageable, 8, ACL_MEMCPY_HOST_TO_DEVICE); }},
      {"copy on the device by the host", [&](void* w) { return aclrtMemcpy(w, 8, source.get(), 8, ACL_MEMCPY_DEVICE_TO_DEVICE); }},
      {"memset by the host", [&](void* w) { return aclrtMemset(w, 8, 1, 8); }},
      {"memset of words by the host", [&](void* w) { return aclrtMemsetD32(w, 8, 0x01010101, 2); }},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    Word word;
    Mark mark;
    ASSERT_EQ(WaitEqual(word, kReleased, stream_), ACL_SUCCESS);
    ASSERT_EQ(mark.Queue(stream_), ACL_SUCCESS);
    ExpectHeldUp(stream_);
    EXPECT_FALSE(mark.HasRun());
    ASSERT_EQ(row.write(word.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_TRUE(mark.HasRun());
  }
}

TEST_F(ValueWaitRelease, ByAValueThatIsThereAlready) {
  Word word(kReleased);
  int count = 0;
  for (int i = 0; i < 100; ++i) ASSERT_EQ(WaitEqual(word, kReleased, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(ValueWaitRelease, ByAnEarlierWriteOfTheSameStream) {
  Word word;
  for (uint64_t i = 1; i <= 100; ++i) {
    ASSERT_EQ(WriteTo(word, i, stream_), ACL_SUCCESS);
    ASSERT_EQ(WaitEqual(word, i, stream_), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(ValueWaitRelease, DefaultStreamWaitsLikeAnyOther) {
  Word word;
  Mark mark;
  ASSERT_EQ(WaitEqual(word, 1, nullptr), ACL_SUCCESS);
  ASSERT_EQ(mark.Queue(nullptr), ACL_SUCCESS);
  ExpectHeldUp(nullptr);
  ASSERT_EQ(WriteTo(word, 1, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(mark.HasRun());
}

// Whether the thread is inside its call when the word changes is not known; that it comes out is.
TEST_F(ValueWaitRelease, ThreadInsideSynchroniseComesOut) {
  for (uint64_t round = 1; round <= 20; ++round) {
    Word word;
    ASSERT_EQ(WaitEqual(word, round, stream_), ACL_SUCCESS);
    std::thread waiter([&] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    });
    word.Set(round);
    waiter.join();
  }
}

TEST_F(ValueWaitRelease, IsSeenByPolling) {
  Word word;
  Mark mark;
  ASSERT_EQ(WaitEqual(word, 1, stream_), ACL_SUCCESS);
  ASSERT_EQ(mark.Queue(stream_), ACL_SUCCESS);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  word.Set(1);
  while (StatusOf(stream_) != ACL_STREAM_STATUS_COMPLETE) std::this_thread::yield();
  EXPECT_TRUE(mark.HasRun());
}

TEST_F(ValueWaitRelease, EventBehindTheWaitHoldsOthersUpToo) {
  Word word;
  Mark mark;
  TestStream follower;
  TestEvent event(EventKind::kEx);
  ASSERT_EQ(WaitEqual(word, 1, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(follower.get(), event.get()), ACL_SUCCESS);
  ASSERT_EQ(mark.Queue(follower.get()), ACL_SUCCESS);
  ExpectHeldUp(follower.get());
  EXPECT_EQ(RecordedStatus(event.get()), ACL_EVENT_RECORDED_STATUS_NOT_READY);
  word.Set(1);
  EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(follower.get()), ACL_SUCCESS);
  EXPECT_TRUE(mark.HasRun());
}

TEST_F(ValueWaitRelease, OtherStreamsAndTheHostGoOnMeanwhile) {
  Word word;
  TestStream other;
  DeviceBuffer block(64);
  PinnedBuffer pinned(64);
  bytes::Fill(pinned, Pattern(64, 1));
  int count = 0;
  ASSERT_EQ(WaitEqual(word, 1, stream_), ACL_SUCCESS);
  ExpectHeldUp(stream_);
  for (aclrtStream stream : {other.get(), aclrtStream{nullptr}}) {
    block.Write(std::vector<uint8_t>(64));
    ASSERT_EQ(aclrtMemcpyAsync(block.get(), 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(stream, &CountUp, &count), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(block.Read(64), Pattern(64, 1));
  }
  EXPECT_EQ(count, 2);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << "the device waits for all";
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  word.Set(1);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(ValueWaitRelease, OneWriteReleasesFiftyStreams) {
  constexpr size_t kStreams = 50;
  Word word;
  DeviceBuffer marks(kStreams);
  marks.Write(std::vector<uint8_t>(kStreams, 1));
  auto streams = MakeStreams(kStreams);
  for (size_t i = 0; i < kStreams; ++i) {
    ASSERT_EQ(WaitEqual(word, 1, streams[i]->get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(marks.at(i), 1, 9, 1, streams[i]->get()), ACL_SUCCESS);
  }
  ExpectHeldUp(streams[kStreams / 2]->get());
  for (const auto& stream : streams) EXPECT_EQ(StatusOf(stream->get()), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(marks.Read(kStreams), std::vector<uint8_t>(kStreams, 1));
  ASSERT_EQ(WriteTo(word, 1, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(marks.Read(kStreams), std::vector<uint8_t>(kStreams, 9));
}

TEST_F(ValueWaitRelease, EachValueReleasesTheStreamsItSatisfies) {
  constexpr uint64_t kStreams = 10;
  Word word;
  auto streams = MakeStreams(kStreams);
  for (uint64_t i = 0; i < kStreams; ++i) ASSERT_EQ(WaitAtLeast(word, i + 1, streams[i]->get()), ACL_SUCCESS);
  for (uint64_t reached : {3, 4, 9, 10}) {
    SCOPED_TRACE(reached);
    ASSERT_EQ(WriteTo(word, reached, stream_), ACL_SUCCESS);
    for (uint64_t i = 0; i < kStreams; ++i) {
      if (i < reached) {
        EXPECT_EQ(aclrtSynchronizeStream(streams[i]->get()), ACL_SUCCESS) << i;
      } else {
        EXPECT_EQ(StatusOf(streams[i]->get()), ACL_STREAM_STATUS_NOT_READY) << i;
      }
    }
  }
}

// Each stream passes the turn on; the one whose turn comes last was submitted first.
TEST_F(ValueWaitRelease, ChainRunsFromTheLastStreamToTheFirst) {
  constexpr size_t kStreams = 20;
  auto streams = MakeStreams(kStreams);
  std::vector<std::unique_ptr<Word>> words;
  for (size_t i = 0; i <= kStreams; ++i) words.push_back(std::make_unique<Word>());
  for (size_t i = 0; i < kStreams; ++i) {
    ASSERT_EQ(WaitEqual(*words[i + 1], i + 1, streams[i]->get()), ACL_SUCCESS);
    ASSERT_EQ(WriteTo(*words[i], i, streams[i]->get()), ACL_SUCCESS);
  }
  words[0]->Set(77);
  ExpectHeldUp(streams[0]->get());
  ASSERT_EQ(WriteTo(*words[kStreams], kStreams, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(streams[0]->get()), ACL_SUCCESS);
  EXPECT_EQ(words[0]->Get(), 0u);
}

// Two streams play ball: one puts a number on the table, the other takes a copy and says so.
TEST_F(ValueWaitRelease, PingPong) {
  constexpr size_t kRounds = 100;
  TestStream other;
  Word ping, pong, table;
  DeviceBuffer numbers(kRounds * 8), taken(kRounds * 8);
  const auto sent = Pattern(kRounds * 8, 2);
  numbers.Write(sent);
  taken.Write(std::vector<uint8_t>(kRounds * 8));
  auto copy = [](void* dst, void* src, aclrtStream stream) {
    return aclrtMemcpyAsync(dst, 8, src, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
  };
  for (size_t i = 0; i < kRounds; ++i) {
    ASSERT_EQ(copy(table.get(), numbers.at(i * 8), stream_), ACL_SUCCESS);
    ASSERT_EQ(WriteTo(ping, i + 1, stream_), ACL_SUCCESS);
    ASSERT_EQ(WaitAtLeast(pong, i + 1, stream_), ACL_SUCCESS);
    ASSERT_EQ(WaitAtLeast(ping, i + 1, other.get()), ACL_SUCCESS);
    ASSERT_EQ(copy(taken.at(i * 8), table.get(), other.get()), ACL_SUCCESS);
    ASSERT_EQ(WriteTo(pong, i + 1, other.get()), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other.get()), ACL_SUCCESS);
  EXPECT_EQ(taken.Read(kRounds * 8), sent);
}

}  // namespace value_wait_release_test
}  // namespace ropeway_test
