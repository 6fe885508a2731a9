// What ends a value wait besides its value: abort, forced destruction, device abort and reset. Nothing of the dropped
// work happens, and whoever waited for the stream is let go.
#include <memory>

#include "tests/conformance/runtime/value_word.h"

namespace ropeway_test {
namespace value_wait_end_test {

class ValueWaitEnd : public StreamTest {
 protected:
  // A wait that nobody satisfies, with a mark behind it.
  void Block(aclrtStream stream) {
    ASSERT_EQ(WaitEqual(*word_, 1, stream), ACL_SUCCESS);
    ASSERT_EQ(mark_->Queue(stream), ACL_SUCCESS);
  }
  void SetUp() override {
    StreamTest::SetUp();
    word_ = std::make_unique<Word>();
    mark_ = std::make_unique<Mark>();
  }
  void TearDown() override {
    mark_.reset();
    word_.reset();
    StreamTest::TearDown();
  }
  std::unique_ptr<Word> word_;
  std::unique_ptr<Mark> mark_;
};

TEST_F(ValueWaitEnd, StreamAbort) {
  Block(stream_);
  ExpectHeldUp(stream_);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_FALSE(mark_->HasRun());
  word_->Set(1);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_FALSE(mark_->HasRun()) << "dropped is dropped, also when the value comes";
  ASSERT_EQ(mark_->Queue(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(mark_->HasRun()) << "the stream is usable again";
}

TEST_F(ValueWaitEnd, StreamAbortOfTheDefaultStream) {
  Block(nullptr);
  ExpectHeldUp(nullptr);
  EXPECT_EQ(aclrtStreamAbort(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_FALSE(mark_->HasRun());
}

TEST_F(ValueWaitEnd, AbortOfOneLeavesTheOthersWaiting) {
  TestStream streams[5];
  for (auto& stream : streams) ASSERT_EQ(WaitEqual(*word_, 1, stream.get()), ACL_SUCCESS);
  ExpectHeldUp(streams[2].get());
  ASSERT_EQ(aclrtStreamAbort(streams[2].get()), ACL_SUCCESS);
  EXPECT_EQ(StatusOf(streams[2].get()), ACL_STREAM_STATUS_COMPLETE);
  for (int other : {0, 1, 3, 4}) EXPECT_EQ(StatusOf(streams[other].get()), ACL_STREAM_STATUS_NOT_READY) << other;
  word_->Set(1);
  for (auto& stream : streams) EXPECT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
}

// Whether the waiters are inside their calls when the abort comes is not known; that they leave, and how, is.
TEST_F(ValueWaitEnd, StreamAbortLetsBlockedThreadsGo) {
  TestEvent event(EventKind::kEx);
  Block(stream_);
  ASSERT_EQ(aclrtRecordEvent(event.get(), stream_), ACL_SUCCESS);
  aclError by_stream = kNotCalled, by_event = kNotCalled;
  std::thread one([&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    by_stream = aclrtSynchronizeStream(stream_);
  });
  std::thread two([&] { by_event = aclrtSynchronizeEvent(event.get()); });
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  one.join();
  two.join();
  EXPECT_TRUE(by_stream == ACL_SUCCESS || by_stream == ACL_ERROR_RT_STREAM_ABORT) << by_stream;
  EXPECT_TRUE(by_event == ACL_SUCCESS || by_event == ACL_ERROR_RT_STREAM_ABORT) << by_event;
  EXPECT_FALSE(mark_->HasRun());
}

TEST_F(ValueWaitEnd, DestroyStreamForce) {
  TestStream stream;
  Block(stream.get());
  ExpectHeldUp(stream.get());
  EXPECT_EQ(aclrtDestroyStreamForce(stream.Release()), ACL_SUCCESS);
  word_->Set(1);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_FALSE(mark_->HasRun());
}

TEST_F(ValueWaitEnd, DestroyStreamWaitsForTheValue) {
  TestStream stream;
  Block(stream.get());
  ExpectHeldUp(stream.get());
  std::thread destroyer([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(stream.Release()), ACL_SUCCESS);
    EXPECT_TRUE(mark_->HasRun()) << "the work was not finished";
  });
  word_->Set(1);
  destroyer.join();
}

TEST_F(ValueWaitEnd, DeviceTaskAbort) {
  ForeignContext foreign;
  Block(stream_);
  Block(nullptr);
  foreign.Run([&] { Block(foreign.stream()); });
  ExpectHeldUp(stream_);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
  for (aclrtStream stream : {stream_, aclrtStream{nullptr}, foreign.stream()}) {
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  }
  EXPECT_FALSE(mark_->HasRun());
  ASSERT_EQ(mark_->Queue(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(mark_->HasRun()) << "the streams are usable again";
}

TEST_F(ValueWaitEnd, ContextIsDestroyedUnderAWait) {
  aclrtContext home = nullptr, context = nullptr;
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&home), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  Block(stream);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(home), ACL_SUCCESS);
  EXPECT_FALSE(mark_->HasRun());
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
}

// The word is gone for the program, but not for the wait: it stays where it is until it is aborted.
TEST_F(ValueWaitEnd, WordFreedUnderTheWait) {
  Block(stream_);
  ExpectHeldUp(stream_);
  word_.reset();
  std::vector<std::unique_ptr<Word>> later;
  for (int i = 0; i < 32; ++i) later.push_back(std::make_unique<Word>(1));
  ExpectHeldUp(stream_);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_FALSE(mark_->HasRun());
}

// The value and the abort come at the same time: the wait ends once, and the stream is good for the next round.
TEST_F(ValueWaitEnd, AbortAndReleaseTogether) {
  TestStream writer;
  for (uint64_t round = 1; round <= 50; ++round) {
    ASSERT_EQ(WaitAtLeast(*word_, round, stream_), ACL_SUCCESS);
    std::thread aborter([&] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
    });
    EXPECT_EQ(WriteTo(*word_, round, writer.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(writer.get()), ACL_SUCCESS);
    aborter.join();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
  }
  ASSERT_EQ(mark_->Queue(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(mark_->HasRun());
}

// Both ways to bring a device down.
class ValueWaitReset : public BareTest, public ::testing::WithParamInterface<aclError (*)(int32_t)> {
 protected:
  static void* NewWord() {
    void* word = nullptr;
    const uint64_t zero = 0;
    EXPECT_EQ(aclrtMalloc(&word, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(word, 8, &zero, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    return word;
  }
};

INSTANTIATE_TEST_SUITE_P(Both, ValueWaitReset, ::testing::Values(&aclrtResetDevice, &aclrtResetDeviceForce),
                         [](const auto& row) { return std::string(row.index == 0 ? "Reset" : "Force"); });

TEST_P(ValueWaitReset, DropsAWaitThatNobodySatisfies) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  PinnedBuffer pinned(64);
  std::memset(pinned.get(), 7, 64);
  void* word = NewWord();
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(pinned.get(), 8, word, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
  EXPECT_EQ(GetParam()(0), ACL_SUCCESS);
  EXPECT_EQ(std::vector<uint8_t>(pinned.get(), pinned.get() + 64), std::vector<uint8_t>(64, 7));
}

TEST_P(ValueWaitReset, FinishesWaitsThatQueuedWorkSatisfies) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  PinnedBuffer pinned(8);
  std::memset(pinned.get(), 0, 8);
  void* words[] = {NewWord(), NewWord()};
  aclrtStream waiter = nullptr, between = nullptr, writer = nullptr;
  for (aclrtStream* stream : {&waiter, &between, &writer}) ASSERT_EQ(aclrtCreateStream(stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(words[1], 5, ACL_STREAM_WAIT_VALUE_EQ, waiter), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(pinned.get(), 8, words[1], 8, ACL_MEMCPY_DEVICE_TO_HOST, waiter), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(words[0], 5, ACL_STREAM_WAIT_VALUE_EQ, between), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(words[1], 5, 0, between), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(words[0], 5, 0, writer), ACL_SUCCESS);
  EXPECT_EQ(GetParam()(0), ACL_SUCCESS);
  EXPECT_EQ(pinned.get()[0], 5) << "what could run was dropped";
}

}  // namespace value_wait_end_test
}  // namespace ropeway_test
