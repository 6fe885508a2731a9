// hccl::Stream: what it makes, what it wraps, and who destroys what.
#include "dispatcher_test_util.h"

namespace hccl_stream_class_test {

using namespace dispatcher_test;
using hccl::Stream;
using hccl::StreamType;

class HcclStreamClass : public ropeway_test::StreamTest {
 protected:
  static uint64_t LiveStreams() {
    ropewayLiveCounts counts;
    EXPECT_EQ(ropewayGetLiveCounts(&counts), ACL_SUCCESS);
    return counts.streams;
  }
};

void ExpectEmpty(Stream& stream) {
  EXPECT_EQ(stream.ptr(), nullptr);
  EXPECT_EQ(stream.stream_, nullptr);
  EXPECT_EQ(stream.id(), 0);
  EXPECT_FALSE(stream);
}

TEST_F(HcclStreamClass, Empty) {
  Stream stream;
  ExpectEmpty(stream);
  EXPECT_TRUE(stream.IsMainStream());
  EXPECT_FALSE(stream.IsInvalid());
}

TEST_F(HcclStreamClass, ItsTypeDecidesTheFlags) {
  const struct {
    StreamType type;
    uint32_t flags;
  } rows[] = {{StreamType::STREAM_TYPE_ONLINE, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC},
              {StreamType::STREAM_TYPE_DEVICE, ACL_STREAM_DEVICE_USE_ONLY},
              {StreamType::STREAM_TYPE_OFFLINE, ACL_STREAM_PERSISTENT},
              {StreamType::STREAM_TYPE_RESERVED, ACL_STREAM_PERSISTENT}};
  for (const auto& row : rows) {
    Stream stream(row.type);
    ASSERT_TRUE(stream) << static_cast<int>(row.type);
    EXPECT_FALSE(stream.IsMainStream());
    uint32_t flags = 0;
    EXPECT_EQ(aclrtStreamGetFlags(stream.ptr(), &flags), ACL_SUCCESS);
    EXPECT_EQ(flags, row.flags);
    int32_t id = -1;
    EXPECT_EQ(aclrtStreamGetId(stream.ptr(), &id), ACL_SUCCESS);
    EXPECT_EQ(stream.id(), id);
  }
  EXPECT_EQ(LiveStreams(), 1u);
}

TEST_F(HcclStreamClass, WithoutAContextItIsEmpty) {
  ropeway_test::bytes::OnFreshThread([] {
    Stream stream(StreamType::STREAM_TYPE_ONLINE);
    ExpectEmpty(stream);
    EXPECT_FALSE(stream.IsMainStream());
  });
}

TEST_F(HcclStreamClass, WrappingDoesNotOwn) {
  {
    Stream stream(stream_);
    EXPECT_EQ(stream.ptr(), stream_);
    EXPECT_TRUE(stream.IsMainStream());
    Stream sub(stream_, false);
    EXPECT_FALSE(sub.IsMainStream());
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(HcclStreamClass, WhatIsNoStreamIsNotWrapped) {
  ropeway_test::bytes::BadStreams bad;
  for (const auto& entry : bad.list()) {
    Stream stream(entry.handle);
    SCOPED_TRACE(entry.what);
    ExpectEmpty(stream);
  }
  Stream none(static_cast<rtStream_t>(nullptr));
  ExpectEmpty(none);
  TakeErrorText();
}

TEST_F(HcclStreamClass, ADeviceSideStreamHasNumbersOnly) {
  const HcclComStreamInfo info{7, 8, 1024, nullptr, 9};
  Stream stream(info);
  EXPECT_EQ(stream.ptr(), nullptr);
  EXPECT_EQ(stream.id(), 7);
  EXPECT_EQ(stream.sqId(), 8u);
  EXPECT_EQ(stream.logicCqId(), 9u);
  EXPECT_FALSE(stream.IsMainStream());
}

TEST_F(HcclStreamClass, CopiesNeverOwn) {
  auto owner = std::make_unique<Stream>(StreamType::STREAM_TYPE_ONLINE);
  void* const handle = owner->ptr();
  {
    Stream copy(*owner);
    Stream assigned;
    assigned = *owner;
    EXPECT_EQ(copy.ptr(), handle);
    EXPECT_EQ(assigned.ptr(), handle);
    EXPECT_EQ(copy.id(), owner->id());
  }
  EXPECT_EQ(aclrtSynchronizeStream(handle), ACL_SUCCESS);
  owner.reset();
  EXPECT_NE(aclrtSynchronizeStream(handle), ACL_SUCCESS);
}

TEST_F(HcclStreamClass, MovesTakeTheDutyAlong) {
  Stream first(StreamType::STREAM_TYPE_ONLINE);
  void* const handle = first.ptr();
  {
    Stream second(std::move(first));
    ExpectEmpty(first);
    EXPECT_EQ(second.ptr(), handle);
    Stream third;
    const Stream returned = (third = std::move(second));
    ExpectEmpty(second);
    EXPECT_EQ(returned.ptr(), handle);
    EXPECT_FALSE(third.IsInvalid());
    EXPECT_EQ(LiveStreams(), 2u);
  }
  EXPECT_EQ(LiveStreams(), 1u);
}

TEST_F(HcclStreamClass, AssignmentDoesNotDestroyWhatWasOwned) {
  Stream stream(StreamType::STREAM_TYPE_ONLINE);
  void* const leaked = stream.ptr();
  stream = Stream(stream_);
  EXPECT_EQ(stream.ptr(), stream_);
  EXPECT_EQ(aclrtDestroyStream(leaked), ACL_SUCCESS) << "still there";
}

// rules/hccl-copy.md 6.
TEST_F(HcclStreamClass, TheEndOfAnyCopyIsSeenByAll) {
  Stream stream(stream_);
  {
    Stream copy(stream);
    EXPECT_FALSE(stream.IsInvalid());
  }
  EXPECT_TRUE(stream.IsInvalid());
}

TEST_F(HcclStreamClass, TheOwnersEndSwitchesToItsContextAndBack) {
  aclrtContext home = nullptr;
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&home), ACL_SUCCESS);
  auto stream = std::make_unique<Stream>(StreamType::STREAM_TYPE_ONLINE);
  ASSERT_EQ(aclrtCreateContext(&other, 0), ACL_SUCCESS);
  stream.reset();
  aclrtContext now = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&now), ACL_SUCCESS);
  EXPECT_EQ(now, other);
  EXPECT_EQ(LiveStreams(), 1u);
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(home), ACL_SUCCESS);
}

