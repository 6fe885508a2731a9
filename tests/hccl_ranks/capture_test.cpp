// Work between ranks in graphs: sends, receives, collectives, barriers, puts and gets are captured, and every replay does them once more,
// with numbers of its own. The storms of collectives_test.cpp, and those between processes and hosts, are half captured, too.
#include <algorithm>
#include <barrier>

#include "hccl/one_sided.h"
#include "hccl_ranks/ranks.h"

namespace capture_test {

using namespace ropeway_test;

class Captured : public RanksTest {};

// What is captured during its life, on a rank's stream.
class Graph {
 public:
  Graph(Rank& self, const std::function<void()>& calls) : self_(self) {
    EXPECT_EQ(aclmdlRICaptureBegin(self.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
    calls();
    EXPECT_EQ(aclmdlRICaptureEnd(self.stream, &graph_), ACL_SUCCESS) << TakeErrorText();
  }
  ~Graph() { EXPECT_EQ(aclmdlRIDestroy(graph_), ACL_SUCCESS); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  aclError Execute() const { return aclmdlRIExecuteAsync(graph_, self_.stream); }
  aclError Run() const {
    EXPECT_EQ(Execute(), ACL_SUCCESS) << TakeErrorText();
    return aclrtSynchronizeStream(self_.stream);
  }

 private:
  Rank& self_;
  aclmdlRI graph_ = nullptr;
};

class Block {
 public:
  explicit Block(size_t size) : memory_(size) {}
  void* get() const { return memory_.get(); }
  void Set(int value) { EXPECT_EQ(aclrtMemset(memory_.get(), memory_.size(), value, memory_.size()), ACL_SUCCESS); }
  // The value of all bytes; -1: they differ.
  int Value() const {
    std::vector<uint8_t> bytes(memory_.size());
    EXPECT_EQ(aclrtMemcpy(bytes.data(), bytes.size(), memory_.get(), bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    return std::all_of(bytes.begin(), bytes.end(), [&](uint8_t byte) { return byte == bytes[0]; }) ? bytes[0] : -1;
  }

 private:
  DeviceBuffer memory_;
};

constexpr auto kByte = HCCL_DATA_TYPE_UINT8;
constexpr size_t kSmall = 100, kLarge = 300'000;

// Rank 0 sends, rank 1 receives: in graphs, beside graphs, and from a graph into a call.
void SendAndReceive(size_t size) {
  RunCommunicator(2, [size](Rank& self) {
    Block block(size);
    const auto call = [&] {
      const auto function = self.rank == 0 ? HcclSend : HcclRecv;
      EXPECT_EQ(function(block.get(), size, kByte, 1 - self.rank, self.comm, self.stream), HCCL_SUCCESS) << TakeErrorText();
    };
    const Graph graph(self, call);
    int next = 1;
    const auto once = [&](bool by_graph) {
      block.Set(self.rank == 0 ? next : 0);
      if (by_graph) {
        EXPECT_EQ(graph.Execute(), ACL_SUCCESS);
      } else {
        call();
      }
      EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << TakeErrorText();
      EXPECT_EQ(block.Value(), next++);
    };
    once(true);
    once(false);
    once(true);
    once(self.rank == 0);
    once(self.rank == 1);
  });
}
TEST_F(Captured, SendsAndReceives) {
  SendAndReceive(kSmall);
  SendAndReceive(kLarge);
}

// Many replays that nobody waits for in between.
TEST_F(Captured, ReplaysFollowEachOther) {
  RunCommunicator(3, [](Rank& self) {
    Block total(64), part(64);
    part.Set(1);
    total.Set(0);
    const Graph graph(self, [&] {
      EXPECT_EQ(HcclAllReduce(part.get(), part.get(), 64, kByte, HCCL_REDUCE_MAX, self.comm, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(HcclBarrier(self.comm, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(HcclAllReduce(total.get(), total.get(), 64, kByte, HCCL_REDUCE_SUM, self.comm, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(aclrtMemcpyAsync(total.get(), 64, part.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, self.stream), ACL_SUCCESS);
    });
    for (int i = 0; i < 20; ++i) EXPECT_EQ(graph.Execute(), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << TakeErrorText();
    EXPECT_EQ(total.Value(), 1);
  });
}

// A group, and a batch with an item of the rank to itself.
TEST_F(Captured, GroupsAndBatches) {
  RunCommunicator(2, [](Rank& self) {
    const uint32_t peer = 1 - self.rank;
    Block own(kSmall), got(kSmall), copy(kSmall), sum(kSmall);
    const Graph graph(self, [&] {
      HcclSendRecvItem items[] = {{HCCL_RECV, got.get(), kSmall, kByte, peer},
                                  {HCCL_SEND, own.get(), kSmall, kByte, peer},
                                  {HCCL_SEND, own.get(), kSmall, kByte, self.rank},
                                  {HCCL_RECV, copy.get(), kSmall, kByte, self.rank}};
      EXPECT_EQ(HcclGroupStart(), HCCL_SUCCESS);
      EXPECT_EQ(HcclBatchSendRecv(items, 4, self.comm, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(HcclAllReduce(own.get(), sum.get(), kSmall, kByte, HCCL_REDUCE_SUM, self.comm, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(HcclGroupEnd(), HCCL_SUCCESS) << TakeErrorText();
    });
    for (const int round : {1, 2, 3}) {
      own.Set(10 * round + static_cast<int>(self.rank));
      EXPECT_EQ(graph.Run(), ACL_SUCCESS) << TakeErrorText();
      EXPECT_EQ(got.Value(), 10 * round + static_cast<int>(peer));
      EXPECT_EQ(copy.Value(), 10 * round + static_cast<int>(self.rank));
      EXPECT_EQ(sum.Value(), 20 * round + 1);
    }
  });
}

// The input lies across the output: the copy that is made of it belongs to the graph.
TEST_F(Captured, InputAcrossOutput) {
  RunCommunicator(2, [](Rank& self) {
    Block block(2 * kLarge);
    char* const input = static_cast<char*>(block.get());
    char* const output = input + 64;
    const Graph graph(self, [&] {
      EXPECT_EQ(HcclAllReduce(input, output, kLarge, kByte, HCCL_REDUCE_SUM, self.comm, self.stream), HCCL_SUCCESS) << TakeErrorText();
    });
    for (const int round : {1, 2}) {
      block.Set(round);
      EXPECT_EQ(graph.Run(), ACL_SUCCESS) << TakeErrorText();
      uint8_t last = 0;
      EXPECT_EQ(aclrtMemcpy(&last, 1, output + kLarge - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
      EXPECT_EQ(last, 2 * round);
    }
  });
}

// --- Puts and gets --------------------------------------------------------------------------------------------------------

void PutAndGet(CommMemType type) {
  std::barrier together(2);
  RunCommunicator(2, [&](Rank& self) {
    Side side(self, 1 - self.rank, type);
    side.Open();
    HcclOneSideOpDesc put = side.Item(0, 1000, 1000), get = side.Item(2000, 0, 1000);
    const auto set = [&](int value) {
      if (type == COMM_MEM_TYPE_DEVICE) {
        EXPECT_EQ(aclrtMemset(side.memory, 1000, value, 1000), ACL_SUCCESS);
      } else {
        memset(side.memory, value, 1000);
      }
    };
    {
      const Graph graph(self, [&] {
        EXPECT_EQ(HcclBatchPut(self.comm, side.peer_rank, &put, 1, self.stream), HCCL_SUCCESS) << TakeErrorText();
        EXPECT_EQ(HcclBatchGet(self.comm, side.peer_rank, &get, 1, self.stream), HCCL_SUCCESS) << TakeErrorText();
      });
      for (const int round : {1, 2, 3}) {
        set(10 * round + static_cast<int>(self.rank));
        together.arrive_and_wait();
        EXPECT_EQ(graph.Run(), ACL_SUCCESS) << TakeErrorText();
        together.arrive_and_wait();
        const std::vector<uint8_t> bytes = side.Read();
        EXPECT_EQ(bytes[1999], 10 * round + static_cast<int>(side.peer_rank)) << "put by the peer";
        EXPECT_EQ(bytes[2000], 10 * round + static_cast<int>(side.peer_rank)) << "got from the peer";
        together.arrive_and_wait();
      }
    }
    side.Close();
    together.arrive_and_wait();
  });
}
TEST_F(Captured, PutsAndGets) {
  PutAndGet(COMM_MEM_TYPE_DEVICE);
  PutAndGet(COMM_MEM_TYPE_HOST);
}

class NetworkCaptured : public NetworkRanksTest {};
TEST_P(NetworkCaptured, OverTheLink) {
  SendAndReceive(kLarge);
  PutAndGet(COMM_MEM_TYPE_DEVICE);
  PutAndGet(COMM_MEM_TYPE_HOST);
}
TEST_P(NetworkCaptured, AWithdrawnRegionFailsTheReplay) {
  std::barrier together(2);
  RunCommunicator(2, [&](Rank& self) {
    Side side(self, 1 - self.rank, COMM_MEM_TYPE_DEVICE);
    side.Open();
    HcclOneSideOpDesc put = side.Item(0, 1000, 1000);
    const Graph graph(self, [&] { EXPECT_EQ(HcclBatchPut(self.comm, side.peer_rank, &put, 1, self.stream), HCCL_SUCCESS); });
    together.arrive_and_wait();
    side.Close();
    together.arrive_and_wait();
    EXPECT_EQ(graph.Run(), 507899);
    EXPECT_THAT(TakeErrorText(), testing::HasSubstr("is not inside one enabled region"));
  });
}
RW_OVER_EVERY_LINK(NetworkCaptured);

// --- What goes wrong ------------------------------------------------------------------------------------------------------

// Freed memory is not touched; the other rank hears of it, and the ranks meet again afterwards.
TEST_F(Captured, FreedMemoryFailsTheReplayOnBothSides) {
  for (const bool collective : {true, false}) {
    RunCommunicator(2, [collective](Rank& self) {
      auto block = std::make_unique<Block>(kLarge);
      Block other(kLarge);
      const auto call = [&](const Block& in) {
        const auto one = self.rank == 0 ? HcclSend : HcclRecv;
        return collective ? HcclAllReduce(in.get(), other.get(), kLarge, kByte, HCCL_REDUCE_SUM, self.comm, self.stream)
                          : one(in.get(), kLarge, kByte, 1 - self.rank, self.comm, self.stream);
      };
      const Graph graph(self, [&] { EXPECT_EQ(call(*block), HCCL_SUCCESS); });
      if (self.rank == 0) block.reset();
      EXPECT_EQ(graph.Run(), self.rank == 0 ? 507899 : 507057);
      EXPECT_THAT(TakeErrorText(), testing::HasSubstr(self.rank == 0 ? "not inside one block" : "rank 0"));
      EXPECT_EQ(call(other), HCCL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS) << TakeErrorText();
    });
  }
}

// A rank that gives its replay up tells those who wait for it.
TEST_F(Captured, AnAbortedReplayIsNobodysSecret) {
  std::barrier together(2);
  RunCommunicator(2, [&](Rank& self) {
    Block block(kSmall);
    const Graph graph(self, [&] {
      EXPECT_EQ(HcclBroadcast(block.get(), kSmall, kByte, 1, self.comm, self.stream), HCCL_SUCCESS);
      EXPECT_EQ(HcclBarrier(self.comm, self.stream), HCCL_SUCCESS);
    });
    EXPECT_EQ(graph.Run(), ACL_SUCCESS);
    if (self.rank == 0) {
      EXPECT_EQ(graph.Execute(), ACL_SUCCESS);
      EXPECT_EQ(aclrtStreamAbort(self.stream), ACL_SUCCESS);
      together.arrive_and_wait();
    } else {
      together.arrive_and_wait();
      EXPECT_NE(graph.Run(), ACL_SUCCESS);
    }
    EXPECT_EQ(graph.Run(), ACL_SUCCESS) << "the next one meets its partner: " << TakeErrorText();
    together.arrive_and_wait();
  });
}

TEST_F(Captured, AGraphOutlivesItsCommunicator) {
  HcclRootInfo root;
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  RunRanks(1, [&](uint32_t) {
    Rank self;
    ASSERT_EQ(HcclCommInitRootInfo(1, &root, 0, &self.comm), HCCL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&self.stream), ACL_SUCCESS);
    {
      Block block(kSmall);
      const Graph graph(self, [&] { EXPECT_EQ(HcclBarrier(self.comm, self.stream), HCCL_SUCCESS); });
      EXPECT_EQ(graph.Run(), ACL_SUCCESS);
      EXPECT_EQ(HcclCommDestroy(self.comm), HCCL_SUCCESS);
      EXPECT_EQ(graph.Run(), 507057);
      EXPECT_THAT(TakeErrorText(), testing::HasSubstr("the communicator is destroyed"));
    }
    EXPECT_EQ(aclrtDestroyStreamForce(self.stream), ACL_SUCCESS);
  });
}

TEST_F(Captured, AnInvalidCaptureTakesNothing) {
  RunCommunicator(1, [](Rank& self) {
    Block block(kSmall);
    aclmdlRI graph = nullptr;
    ASSERT_EQ(aclmdlRICaptureBegin(self.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(self.stream), ACL_SUCCESS);
    EXPECT_EQ(HcclBarrier(self.comm, self.stream), HCCL_E_RUNTIME) << "only kernels can be in a task group";
    EXPECT_EQ(HcclBroadcast(block.get(), kSmall, kByte, 0, self.comm, self.stream), HCCL_E_RUNTIME);
    EXPECT_NE(aclmdlRICaptureEnd(self.stream, &graph), ACL_SUCCESS);
    EXPECT_EQ(HcclBarrier(self.comm, self.stream), HCCL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(self.stream), ACL_SUCCESS);
  });
}

}  // namespace capture_test
