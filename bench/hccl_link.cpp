// hccl_link RANK 2 FOLDER IP [SIZE...]: puts, gets and sends between two hosts beside a plain loop of send and recv over the same memory,
// with as many connections and as many messages at once, in turns in one run. bench/hccl_link.sh starts both ranks; IP is rank 1's. Rank 0
// prints "what size ours plain ratio": medians of MB/s, or of microseconds for round trips.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>
#include <vector>

#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kBatch = 16 << 20;  // bytes of a batch of small messages
constexpr size_t kLarge = 1 << 20;   // more than that goes over kConnections, as in src/hccl/link/tcp_peer.cpp
constexpr size_t kConnections = 3;
constexpr int kRounds = 11;
constexpr int kRoundTrips = 200;

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void All(int fd, char* bytes, size_t size, bool sending) {
  while (size > 0) {
    const ssize_t moved = sending ? send(fd, bytes, size, MSG_NOSIGNAL) : recv(fd, bytes, size, 0);
    RW_EXPECT(moved > 0);
    bytes += moved;
    size -= static_cast<size_t>(moved);
  }
}

// The plain loop: blocking sockets, a thread for each connection where there are several, and one byte back when all is there.
class Plain {
 public:
  Plain(const Rank& self, const Folder& folder, const char* ip) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, ip, &address.sin_addr);
    socklen_t size = sizeof address;
    if (self.rank == 0) {
      address.sin_port = static_cast<in_port_t>(std::stoi(folder.Await("port")));
      for (size_t i = 0; i < kConnections; ++i) {
        fds_.push_back(socket(AF_INET, SOCK_STREAM, 0));
        RW_MUST(connect(fds_.back(), reinterpret_cast<sockaddr*>(&address), sizeof address));
      }
    } else {
      const int listener = socket(AF_INET, SOCK_STREAM, 0);
      RW_MUST(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address));
      RW_MUST(listen(listener, 16));
      RW_MUST(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size));
      folder.Write("port", std::to_string(address.sin_port));
      for (size_t i = 0; i < kConnections; ++i) fds_.push_back(accept(listener, nullptr, nullptr));
    }
    const int one = 1;
    for (const int fd : fds_) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  }

  // `count` messages of `size` from one side to the other.
  void Move(char* memory, size_t size, size_t count, bool sending) const {
    const size_t ways = size * count > kLarge ? kConnections : 1;
    const auto part = [&](size_t way) {
      for (size_t i = 0; i < count; ++i) {
        const size_t begin = size * way / ways, end = size * (way + 1) / ways;
        All(fds_[way], memory + i * size + begin, end - begin, sending);
      }
      char done = 0;
      All(fds_[way], &done, 1, !sending);
    };
    std::vector<std::thread> threads;
    for (size_t way = 1; way < ways; ++way) threads.emplace_back(part, way);
    part(0);
    for (std::thread& thread : threads) thread.join();
  }
  void Ping(char* memory, size_t size, bool first) const {
    All(fds_[0], memory, size, first);
    All(fds_[0], memory, size, !first);
  }

 private:
  std::vector<int> fds_;
};

struct Bench {
  Rank& self;
  const Plain& plain;
  char* view;    // of `memory`
  char* memory;  // of both sides, registered
  const CommMem there;

  void Print(const char* what, size_t size, const std::vector<double>& ours, const std::vector<double>& theirs) const {
    std::vector<double> ratios;
    for (size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / theirs[i]);
    if (self.rank == 0) printf("%s %zu %.1f %.1f %.2f\n", what, size, Median(ours), Median(theirs), Median(ratios));
    fflush(stdout);
  }

  // In turns, so that whatever else the machine does meets both; the first round only warms up.
  void Compare(const char* what, size_t size, const std::function<double()>& our_round, const std::function<double()>& plain_round) const {
    std::vector<double> ours, theirs;
    for (int round = 0; round <= kRounds; ++round) {
      self.Barrier();
      const double mine = our_round();
      self.Barrier();
      const double other = plain_round();
      if (round > 0) ours.push_back(mine), theirs.push_back(other);
    }
    Print(what, size, ours, theirs);
  }

  template <typename Function>
  static double Rate(size_t bytes, int repeats, Function function) {
    const double begin = Seconds();
    for (int i = 0; i < repeats; ++i) function();
    return static_cast<double>(bytes) * repeats / (Seconds() - begin) / 1e6;
  }