TEST_F(HcclStreamClass, ModeIsTheRuntimesFailureMode) {
  Stream stream(StreamType::STREAM_TYPE_ONLINE);
  uint64_t mode = 9;
  EXPECT_EQ(stream.GetMode(nullptr), HCCL_E_PTR);
  EXPECT_EQ(stream.GetMode(&mode), HCCL_SUCCESS);
  EXPECT_EQ(mode, ACL_CONTINUE_ON_FAILURE);
  EXPECT_EQ(stream.SetMode(ACL_STOP_ON_FAILURE), HCCL_SUCCESS);
  EXPECT_EQ(stream.GetMode(&mode), HCCL_SUCCESS);
  EXPECT_EQ(mode, ACL_STOP_ON_FAILURE);
  EXPECT_EQ(stream.SetMode(ACL_CONTINUE_ON_FAILURE), HCCL_E_INTERNAL) << "cannot be taken back";
  TakeErrorText();
}

TEST_F(HcclStreamClass, NotesGoWithAssignmentsAndMovesButNotWithCopies) {
  Stream stream(stream_);
  hccl::TaskLogicInfo note{&note, 1, nullptr, 1};
  stream.PushTaskLogicInfo(note);
  note.count = 2;
  stream.PushTaskLogicInfo(note);
  Stream copy(stream);
  EXPECT_EQ(copy.PopTaskLogicInfo(note), HCCL_E_NOT_FOUND);
  Stream assigned;
  assigned = stream;
  EXPECT_EQ(assigned.PopTaskLogicInfo(note), HCCL_SUCCESS);
  EXPECT_EQ(note.count, 1u) << "the oldest first";
  Stream moved(std::move(stream));
  EXPECT_EQ(moved.PopTaskLogicInfo(note), HCCL_SUCCESS);
  EXPECT_EQ(moved.PopTaskLogicInfo(note), HCCL_SUCCESS);
  EXPECT_EQ(note.count, 2u);
  EXPECT_EQ(moved.PopTaskLogicInfo(note), HCCL_E_NOT_FOUND);
}

}  // namespace hccl_stream_class_test
