// aclrtValueWait: what it checks, and which values satisfy which condition. Who releases a wait is tested in
// ValueWaitRelease_test.cpp, what else ends it in ValueWaitEnd_test.cpp.
#include <memory>

#include "tests/conformance/copy/call_checks.h"
#include "tests/conformance/runtime/value_word.h"

namespace ropeway_test {
namespace value_wait_test {

constexpr uint32_t kGeq = ACL_STREAM_WAIT_VALUE_GEQ;
constexpr uint32_t kEq = ACL_STREAM_WAIT_VALUE_EQ;
constexpr uint32_t kAnd = ACL_STREAM_WAIT_VALUE_AND;
constexpr uint32_t kNor = ACL_STREAM_WAIT_VALUE_NOR;

using ValueWait = StreamTest;

TEST_F(ValueWait, EarlierCheckWins) {
  DeviceBuffer block(64);
  FillToItsEnd(block, std::vector<uint8_t>(kEndOf64));
  // The condition is not met, so a wait that was queued in spite of its refusal would be seen in the query.
  ExpectValueChecks(
      "aclrtValueWait", block, kEq, 4, stream_,
      [](void* address, uint32_t flag, aclrtStream stream) { return aclrtValueWait(address, 1, flag, stream); },
      [](aclrtStream stream) { EXPECT_EQ(StatusOf(stream), ACL_STREAM_STATUS_COMPLETE); });
  ExpectHeldUp(stream_);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
}

TEST_F(ValueWait, OtherFlagsAndBadStreamsAreRejected) {
  Word word;
  bytes::BadStreams bad;
  for (uint32_t flag : {4u, 5u, 0x80000000u, UINT32_MAX}) {
    EXPECT_EQ(aclrtValueWait(word.get(), 1, flag, stream_), ACL_ERROR_RT_PARAM_INVALID) << flag;
  }
  for (const auto& stream : bad.list()) {
    EXPECT_EQ(WaitEqual(word, 1, stream.handle), ACL_ERROR_RT_INVALID_HANDLE) << stream.what;
  }
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(ValueWait, AddressMustBeDeviceMemory) {
  PinnedBuffer pinned(64);
  std::vector<uint64_t> pageable(8, 1), registered(8, 1);
  ASSERT_EQ(aclrtHostRegisterV2(registered.data(), 64, ACL_HOST_REG_PINNED), ACL_SUCCESS);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  auto* nowhere = reinterpret_cast<void*>(uintptr_t{8});
  void* const wrong[] = {pinned.get(), pageable.data(), registered.data(), freed, nowhere};
  for (void* address : wrong) {
    EXPECT_EQ(aclrtValueWait(address, 1, kEq, stream_), ACL_ERROR_RT_PARAM_INVALID) << address;
  }
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(aclrtHostUnregister(registered.data()), ACL_SUCCESS);
}

TEST_F(ValueWait, EightBytesMustLieInTheBlock) {
  DeviceBuffer block(64);
  FillToItsEnd(block, std::vector<uint8_t>(kEndOf64, 0xFF));
  for (size_t short_by = 1; short_by <= 8; ++short_by) {
    void* address = block.at(kEndOf64 - 8 + short_by);
    EXPECT_EQ(aclrtValueWait(address, 0, kEq, stream_), ACL_ERROR_RT_PARAM_INVALID) << short_by;
  }
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(aclrtValueWait(block.at(kEndOf64 - 8), UINT64_MAX, kEq, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

struct Condition {
  uint64_t memory;
  uint64_t value;
  bool met;
};

// Every row: the wait passes, or holds the stream and what is behind it.
void ExpectConditions(uint32_t flag, const std::vector<Condition>& rows, aclrtStream stream) {
  for (const Condition& row : rows) {
    SCOPED_TRACE("flag " + std::to_string(flag) + ", memory " + std::to_string(row.memory) + ", value " + std::to_string(row.value));
    Word word(row.memory);
    Mark mark;
    ASSERT_EQ(aclrtValueWait(word.get(), row.value, flag, stream), ACL_SUCCESS);
    ASSERT_EQ(mark.Queue(stream), ACL_SUCCESS);
    if (row.met) {
      EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    } else {
      ExpectHeldUp(stream);
    }
    EXPECT_EQ(mark.HasRun(), row.met);
    EXPECT_EQ(word.Get(), row.memory) << "a wait writes nothing";
    ASSERT_EQ(aclrtStreamAbort(stream), ACL_SUCCESS);
  }
}

constexpr uint64_t kTop = uint64_t{1} << 63;
constexpr uint64_t kAll = UINT64_MAX;

// The difference counts as a signed number, so that counters may run over.
TEST_F(ValueWait, AtLeastComparesTheSignedDifference) {
  ExpectConditions(kGeq,
                   {{0, 0, true},
                    {5, 5, true},
                    {6, 5, true},
                    {4, 5, false},
                    {0, 1, false},
                    {kAll, kAll, true},
                    {0, kAll, true},      // one past the wrap
                    {3, kAll - 2, true},  // further past it
                    {kAll, 0, false},     // one before it
                    {kTop - 1, 0, true},  // as far ahead as can be
                    {kTop, 0, false},     // half way round counts as behind
                    {0, kTop, false},     // from both sides
                    {0, kTop + 1, true},
                    {kTop, kTop, true},
                    {kTop - 1, kTop, false},
                    {kTop, kTop - 1, true}},
                   stream_);
}

TEST_F(ValueWait, EqualComparesAllBits) {
  ExpectConditions(kEq,
                   {{0, 0, true},
                    {kAll, kAll, true},
                    {0x0123456789ABCDEF, 0x0123456789ABCDEF, true},
                    {1, 0, false},
                    {0, 1, false},
                    {kTop, 0, false},
                    {uint64_t{1} << 32, 0, false},
                    {kAll, kAll ^ (uint64_t{1} << 32), false},
                    {kAll, kAll - 1, false}},
                   stream_);
}

TEST_F(ValueWait, AndWantsOneCommonBit) {
  ExpectConditions(kAnd,
                   {{1, 1, true},
                    {kTop, kTop, true},
                    {kAll, uint64_t{1} << 32, true},
                    {uint64_t{1} << 32, kAll, true},
                    {0xF0, 0x1F, true},
                    {0xF0, 0x0F, false},
                    {0, kAll, false},
                    {kAll, 0, false},
                    {0, 0, false},
                    {kTop, kTop - 1, false}},
                   stream_);
}

TEST_F(ValueWait, NorWantsOneBitThatBothLack) {
  ExpectConditions(kNor,
                   {{0, 0, true},
                    {kAll - 1, 0, true},
                    {kTop - 1, 0, true},
                    {0, kTop - 1, true},
                    {kAll ^ (uint64_t{1} << 32), 1, true},
                    {kAll, 0, false},
                    {0, kAll, false},
                    {kAll, kAll, false},
                    {kTop, kTop - 1, false},
                    {0xFFFFFFFF00000000, 0x00000000FFFFFFFF, false}},
                   stream_);
}

TEST_F(ValueWait, MisalignedAddressWorks) {
  DeviceBuffer block(256);
  for (size_t offset : {1, 4, 7, 60, 63}) {
    SCOPED_TRACE(offset);
    block.Write(std::vector<uint8_t>(256));
    Mark mark;
    ASSERT_EQ(aclrtValueWait(block.at(offset), 0x1122334455667788, kEq, stream_), ACL_SUCCESS);
    ASSERT_EQ(mark.Queue(stream_), ACL_SUCCESS);
    ExpectHeldUp(stream_);
    TestStream other;
    ASSERT_EQ(aclrtValueWrite(block.at(offset), 0x1122334455667788, 0, other.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_TRUE(mark.HasRun());
  }
}

// The word is looked at when the stream comes to the wait, not when the wait is submitted.
TEST_F(ValueWait, ValueIsComparedWhenTheStreamGetsThere) {
  Word word(1);
  Mark mark;
  TestEvent in_front(EventKind::kEx);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(in_front.get(), stream_), ACL_SUCCESS);
  ASSERT_EQ(WaitEqual(word, 1, stream_), ACL_SUCCESS);
  ASSERT_EQ(mark.Queue(stream_), ACL_SUCCESS);
  word.Set(2);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(in_front.get()), ACL_SUCCESS);
  ExpectHeldUp(stream_);
  EXPECT_FALSE(mark.HasRun());
  word.Set(1);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(mark.HasRun());
}

TEST_F(ValueWait, SatisfiedWordFreedUnderAQueuedWaitIsSafe) {
  void* word = nullptr;
  const uint64_t one = 1;
  Mark mark;
  ASSERT_EQ(aclrtMalloc(&word, 8, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(word, 8, &one, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  bytes::HeldStream held(stream_);
  ASSERT_EQ(aclrtValueWait(word, 1, kEq, stream_), ACL_SUCCESS);
  ASSERT_EQ(mark.Queue(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(word), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWait(word, 1, kEq, stream_), ACL_ERROR_RT_PARAM_INVALID) << "gone for every later call";
  std::vector<std::unique_ptr<Word>> later;
  for (int i = 0; i < 32; ++i) later.push_back(std::make_unique<Word>(77));
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_TRUE(mark.HasRun());
}

TEST_F(ValueWait, TextNamesCallArgumentAndValue) {
  Word word;
  bytes::ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtValueWait", "devAddr"}, [&] { return aclrtValueWait(nullptr, 1, kEq, stream_); });
  bytes::ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtValueWait", "flag", "77"},
                    [&] { return aclrtValueWait(word.get(), 1, 77, stream_); });
}

}  // namespace value_wait_test
}  // namespace ropeway_test
