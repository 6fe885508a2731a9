// Collectives between threads: what every call answers, in the order of its checks; storms against a reference; groups; and what ends them.
#include <future>
#include <latch>

#include "hccl_ranks/collective_storm.h"
#include "hccl_ranks/ranks.h"

namespace collectives_test {

using namespace ropeway_test;

// --- Checks -----------------------------------------------------------------------------------------------------------------

// Two ranks, of which only the first calls: all its calls are refused, or have nothing to do.
class CollectiveChecks : public RanksTest {
 protected:
  void SetUp() override {
    RanksTest::SetUp();
    int32_t devices[2] = {0, 1};
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(HcclCommInitAll(2, devices, comms_), HCCL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    in_ = std::make_unique<DeviceBuffer>(64);
    out_ = std::make_unique<DeviceBuffer>(64);
  }
  void TearDown() override {
    in_.reset();
    out_.reset();
    EXPECT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
    for (HcclComm comm : comms_) EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    RanksTest::TearDown();
  }
  void* in() const { return in_->get(); }
  void* out() const { return out_->get(); }

  HcclComm comms_[2] = {};
  aclrtStream stream_ = nullptr;
  std::unique_ptr<DeviceBuffer> in_, out_;
  const HcclDataType bad_type_ = HCCL_DATA_TYPE_FP8E4M3;
  const HcclReduceOp bad_op_ = HCCL_REDUCE_RESERVED;
  static constexpr uint64_t kTooMany = 0x800000000;
};

constexpr auto kType = HCCL_DATA_TYPE_FP32;
constexpr auto kSum = HCCL_REDUCE_SUM;

// In every row everything that is checked later is wrong, too: so the order shows.
TEST_F(CollectiveChecks, AllReduce) {
  HcclComm comm = comms_[0];
  EXPECT_EQ(HcclAllReduce(nullptr, nullptr, 0, bad_type_, bad_op_, nullptr, nullptr), HCCL_SUCCESS);
  EXPECT_EQ(HcclAllReduce(nullptr, nullptr, kTooMany, bad_type_, bad_op_, nullptr, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAllReduce(nullptr, nullptr, kTooMany, bad_type_, bad_op_, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAllReduce(in(), nullptr, kTooMany, bad_type_, bad_op_, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAllReduce(in(), out(), kTooMany, bad_type_, bad_op_, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAllReduce(in(), out(), kTooMany, bad_type_, bad_op_, comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(HcclAllReduce(in(), out(), 1, bad_type_, bad_op_, comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclAllReduce(in(), out(), 1, kType, bad_op_, comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclAllReduce(in(), out(), 1, HCCL_DATA_TYPE_INT16, HCCL_REDUCE_PROD, comm, stream_), HCCL_E_NOT_SUPPORT) << "a 910B";
  EXPECT_EQ(HcclAllReduce(in(), out(), 1, HCCL_DATA_TYPE_BFP16, HCCL_REDUCE_PROD, comm, stream_), HCCL_E_NOT_SUPPORT) << "a 910B";
  EXPECT_EQ(HcclAllReduce(in(), out(), 1000, kType, kSum, comm, stream_), HCCL_E_PARA) << "leaves its block";
  EXPECT_EQ(HcclAllReduce(in(), out(), 1, kType, kSum, in(), stream_), HCCL_E_PARA) << "no communicator";
}

TEST_F(CollectiveChecks, Reduce) {
  HcclComm comm = comms_[0];
  EXPECT_EQ(HcclReduce(nullptr, nullptr, 0, bad_type_, bad_op_, 2, nullptr, nullptr), HCCL_SUCCESS);
  EXPECT_EQ(HcclReduce(nullptr, nullptr, kTooMany, bad_type_, bad_op_, 2, nullptr, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclReduce(in(), nullptr, kTooMany, bad_type_, bad_op_, 2, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclReduce(in(), out(), kTooMany, bad_type_, bad_op_, 2, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclReduce(in(), out(), kTooMany, bad_type_, bad_op_, 2, comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(HcclReduce(in(), out(), 1, bad_type_, bad_op_, 2, comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclReduce(in(), out(), 1, kType, bad_op_, 2, comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclReduce(in(), out(), 1, kType, kSum, 2, comm, stream_), HCCL_E_PARA);
}

TEST_F(CollectiveChecks, ReduceScatter) {
  HcclComm comm = comms_[0];
  EXPECT_EQ(HcclReduceScatter(nullptr, nullptr, 0, bad_type_, bad_op_, nullptr, nullptr), HCCL_SUCCESS);
  EXPECT_EQ(HcclReduceScatter(nullptr, nullptr, kTooMany, bad_type_, bad_op_, nullptr, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclReduceScatter(in(), nullptr, kTooMany, bad_type_, bad_op_, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclReduceScatter(in(), out(), kTooMany, bad_type_, bad_op_, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclReduceScatter(in(), out(), kTooMany, bad_type_, bad_op_, comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(HcclReduceScatter(in(), out(), 1, bad_type_, bad_op_, comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclReduceScatter(in(), out(), 1, kType, bad_op_, comm, stream_), HCCL_E_NOT_SUPPORT);
}

TEST_F(CollectiveChecks, ReduceScatterV) {
  HcclComm comm = comms_[0];
  const uint64_t some[2] = {2, 1}, none[2] = {0, 0}, many[2] = {1, kTooMany}, far[2] = {0, UINT64_MAX / 2};
  const auto call = [&](const uint64_t* counts, const uint64_t* displs, uint64_t count, HcclDataType type, HcclReduceOp op, void* send,
                        void* recv, HcclComm c,
                        aclrtStream s) { return HcclReduceScatterV(send, counts, displs, recv, count, type, op, c, s); };
  EXPECT_EQ(call(some, none, 0, kType, kSum, in(), out(), comm, nullptr), HCCL_E_PTR) << "no shortcut for nothing";
  EXPECT_EQ(call(nullptr, none, kTooMany, bad_type_, bad_op_, nullptr, out(), comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(call(some, nullptr, kTooMany, bad_type_, bad_op_, nullptr, out(), comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(call(some, none, kTooMany, bad_type_, bad_op_, nullptr, out(), nullptr, stream_), HCCL_E_PTR);
  EXPECT_EQ(call(some, none, kTooMany, bad_type_, bad_op_, nullptr, nullptr, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(call(many, none, kTooMany, bad_type_, bad_op_, nullptr, out(), comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(call(many, none, 1, bad_type_, bad_op_, nullptr, out(), comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(call(many, none, 1, kType, bad_op_, nullptr, out(), comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(call(many, none, 1, kType, kSum, nullptr, out(), comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(call(none, none, 7, kType, kSum, nullptr, out(), comm, stream_), HCCL_SUCCESS);
  EXPECT_EQ(call(some, none, 7, kType, kSum, nullptr, out(), comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(call(some, none, 7, kType, kSum, in(), out(), comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(call(some, far, 2, kType, kSum, in(), out(), comm, stream_), HCCL_E_PARA);
}

TEST_F(CollectiveChecks, AllGather) {
  HcclComm comm = comms_[0];
  EXPECT_EQ(HcclAllGather(nullptr, nullptr, 0, bad_type_, nullptr, nullptr), HCCL_SUCCESS);
  EXPECT_EQ(HcclAllGather(in(), out(), kTooMany, bad_type_, nullptr, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAllGather(nullptr, out(), kTooMany, bad_type_, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAllGather(in(), nullptr, kTooMany, bad_type_, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAllGather(in(), out(), kTooMany, bad_type_, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAllGather(in(), out(), kTooMany, bad_type_, comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(HcclAllGather(in(), out(), 1, bad_type_, comm, stream_), HCCL_E_NOT_SUPPORT);
}

TEST_F(CollectiveChecks, AllGatherV) {
  HcclComm comm = comms_[0];
  const uint64_t some[2] = {2, 1}, none[2] = {0, 0}, many[2] = {1, kTooMany};
  EXPECT_EQ(HcclAllGatherV(in(), 2, out(), nullptr, none, kType, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAllGatherV(in(), 2, out(), some, nullptr, kType, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAllGatherV(in(), kTooMany, out(), many, none, bad_type_, nullptr, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAllGatherV(in(), kTooMany, out(), many, none, bad_type_, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAllGatherV(nullptr, kTooMany, out(), many, none, bad_type_, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAllGatherV(in(), kTooMany, nullptr, many, none, bad_type_, comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(HcclAllGatherV(in(), 1, nullptr, many, none, bad_type_, comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclAllGatherV(in(), 1, nullptr, many, none, kType, comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(HcclAllGatherV(in(), 7, nullptr, none, none, kType, comm, stream_), HCCL_SUCCESS);
  EXPECT_EQ(HcclAllGatherV(in(), 7, nullptr, some, none, kType, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAllGatherV(in(), 7, out(), some, none, kType, comm, stream_), HCCL_E_PARA);
}

TEST_F(CollectiveChecks, BroadcastAndScatter) {
  HcclComm comm = comms_[0];
  EXPECT_EQ(HcclBroadcast(nullptr, 0, bad_type_, 2, nullptr, nullptr), HCCL_SUCCESS);
  EXPECT_EQ(HcclBroadcast(in(), kTooMany, bad_type_, 2, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclBroadcast(in(), kTooMany, bad_type_, 2, nullptr, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclBroadcast(nullptr, kTooMany, bad_type_, 2, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclBroadcast(in(), kTooMany, bad_type_, 2, comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(HcclBroadcast(in(), 1, bad_type_, 2, comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclBroadcast(in(), 1, kType, 2, comm, stream_), HCCL_E_PARA);

  EXPECT_EQ(HcclScatter(nullptr, nullptr, 0, bad_type_, 2, nullptr, nullptr), HCCL_SUCCESS);
  EXPECT_EQ(HcclScatter(in(), out(), kTooMany, bad_type_, 2, nullptr, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclScatter(in(), nullptr, kTooMany, bad_type_, 2, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclScatter(in(), out(), kTooMany, bad_type_, 2, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclScatter(nullptr, out(), kTooMany, bad_type_, 0, comm, stream_), HCCL_E_PTR) << "the root sends";
  EXPECT_EQ(HcclScatter(nullptr, out(), kTooMany, bad_type_, 1, comm, stream_), HCCL_E_PARA) << "another one does not";
  EXPECT_EQ(HcclScatter(nullptr, out(), 1, bad_type_, 2, comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclScatter(nullptr, out(), 1, kType, 2, comm, stream_), HCCL_E_PARA);
}

TEST_F(CollectiveChecks, AlltoAll) {
  HcclComm comm = comms_[0];
  EXPECT_EQ(HcclAlltoAll(nullptr, 0, bad_type_, nullptr, 0, kType, nullptr, nullptr), HCCL_SUCCESS);
  EXPECT_EQ(HcclAlltoAll(nullptr, 1, bad_type_, out(), 2, kType, nullptr, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAll(in(), 1, bad_type_, nullptr, 2, kType, nullptr, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAll(in(), 1, bad_type_, out(), 2, bad_type_, nullptr, nullptr), HCCL_E_PARA);
  EXPECT_EQ(HcclAlltoAll(in(), 1, bad_type_, out(), 1, kType, nullptr, nullptr), HCCL_E_PARA);
  EXPECT_EQ(HcclAlltoAll(in(), kTooMany, bad_type_, in(), kTooMany, bad_type_, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAll(in(), kTooMany, bad_type_, in(), kTooMany, bad_type_, nullptr, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAll(in(), 1, bad_type_, in(), 1, bad_type_, comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(HcclAlltoAll(in(), kTooMany, bad_type_, out(), kTooMany, bad_type_, comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(HcclAlltoAll(in(), 1, bad_type_, out(), 1, bad_type_, comm, stream_), HCCL_E_NOT_SUPPORT);
}

TEST_F(CollectiveChecks, AlltoAllV) {
  HcclComm comm = comms_[0];
  const uint64_t some[2] = {1, 1}, none[2] = {0, 0}, many[2] = {1, kTooMany};
  const auto call = [&](const void* send, const uint64_t* out_counts, const void* recv, const uint64_t* in_counts, HcclDataType send_type,
                        HcclDataType recv_type) {
    return HcclAlltoAllV(send, out_counts, some, send_type, recv, in_counts, some, recv_type, comm, stream_);
  };
  EXPECT_EQ(call(in(), nullptr, in(), many, bad_type_, bad_type_), HCCL_E_PTR);
  EXPECT_EQ(call(in(), many, in(), nullptr, bad_type_, bad_type_), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAllV(in(), many, nullptr, kType, in(), many, some, kType, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAllV(in(), many, some, kType, in(), many, nullptr, kType, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAllV(in(), many, some, kType, in(), many, some, kType, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAllV(in(), many, some, kType, in(), many, some, kType, nullptr, stream_), HCCL_E_PTR);
  EXPECT_EQ(call(in(), some, in(), some, bad_type_, bad_type_), HCCL_E_PARA);
  EXPECT_EQ(call(nullptr, many, nullptr, none, bad_type_, bad_type_), HCCL_E_PARA);
  EXPECT_EQ(call(nullptr, none, nullptr, many, bad_type_, bad_type_), HCCL_E_PARA);
  EXPECT_EQ(call(nullptr, some, out(), none, bad_type_, bad_type_), HCCL_E_PTR);
  EXPECT_EQ(call(in(), some, nullptr, some, bad_type_, bad_type_), HCCL_E_PTR);
  EXPECT_EQ(call(in(), some, out(), some, bad_type_, kType), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(call(in(), some, out(), some, kType, bad_type_), HCCL_E_NOT_SUPPORT);
}

TEST_F(CollectiveChecks, AlltoAllVC) {
  HcclComm comm = comms_[0];
  const uint64_t some[4] = {1, 1, 1, 1}, none[4] = {}, many[4] = {1, kTooMany, 0, 0};
  EXPECT_EQ(HcclAlltoAllVC(nullptr, nullptr, bad_type_, nullptr, bad_type_, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAllVC(nullptr, many, bad_type_, nullptr, bad_type_, nullptr, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAllVC(nullptr, many, bad_type_, nullptr, bad_type_, comm, nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAllVC(nullptr, many, bad_type_, nullptr, bad_type_, comm, stream_), HCCL_E_PARA);
  EXPECT_EQ(HcclAlltoAllVC(nullptr, some, bad_type_, out(), bad_type_, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAllVC(in(), some, bad_type_, nullptr, bad_type_, comm, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAlltoAllVC(nullptr, none, bad_type_, nullptr, kType, comm, stream_), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclAlltoAllVC(nullptr, none, kType, nullptr, bad_type_, comm, stream_), HCCL_E_NOT_SUPPORT);
}

// --- Results ----------------------------------------------------------------------------------------------------------------

class Collectives : public RanksTest {};

uint32_t StormCalls(uint32_t plain, uint32_t sanitized) {
  const uint32_t calls = static_cast<uint32_t>(Large(plain, sanitized));
  return std::getenv("RW_LONG") != nullptr ? calls * 50 : calls;
}

TEST_F(Collectives, StormsAreBitEqualToTheirPlans) {
  for (const uint32_t size : {2u, 3u, 5u, 8u}) {
    RunCommunicator(
        size, [size](Rank& self) { EXPECT_EQ(RunStorm(size, StormCalls(36, 12), 1 << 19, self.rank, size, self.comm, self.stream), ""); });
  }
}

// More ranks than speak with each other directly.
TEST_F(Collectives, StormOfRingsAndTrees) {
  RunCommunicator(11, [](Rank& self) { EXPECT_EQ(RunStorm(7, StormCalls(18, 6), 1 << 16, self.rank, 11, self.comm, self.stream), ""); });
}

// So much that several lanes reduce it, with parts of unequal size, of elements of every width, and again in the same place.
TEST_F(Collectives, LanesShareLargeReductions) {
  RunCommunicator(3, [](Rank& self) {
    constexpr size_t kBytes = 9 << 20;
    DeviceBuffer memory(kBytes);
    for (const HcclDataType type : {HCCL_DATA_TYPE_INT8, HCCL_DATA_TYPE_INT16, HCCL_DATA_TYPE_INT32, HCCL_DATA_TYPE_INT64}) {
      const size_t element = type == HCCL_DATA_TYPE_INT8 ? 1 : type == HCCL_DATA_TYPE_INT16 ? 2 : type == HCCL_DATA_TYPE_INT32 ? 4 : 8;
      const size_t size = kBytes - 5 * element;
      std::vector<uint8_t> mine(size, 0), expected(size, 0);
      for (size_t i = 0; i < size; i += element) {
        mine[i] = static_cast<uint8_t>(i / element % 28 + self.rank);
        expected[i] = static_cast<uint8_t>(3 * (3 * (i / element % 28) + 3));
      }
      memory.Write(mine);
      for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(HcclAllReduce(memory.get(), memory.get(), size / element, type, HCCL_REDUCE_SUM, self.comm, self.stream), HCCL_SUCCESS)
            << aclGetRecentErrMsg();
      }
      ASSERT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
      EXPECT_TRUE(memory.Read(size) == expected) << "elements of " << element;
    }
  });
}

TEST_F(Collectives, OneRankAloneHasItAll) {
  RunCommunicator(1, [](Rank& self) { EXPECT_EQ(RunStorm(3, 60, 1 << 17, self.rank, 1, self.comm, self.stream), ""); });
}

// A rank whose bytes are on their way is done, and may leave before the others have begun.
TEST_F(Collectives, ARankMayLeaveBeforeTheOthersBegin) {
  HcclRootInfo root;
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  std::latch queued(1), left(1);
  RunRanks(2, [&](uint32_t rank) {
    HcclComm comm = nullptr;
    aclrtStream stream = nullptr;
    ASSERT_EQ(HcclCommInitRootInfo(2, &root, rank, &comm), HCCL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    DeviceBuffer block(1024), sum(1024);
    block.Write(std::vector<uint8_t>(1024, rank == 0 ? 7 : 5));
    const auto wait = [](void* latch) { static_cast<std::latch*>(latch)->wait(); };
    if (rank == 1) ASSERT_EQ(aclrtLaunchHostFunc(stream, wait, &left), ACL_SUCCESS);
    ASSERT_EQ(HcclReduce(block.get(), sum.get(), 1024, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_SUM, 1, comm, stream), HCCL_SUCCESS);
    if (rank == 1) queued.count_down();
    if (rank == 0) queued.wait();
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << aclGetRecentErrMsg();
    if (rank == 1) EXPECT_EQ(sum.Read(1024), std::vector<uint8_t>(1024, 12));
    EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
    if (rank == 0) left.count_down();
    EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  });
}

class NetworkCollectives : public NetworkRanksTest {};
TEST_P(NetworkCollectives, StormOverTheLink) {
  RunCommunicator(3, [](Rank& self) { EXPECT_EQ(RunStorm(5, StormCalls(24, 12), 1 << 18, self.rank, 3, self.comm, self.stream), ""); });
}
RW_OVER_EVERY_LINK(NetworkCollectives);

// --- Groups -----------------------------------------------------------------------------------------------------------------

TEST_F(Collectives, GroupsOpenAndClose) {
  bool open = true;
  EXPECT_EQ(HcclGroupStatusGet(nullptr), HCCL_E_PTR);
  EXPECT_EQ(HcclGroupStatusGet(&open), HCCL_SUCCESS);
  EXPECT_FALSE(open);
  EXPECT_EQ(HcclGroupEnd(), HCCL_E_NOT_SUPPORT);
  EXPECT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  EXPECT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  EXPECT_EQ(HcclGroupEnd(), HCCL_SUCCESS);
  EXPECT_EQ(HcclGroupStatusGet(&open), HCCL_SUCCESS);
  EXPECT_TRUE(open);
  std::thread([] {
    bool other = true;
    EXPECT_EQ(HcclGroupStatusGet(&other), HCCL_SUCCESS);
    EXPECT_FALSE(other) << "a group belongs to its thread";
  }).join();
  EXPECT_EQ(HcclGroupEnd(), HCCL_SUCCESS);
  EXPECT_EQ(HcclGroupEnd(), HCCL_E_NOT_SUPPORT);
}

// Every rank first receives, then sends: one by one they would wait for ever.
TEST_F(Collectives, SendsAndReceivesOfAGroupDoNotWaitForEachOther) {
  RunCommunicator(3, [](Rank& self) {
    constexpr size_t kSize = 100'000;
    DeviceBuffer out(kSize), in(kSize), from_itself(kSize);
    const uint32_t right = (self.rank + 1) % 3, left = (self.rank + 2) % 3;
    out.Write(std::vector<uint8_t>(kSize, static_cast<uint8_t>(10 + self.rank)));
    ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
    ASSERT_EQ(HcclRecv(in.get(), kSize, HCCL_DATA_TYPE_UINT8, left, self.comm, self.stream), HCCL_SUCCESS);
    ASSERT_EQ(HcclRecv(from_itself.get(), kSize, HCCL_DATA_TYPE_UINT8, self.rank, self.comm, self.stream), HCCL_SUCCESS);
    ASSERT_EQ(HcclSend(out.get(), kSize, HCCL_DATA_TYPE_UINT8, right, self.comm, self.stream), HCCL_SUCCESS);
    ASSERT_EQ(HcclSend(out.get(), kSize, HCCL_DATA_TYPE_UINT8, self.rank, self.comm, self.stream), HCCL_SUCCESS);
    ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(in.Read(kSize), std::vector<uint8_t>(kSize, static_cast<uint8_t>(10 + left)));
    EXPECT_EQ(from_itself.Read(kSize), std::vector<uint8_t>(kSize, static_cast<uint8_t>(10 + self.rank)));
  });
}

// One thread drives all ranks, each on its device: the calls keep the contexts that they were made in.
TEST_F(Collectives, OneThreadCallsForAllRanksInAGroup) {
  constexpr uint32_t kRanks = 4;
  constexpr size_t kElements = 30'000;
  int32_t devices[kRanks] = {0, 1, 2, 3};
  HcclComm comms[kRanks];
  aclrtStream streams[kRanks];
  std::vector<std::unique_ptr<DeviceBuffer>> buffers;
  ASSERT_EQ(HcclCommInitAll(kRanks, devices, comms), HCCL_SUCCESS) << aclGetRecentErrMsg();
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    ASSERT_EQ(aclrtSetDevice(devices[rank]), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&streams[rank]), ACL_SUCCESS);
    buffers.push_back(std::make_unique<DeviceBuffer>(kElements));
    buffers[rank]->Write(std::vector<uint8_t>(kElements, static_cast<uint8_t>(1 << rank)));
  }
  ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    ASSERT_EQ(aclrtSetDevice(devices[rank]), ACL_SUCCESS);
    void* const buffer = buffers[rank]->get();
    ASSERT_EQ(HcclAllReduce(buffer, buffer, kElements, HCCL_DATA_TYPE_UINT8, kSum, comms[rank], streams[rank]), HCCL_SUCCESS);
    ASSERT_EQ(HcclBroadcast(buffer, 1, HCCL_DATA_TYPE_UINT8, 2, comms[rank], streams[rank]), HCCL_SUCCESS);
  }
  ASSERT_EQ(HcclGroupEnd(), HCCL_SUCCESS) << aclGetRecentErrMsg();
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    ASSERT_EQ(aclrtSetDevice(devices[rank]), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(streams[rank]), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(buffers[rank]->Read(kElements), std::vector<uint8_t>(kElements, 15));
    ASSERT_EQ(aclrtDestroyStream(streams[rank]), ACL_SUCCESS);
    buffers[rank].reset();
  }
  for (HcclComm comm : comms) EXPECT_EQ(HcclCommDestroy(comm), HCCL_SUCCESS);
}

// What is wrong behind the null checks comes out at the end, and then nothing of the group has begun.
TEST_F(CollectiveChecks, AGroupWithAWrongCallBeginsNothing) {
  HcclComm comm = comms_[0];
  ASSERT_EQ(HcclGroupStart(), HCCL_SUCCESS);
  EXPECT_EQ(HcclAllReduce(in(), out(), 1, kType, kSum, nullptr, stream_), HCCL_E_PTR);
  EXPECT_EQ(HcclAllReduce(in(), out(), 1, kType, kSum, comm, stream_), HCCL_SUCCESS);
  EXPECT_EQ(HcclAllReduce(in(), out(), kTooMany, kType, kSum, comm, stream_), HCCL_SUCCESS);
  EXPECT_EQ(HcclGroupEnd(), HCCL_E_PARA);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "nobody waits for the other rank";
  EXPECT_EQ(HcclGroupEnd(), HCCL_E_NOT_SUPPORT) << "the group is over";
}

// --- Ends -------------------------------------------------------------------------------------------------------------------

// Sends beside a collective count for themselves: the ranks may come to them in any order.
TEST_F(Collectives, SendsCrossACollectiveOnAnotherStream) {
  RunCommunicator(2, [](Rank& self) {
    constexpr size_t kSize = 50'000;
    DeviceBuffer message(kSize), value(kSize);
    message.Write(std::vector<uint8_t>(kSize, static_cast<uint8_t>(self.rank + 1)));
    value.Write(std::vector<uint8_t>(kSize, 2));
    aclrtStream other = nullptr;
    ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
    const auto reduce = [&] {
      ASSERT_EQ(HcclAllReduce(value.get(), value.get(), kSize, HCCL_DATA_TYPE_INT8, HCCL_REDUCE_PROD, self.comm, other), HCCL_SUCCESS);
    };
    if (self.rank == 0) {
      ASSERT_EQ(HcclSend(message.get(), kSize, HCCL_DATA_TYPE_INT8, 1, self.comm, self.stream), HCCL_SUCCESS);
      reduce();
    } else {
      reduce();
      ASSERT_EQ(HcclRecv(message.get(), kSize, HCCL_DATA_TYPE_INT8, 0, self.comm, self.stream), HCCL_SUCCESS);
    }
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(message.Read(kSize), std::vector<uint8_t>(kSize, 1));
    EXPECT_EQ(value.Read(kSize), std::vector<uint8_t>(kSize, 4));
    EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  });
}

// Counts that differ are an error of everybody, and nobody waits for ever.
TEST_F(Collectives, RanksThatDoNotAgreeFail) {
  for (const size_t count : {100u, 50'000u}) {
    RunCommunicator(3, [count](Rank& self) {
      DeviceBuffer buffer(count + 64);
      const size_t mine = self.rank == 1 ? count + 64 : count;
      ASSERT_EQ(HcclAllReduce(buffer.get(), buffer.get(), mine, HCCL_DATA_TYPE_INT8, kSum, self.comm, self.stream), HCCL_SUCCESS);
      const aclError code = aclrtSynchronizeStream(self.stream);
      EXPECT_TRUE(code == 507057 || code == 507899) << code;
      HcclResult error = HCCL_SUCCESS;
      EXPECT_EQ(HcclGetCommAsyncError(self.comm, &error), HCCL_SUCCESS);
      EXPECT_NE(error, HCCL_SUCCESS);
    });
  }
}

// A rank that gives its stream up before its part has begun takes the others out of the collective, also those that come later.
TEST_F(Collectives, AnAbortedStreamEndsTheCollectiveForAll) {
  for (const size_t count : {100u, 100'000u}) {
    std::promise<void> aborted;
    const std::shared_future<void> given_up = aborted.get_future().share();
    RunCommunicator(3, [&](Rank& self) {
      DeviceBuffer buffer(count);
      aclrtNotify never = nullptr;
      ASSERT_EQ(aclrtCreateNotify(&never, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
      if (self.rank != 2) given_up.wait();
      if (self.rank == 2) ASSERT_EQ(aclrtWaitAndResetNotify(never, self.stream, 0), ACL_SUCCESS);
      ASSERT_EQ(HcclAllReduce(buffer.get(), buffer.get(), count, HCCL_DATA_TYPE_INT8, kSum, self.comm, self.stream), HCCL_SUCCESS);
      if (self.rank == 2) {
        EXPECT_EQ(aclrtStreamAbort(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
        aborted.set_value();
      } else {
        EXPECT_EQ(aclrtSynchronizeStream(self.stream), 507057);
      }
      EXPECT_EQ(aclrtDestroyNotify(never), ACL_SUCCESS);
    });
  }
}

}  // namespace collectives_test
