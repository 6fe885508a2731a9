// Two ranks of one process, each on its thread and device: what sends, receives, puts and gets use of this side.
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include "hccl/hccl.h"
#include "hccl/hccl_one_sided_services.h"
#include "tests/check/corpus/program.h"

namespace corpus {
namespace {

#define MUST_HCCL(...) MUST((__VA_ARGS__) == HCCL_SUCCESS ? ACL_SUCCESS : ACL_ERROR_FAILURE)

struct Rank {
  HcclComm comm;
  uint32_t peer;
  aclrtStream stream;

  void Send(void* block) const { MUST_HCCL(HcclSend(block, kSize, HCCL_DATA_TYPE_UINT8, peer, comm, stream)); }
  void Receive(void* block) const { MUST_HCCL(HcclRecv(block, kSize, HCCL_DATA_TYPE_UINT8, peer, comm, stream)); }
};

using Body = std::function<void(const Rank&)>;

void RunRank(const HcclRootInfo& root, uint32_t number, const Body& body, std::barrier<>* over) {
  MUST(aclrtSetDevice(static_cast<int32_t>(number)));
  Rank rank{nullptr, 1 - number, nullptr};
  MUST_HCCL(HcclCommInitRootInfo(2, &root, number, &rank.comm));
  rank.stream = Stream();
  body(rank);
  Finish(rank.stream);
  over->arrive_and_wait();
  MUST(aclrtSynchronizeDevice());
  MUST_HCCL(HcclCommDestroy(rank.comm));
}

void RunRanks(const Body& first, const Body& second) {
  HcclRootInfo root;
  MUST_HCCL(HcclGetRootInfo(&root));
  std::barrier over(2);
  std::thread other([&] { RunRank(root, 1, second, &over); });
  RunRank(root, 0, first, &over);
  other.join();
  MUST(aclrtSetDevice(0));
}

void ReceiveOne(const Rank& rank) { rank.Receive(Device()); }

// A block that the other rank may put to and get from, and the other's.
class Window {
 public:
  explicit Window(const Rank& rank) : rank_(rank) {
    HcclMemDesc offered{};
    MUST_HCCL(HcclRegisterMem(rank.comm, rank.peer, COMM_MEM_TYPE_DEVICE, own_, 2 * kSize, &desc_));
    HcclMemDescs local{&desc_, 1}, remote{&offered, 1};
    u32 count = 0;
    MUST_HCCL(HcclExchangeMemDesc(rank.comm, rank.peer, &local, 0, &remote, &count));
    CommMem there{};
    MUST_HCCL(HcclEnableMemAccess(rank.comm, &offered, &there));
    theirs_ = static_cast<char*>(there.addr);
  }
  void Put() {
    HcclOneSideOpDesc item{own_, theirs_ + kSize, kSize, HCCL_DATA_TYPE_UINT8};
    MUST_HCCL(HcclBatchPut(rank_.comm, rank_.peer, &item, 1, rank_.stream));
  }
  void Get() {
    HcclOneSideOpDesc item{own_, theirs_ + kSize, kSize, HCCL_DATA_TYPE_UINT8};
    MUST_HCCL(HcclBatchGet(rank_.comm, rank_.peer, &item, 1, rank_.stream));
  }
  char* own() const { return own_; }

 private:
  const Rank& rank_;
  char* const own_ = Device(2 * kSize);
  char* theirs_ = nullptr;
  HcclMemDesc desc_{};
};

// Both have windows; the first one uses them.
void RunWindows(const std::function<void(const Rank&, Window&)>& first) {
  RunRanks(
      [&](const Rank& rank) {
        Window window(rank);
        first(rank, window);
      },
      [](const Rank& rank) { Window window(rank); });
}

}  // namespace

PROGRAM(block_refilled_while_it_is_sent, "RW-RACE-002") {
  RunRanks(
      [&](const Rank& rank) {
        const aclrtStream load = Stream();
        char *const block = Device(), *const in = Pinned();
        rank.Send(block);
        if (right) Order(rank.stream, load);
        Load(block, in, load);
      },
      ReceiveOne);
}

PROGRAM(block_sent_while_it_is_loaded, "RW-RACE-001") {
  RunRanks(
      [&](const Rank& rank) {
        const aclrtStream load = Stream();
        char *const block = Device(), *const in = Pinned();
        Load(block, in, load);
        if (right) Order(load, rank.stream);
        rank.Send(block);
      },
      ReceiveOne);
}

PROGRAM(received_block_stored_too_early, "RW-RACE-001") {
  RunRanks([](const Rank& rank) { rank.Send(Device()); },
           [&](const Rank& rank) {
             const aclrtStream store = Stream();
             char *const block = Device(), *const out = Pinned();
             rank.Receive(block);
             if (right) Order(rank.stream, store);
             Store(out, block, store);
           });
}

PROGRAM(received_block_fetched_without_a_wait, "RW-HOST-003") {
  RunRanks([](const Rank& rank) { rank.Send(Device()); },
           [&](const Rank& rank) {
             char* const block = Device();
             std::vector<char> result(kSize);
             rank.Receive(block);
             if (right) Finish(rank.stream);
             MUST(aclrtMemcpy(result.data(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
           });
}

// Whether the bytes still go depends on the order; both sides are told.
PROGRAM(block_freed_under_its_send, "RW-LIFE-001") {
  RunRanks(
      [&](const Rank& rank) {
        char* const block = Device();
        rank.Send(block);
        if (right) Finish(rank.stream);
        MUST(aclrtFree(block));
        (void)aclrtSynchronizeStream(rank.stream);
      },
      [](const Rank& rank) {
        ReceiveOne(rank);
        (void)aclrtSynchronizeStream(rank.stream);
      });
}

PROGRAM(exchange_into_a_block_that_is_loaded, "RW-RACE-003") {
  const auto exchange = [&](const Rank& rank) {
    const aclrtStream load = Stream();
    char *const out = Device(), *const in = Device(), *const host = Pinned();
    Load(in, host, load);
    if (right) Order(load, rank.stream);
    HcclSendRecvItem items[] = {{HCCL_SEND, out, kSize, HCCL_DATA_TYPE_UINT8, rank.peer},
                                {HCCL_RECV, in, kSize, HCCL_DATA_TYPE_UINT8, rank.peer}};
    MUST_HCCL(HcclBatchSendRecv(items, 2, rank.comm, rank.stream));
  };
  RunRanks(exchange, exchange);
}

PROGRAM(source_of_a_put_overwritten, "RW-RACE-002") {
  RunWindows([&](const Rank& rank, Window& window) {
    const aclrtStream load = Stream();
    char* const in = Pinned();
    window.Put();
    if (right) Finish(rank.stream);
    Load(window.own(), in, load);
  });
}

PROGRAM(result_of_a_get_stored_too_early, "RW-RACE-001") {
  RunWindows([&](const Rank& rank, Window& window) {
    const aclrtStream store = Stream();
    char* const out = Pinned();
    window.Get();
    if (right) Order(rank.stream, store);
    Store(out, window.own(), store);
  });
}

}  // namespace corpus