  void Rates(size_t size) const {
    const size_t count = std::clamp<size_t>(kBatch / size, 1, 256);
    const int repeats = static_cast<int>(std::max<size_t>(1, (64 << 20) / (size * count)));
    std::vector<HcclOneSideOpDesc> items;
    for (size_t i = 0; i < count; ++i)
      items.push_back({memory + i * size, static_cast<char*>(there.addr) + i * size, size, HCCL_DATA_TYPE_UINT8});
    const auto one_sided = [&](const auto& call) {
      if (self.rank == 1) return 1.0;
      return Rate(size * count, repeats, [&] {
        RW_MUST(call(self.comm, 1, items.data(), static_cast<u32>(items.size()), self.stream));
        RW_MUST(aclrtSynchronizeStream(self.stream));
      });
    };
    const auto loop = [&](bool sending) { return Rate(size * count, repeats, [&] { plain.Move(view, size, count, sending); }); };
    const auto pair = [&] {
      std::vector<HcclSendRecvItem> messages;
      for (size_t i = 0; i < count; ++i)
        messages.push_back({self.rank == 0 ? HCCL_SEND : HCCL_RECV, memory + i * size, size, HCCL_DATA_TYPE_UINT8, 1 - self.rank});
      return Rate(size * count, repeats, [&] {
        RW_MUST(HcclBatchSendRecv(messages.data(), static_cast<uint32_t>(count), self.comm, self.stream));
        RW_MUST(aclrtSynchronizeStream(self.stream));
      });
    };
    Compare(
        "put", size, [&] { return one_sided(HcclBatchPut); }, [&] { return loop(self.rank == 0); });
    Compare(
        "get", size, [&] { return one_sided(HcclBatchGet); }, [&] { return loop(self.rank == 1); });
    Compare("send", size, pair, [&] { return loop(self.rank == 0); });
  }

  template <typename Function>
  static double Microseconds(Function function) {
    const double begin = Seconds();
    for (int i = 0; i < kRoundTrips; ++i) function();
    return (Seconds() - begin) / kRoundTrips * 1e6;
  }

  void RoundTrips(size_t size) const {
    HcclOneSideOpDesc item{memory, there.addr, size, HCCL_DATA_TYPE_UINT8};
    const auto put = [&] {
      if (self.rank == 1) return;
      RW_MUST(HcclBatchPut(self.comm, 1, &item, 1, self.stream));
      RW_MUST(aclrtSynchronizeStream(self.stream));
    };
    const auto ping = [&] {
      const auto send = [&] { RW_MUST(HcclSend(memory, size, HCCL_DATA_TYPE_UINT8, 1 - self.rank, self.comm, self.stream)); };
      if (self.rank == 0) send();
      RW_MUST(HcclRecv(memory, size, HCCL_DATA_TYPE_UINT8, 1 - self.rank, self.comm, self.stream));
      if (self.rank == 1) send();
      RW_MUST(aclrtSynchronizeStream(self.stream));
    };
    const auto plain_ping = [&] { return Microseconds([&] { plain.Ping(view, size, self.rank == 0); }); };
    Compare(
        "put-trip", size, [&] { return Microseconds(put); }, plain_ping);
    Compare(
        "send-trip", size, [&] { return Microseconds(ping); }, plain_ping);
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const Folder folder(argv[3]);
  size_t most = 4096;
  for (int i = 5; i < argc; ++i) most = std::max<size_t>(most, strtoull(argv[i], nullptr, 10));
  most = std::max(most, kBatch);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), 2, folder);
  char* const memory = static_cast<char*>(Allocate(COMM_MEM_TYPE_HOST, most));
  char* const device = static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, most));
  const CommMem there = Open(self, 1 - self.rank, {{COMM_MEM_TYPE_DEVICE, device, most}});
  // The first bytes make the connection.
  HcclOneSideOpDesc item{device, there.addr, 4096, HCCL_DATA_TYPE_UINT8};
  const double begin = Seconds();
  if (self.rank == 0) {
    RW_MUST(HcclBatchPut(self.comm, 1, &item, 1, self.stream));
    RW_MUST(aclrtSynchronizeStream(self.stream));
    printf("first-put 4096 %.0f 5000 %.2f\n", (Seconds() - begin) * 1e6, (Seconds() - begin) * 1e6 / 5000);
  }
  const Plain plain(self, folder, argv[4]);
  const Bench bench{self, plain, memory, device, there};
  bench.RoundTrips(4096);
  for (int i = 5; i < argc; ++i) bench.Rates(strtoull(argv[i], nullptr, 10));
  self.Barrier();
  self.Leave();
}
