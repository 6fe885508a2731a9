// Sends and receives between threads: pairing, order, ring exchanges, sizes on both sides of every method, and what
// ends them.
#include <numeric>
#include <optional>

#include "hccl_ranks/ranks.h"

namespace send_recv_test {

using namespace ropeway_test;

class SendRecv : public RanksTest {};

std::vector<uint8_t> Pattern(size_t size, uint32_t seed) {
  std::vector<uint8_t> bytes(size);
  uint32_t state = seed * 2654435761u + 1;
  for (uint8_t& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return bytes;
}

TEST_F(SendRecv, BytesArriveAtEverySize) {
  for (const size_t size : {1u, 100u, 16384u, 16385u, (1u << 20) + 3}) {
    RunCommunicator(2, [size](Rank& self) {
      DeviceBuffer buffer(size);
      if (self.rank == 0) {
        buffer.Write(Pattern(size, 7));
        EXPECT_EQ(HcclSend(buffer.get(), size, HCCL_DATA_TYPE_UINT8, 1, self.comm, self.stream), HCCL_SUCCESS) << aclGetRecentErrMsg();
      } else {
        EXPECT_EQ(HcclRecv(buffer.get(), size, HCCL_DATA_TYPE_UINT8, 0, self.comm, self.stream), HCCL_SUCCESS) << aclGetRecentErrMsg();
      }
      EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
      EXPECT_EQ(buffer.Read(size), Pattern(size, 7));
    });
  }
}

TEST_F(SendRecv, MessagesMeetInTheOrderOfTheCalls) {
  constexpr uint32_t kMessages = 40;
  constexpr size_t kSize = 20000;  // some small, some large
  RunCommunicator(2, [&](Rank& self) {
    std::vector<std::unique_ptr<DeviceBuffer>> buffers;
    for (uint32_t i = 0; i < kMessages; ++i) {
      const size_t size = i % 3 == 0 ? kSize : 64 + i;
      buffers.push_back(std::make_unique<DeviceBuffer>(kSize));
      if (self.rank == 0) {
        buffers[i]->Write(Pattern(size, i));
        ASSERT_EQ(HcclSend(buffers[i]->get(), size, HCCL_DATA_TYPE_INT8, 1, self.comm, self.stream), HCCL_SUCCESS);
      } else {
        ASSERT_EQ(HcclRecv(buffers[i]->get(), size, HCCL_DATA_TYPE_INT8, 0, self.comm, self.stream), HCCL_SUCCESS);
      }
    }
    ASSERT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
    for (uint32_t i = 0; i < kMessages; ++i) {
      const size_t size = i % 3 == 0 ? kSize : 64 + i;
      EXPECT_EQ(buffers[i]->Read(size), Pattern(size, i)) << "message " << i;
    }
  });
}

// An error stays with its stream unless the program asked for something else, also behind a receive that the engine
// copied.
TEST_F(SendRecv, ReceivesLeaveTheContextsFailureModeAlone) {
  RunCommunicator(2, [](Rank& self) {
    constexpr size_t kSize = 20000;
    DeviceBuffer buffer(kSize);
    const HcclSendRecvType way = self.rank == 0 ? HCCL_SEND : HCCL_RECV;
    HcclSendRecvItem item{way, buffer.get(), kSize, HCCL_DATA_TYPE_UINT8, 1 - self.rank};
    ASSERT_EQ(HcclBatchSendRecv(&item, 1, self.comm, self.stream), HCCL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
    const auto fail = [](void*, ropewayOperation operation) { ropewayFinishOperation(operation, 507899, "on purpose"); };
    ASSERT_EQ(ropewayLaunchOperation(
                  fail, [](void*, int32_t) {}, nullptr, self.stream),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), 507899);
    EXPECT_EQ(aclrtMemsetAsync(buffer.get(), kSize, 1, kSize, self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS) << aclGetRecentErrMsg();
  });
}

// Everybody sends to the right and receives from the left in one call: no order of the items can make it hang.
TEST_F(SendRecv, RingExchangesDoNotHang) {
  for (const uint32_t ranks : {2u, 3u, 8u}) {
    RunCommunicator(ranks, [](Rank& self) {
      constexpr size_t kSize = 100000;
      DeviceBuffer out(kSize), in(kSize);
      const uint32_t right = (self.rank + 1) % self.size, left = (self.rank + self.size - 1) % self.size;
      for (uint32_t round = 0; round < 4; ++round) {
        out.Write(Pattern(kSize, self.rank * 100 + round));
        HcclSendRecvItem items[2] = {{HCCL_RECV, in.get(), kSize, HCCL_DATA_TYPE_UINT8, left},
                                     {HCCL_SEND, out.get(), kSize, HCCL_DATA_TYPE_UINT8, right}};
        if (self.rank % 2 == 0) std::swap(items[0], items[1]);
        ASSERT_EQ(HcclBatchSendRecv(items, 2, self.comm, self.stream), HCCL_SUCCESS) << aclGetRecentErrMsg();
        ASSERT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
        EXPECT_EQ(in.Read(kSize), Pattern(kSize, left * 100 + round));
      }
    });
  }
}

// Items of a rank to itself meet in their order, beside those that go to others, and wait for what the stream had
// before.
TEST_F(SendRecv, ABatchCopiesWhatTheRankSendsToItself) {
  RunCommunicator(2, [](Rank& self) {
    constexpr size_t kSize = 40000;
    DeviceBuffer first(kSize), second(kSize), in_first(kSize), in_second(kSize), in_other(kSize);
    const uint32_t other = 1 - self.rank;
    HcclSendRecvItem items[] = {{HCCL_RECV, in_first.get(), kSize, HCCL_DATA_TYPE_UINT8, self.rank},
                                {HCCL_SEND, first.get(), kSize, HCCL_DATA_TYPE_UINT8, other},
                                {HCCL_SEND, first.get(), kSize, HCCL_DATA_TYPE_UINT8, self.rank},
                                {HCCL_RECV, in_other.get(), kSize, HCCL_DATA_TYPE_UINT8, other},
                                {HCCL_SEND, second.get(), kSize / 4, HCCL_DATA_TYPE_FP32, self.rank},
                                {HCCL_RECV, in_second.get(), kSize / 4, HCCL_DATA_TYPE_FP32, self.rank}};
    PinnedBuffer source(kSize);
    const std::vector<uint8_t> bytes = Pattern(kSize, self.rank);
    std::memcpy(source.get(), bytes.data(), kSize);
    StreamGate gate;
    ASSERT_EQ(gate.Close(self.stream), ACL_SUCCESS);
    for (DeviceBuffer* out : {&first, &second})
      ASSERT_EQ(aclrtMemcpyAsync(out->get(), kSize, source.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, self.stream), ACL_SUCCESS);
    ASSERT_EQ(HcclBatchSendRecv(items, 6, self.comm, self.stream), HCCL_SUCCESS) << aclGetRecentErrMsg();
    gate.Open();
    ASSERT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(in_first.Read(kSize), bytes);
    EXPECT_EQ(in_second.Read(kSize), bytes);
    EXPECT_EQ(in_other.Read(kSize), Pattern(kSize, other));
  });
}

// The send's stream waits for the receive, and nothing else does.
TEST_F(SendRecv, SendWaitsForItsReceive) {
  StreamGate gate;
  RunCommunicator(2, [&](Rank& self) {
    DeviceBuffer buffer(64);
    if (self.rank == 0) {
      ASSERT_EQ(HcclSend(buffer.get(), 64, HCCL_DATA_TYPE_UINT8, 1, self.comm, self.stream), HCCL_SUCCESS);
      aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
      EXPECT_EQ(aclrtStreamQuery(self.stream, &status), ACL_SUCCESS);
      EXPECT_TRUE(status == ACL_STREAM_STATUS_NOT_READY);
      gate.Open();
    } else {
      ASSERT_EQ(gate.Close(self.stream), ACL_SUCCESS);
      ASSERT_EQ(HcclRecv(buffer.get(), 64, HCCL_DATA_TYPE_UINT8, 0, self.comm, self.stream), HCCL_SUCCESS);
    }
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << aclGetRecentErrMsg();
  });
}

TEST_F(SendRecv, DifferentSizesFailBothStreams) {
  RunCommunicator(2, [](Rank& self) {
    DeviceBuffer buffer(4096);
    if (self.rank == 0) {
      ASSERT_EQ(HcclSend(buffer.get(), 100, HCCL_DATA_TYPE_UINT8, 1, self.comm, self.stream), HCCL_SUCCESS);
    } else {
      ASSERT_EQ(HcclRecv(buffer.get(), 101, HCCL_DATA_TYPE_UINT8, 0, self.comm, self.stream), HCCL_SUCCESS);
    }
    EXPECT_NE(aclrtSynchronizeStream(self.stream), ACL_SUCCESS);
    EXPECT_THAT(aclGetRecentErrMsg(), testing::HasSubstr("count and type must be the same"));
    HcclResult error = HCCL_SUCCESS;
    EXPECT_EQ(HcclGetCommAsyncError(self.comm, &error), HCCL_SUCCESS);
    EXPECT_NE(error, HCCL_SUCCESS);
  });
}

// The partner destroys its communicator instead of coming.
TEST_F(SendRecv, PartnerThatLeavesFailsTheStream) {
  RunCommunicator(2, [](Rank& self) {
    if (self.rank == 1) return;
    DeviceBuffer buffer(64);
    ASSERT_EQ(HcclRecv(buffer.get(), 64, HCCL_DATA_TYPE_UINT8, 1, self.comm, self.stream), HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), 507057);
    HcclResult error = HCCL_SUCCESS;
    EXPECT_EQ(HcclGetCommAsyncError(self.comm, &error), HCCL_SUCCESS);
    EXPECT_EQ(error, HCCL_E_REMOTE);
  });
}

// The receiver's stream is aborted before its partner comes: the send, when it does, is told.
TEST_F(SendRecv, AbortedStreamTellsThePartner) {
  StreamGate gate;
  RunCommunicator(2, [&](Rank& self) {
    DeviceBuffer buffer(100000);
    if (self.rank == 0) {
      ASSERT_EQ(gate.Close(self.stream), ACL_SUCCESS);
      ASSERT_EQ(HcclSend(buffer.get(), 100000, HCCL_DATA_TYPE_UINT8, 1, self.comm, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(self.stream), 507057);
      EXPECT_THAT(aclGetRecentErrMsg(), testing::HasSubstr("rank 1"));
    } else {
      ASSERT_EQ(HcclRecv(buffer.get(), 100000, HCCL_DATA_TYPE_UINT8, 0, self.comm, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(aclrtStreamAbort(self.stream), ACL_SUCCESS);
      gate.Open();
    }
  });
}

// A partner that never comes: the time limit ends the wait, and the partner that comes later is told.
TEST_F(SendRecv, TimeLimitEndsTheWait) {
  Setting limit("HCCL_EXEC_TIMEOUT", "0.05");
  StreamGate gate;
  RunCommunicator(2, [&](Rank& self) {
    DeviceBuffer buffer(64);
    if (self.rank == 0) {
      ASSERT_EQ(HcclSend(buffer.get(), 64, HCCL_DATA_TYPE_UINT8, 1, self.comm, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(self.stream), 507057);
      EXPECT_THAT(aclGetRecentErrMsg(), testing::HasSubstr("HCCL_EXEC_TIMEOUT"));
      gate.Open();
    } else {
      ASSERT_EQ(gate.Close(self.stream), ACL_SUCCESS);
      ASSERT_EQ(HcclRecv(buffer.get(), 64, HCCL_DATA_TYPE_UINT8, 0, self.comm, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(self.stream), 507057);
    }
  });
}

}  // namespace send_recv_test
