// hccl_link RANK 2 FOLDER IP SIZE...|first: puts, gets and sends between two hosts beside a plain loop of send and recv over the same
// memory, with as many connections and as many messages at once, in turns in one run. bench/hccl_link.sh starts both ranks; IP is rank 1's.
// Rank 0 prints "what size ours plain ratio": medians of MB/s, or of microseconds for round trips; `first`: how long the first transfer of
// all takes. With ROPEWAY_HCCL_TLS=1 the plain loop goes through the library that encrypts, with the same cipher, too.
#include <arpa/inet.h>
#include <gnutls/gnutls.h>
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

// A blocking socket, in clear or through GnuTLS.
struct Way {
  int fd;
  gnutls_session_t tls = nullptr;

  void Encrypt(bool server) {
    static unsigned char bytes[32] = {1};
    const gnutls_datum_t key = {bytes, sizeof bytes};
    RW_MUST(gnutls_init(&tls, (server ? GNUTLS_SERVER : GNUTLS_CLIENT) | GNUTLS_NO_TICKETS));
    RW_MUST(gnutls_priority_set_direct(tls, "NORMAL:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+ECDHE-PSK:-CIPHER-ALL:+AES-128-GCM", nullptr));
    if (server) {
      gnutls_psk_server_credentials_t credentials;
      RW_MUST(gnutls_psk_allocate_server_credentials(&credentials));
      gnutls_psk_set_server_credentials_function(credentials, [](gnutls_session_t, const char*, gnutls_datum_t* found) {
        found->data = static_cast<unsigned char*>(gnutls_malloc(sizeof bytes));
        memcpy(found->data, bytes, found->size = sizeof bytes);
        return 0;
      });
      RW_MUST(gnutls_credentials_set(tls, GNUTLS_CRD_PSK, credentials));
    } else {
      gnutls_psk_client_credentials_t credentials;
      RW_MUST(gnutls_psk_allocate_client_credentials(&credentials));
      RW_MUST(gnutls_psk_set_client_credentials(credentials, "bench", &key, GNUTLS_PSK_KEY_RAW));
      RW_MUST(gnutls_credentials_set(tls, GNUTLS_CRD_PSK, credentials));
    }
    gnutls_transport_set_int(tls, fd);
    RW_MUST(gnutls_handshake(tls));
  }
  long Send(const char* bytes, size_t size) const {
    return tls != nullptr ? gnutls_record_send(tls, bytes, size) : send(fd, bytes, size, MSG_NOSIGNAL);
  }
  long Receive(char* bytes, size_t size) const { return tls != nullptr ? gnutls_record_recv(tls, bytes, size) : recv(fd, bytes, size, 0); }
};

void All(const Way& way, char* bytes, size_t size, bool sending) {
  while (size > 0) {
    const long moved = sending ? way.Send(bytes, size) : way.Receive(bytes, size);
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
        ways_.push_back({socket(AF_INET, SOCK_STREAM, 0)});
        RW_MUST(connect(ways_.back().fd, reinterpret_cast<sockaddr*>(&address), sizeof address));
      }
    } else {
      const int listener = socket(AF_INET, SOCK_STREAM, 0);
      RW_MUST(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address));
      RW_MUST(listen(listener, 16));
      RW_MUST(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size));
      folder.Write("port", std::to_string(address.sin_port));
      for (size_t i = 0; i < kConnections; ++i) ways_.push_back({accept(listener, nullptr, nullptr)});
    }
    const int one = 1;
    for (const Way& way : ways_) setsockopt(way.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const char* const tls = getenv("ROPEWAY_HCCL_TLS");
    if (tls != nullptr && *tls == '1')
      for (Way& way : ways_) way.Encrypt(self.rank == 1);
  }

  // `count` messages of `size` from one side to the other.
  void Move(char* memory, size_t size, size_t count, bool sending) const {
    const size_t ways = size * count > kLarge ? kConnections : 1;
    const auto part = [&](size_t way) {
      for (size_t i = 0; i < count; ++i) {
        const size_t begin = size * way / ways, end = size * (way + 1) / ways;
        All(ways_[way], memory + i * size + begin, end - begin, sending);
      }
      char done = 0;
      All(ways_[way], &done, 1, !sending);
    };
    std::vector<std::thread> threads;
    for (size_t way = 1; way < ways; ++way) threads.emplace_back(part, way);
    part(0);
    for (std::thread& thread : threads) thread.join();
  }
  void Ping(char* memory, size_t size, bool first) const {
    All(ways_[0], memory, size, first);
    All(ways_[0], memory, size, !first);
  }

 private:
  std::vector<Way> ways_;
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
  if (argc < 6) return 2;
  const Folder folder(argv[3]);
  size_t most = 4096;
  for (int i = 5; i < argc; ++i) most = std::max<size_t>(most, strtoull(argv[i], nullptr, 10));
  most = std::max(most, kBatch);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), 2, folder);
  char* const memory = static_cast<char*>(Allocate(COMM_MEM_TYPE_HOST, most));
  char* const device = static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, most));
  // All that a pair does to reach each other for the first time: control channel, exchange, link, and the first bytes.
  self.Barrier();
  const double begin = Seconds();
  const CommMem there = Open(self, 1 - self.rank, {{COMM_MEM_TYPE_DEVICE, device, most}});
  HcclOneSideOpDesc item{device, there.addr, 4096, HCCL_DATA_TYPE_UINT8};
  if (self.rank == 0) {
    RW_MUST(HcclBatchPut(self.comm, 1, &item, 1, self.stream));
    RW_MUST(aclrtSynchronizeStream(self.stream));
  }
  const double took = (Seconds() - begin) * 1e6;
  if (strcmp(argv[5], "first") == 0) {
    if (self.rank == 0) printf("first 4096 %.0f 5000 %.2f\n", took, took / 5000);
    self.Barrier();
    self.Leave();
    return 0;
  }
  const Plain plain(self, folder, argv[4]);
  const Bench bench{self, plain, memory, device, there};
  bench.RoundTrips(4096);
  for (int i = 5; i < argc; ++i)
    if (const size_t size = strtoull(argv[i], nullptr, 10); size != 0) bench.Rates(size);
  self.Barrier();
  self.Leave();
}
