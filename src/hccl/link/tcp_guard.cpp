#include "hccl/link/tcp_guard.h"

#include <linux/filter.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

namespace ropeway::comm {
namespace {

// More than all peers of a host make at a time. A stranger with the address of a peer must not take all descriptors meanwhile.
constexpr size_t kMostUnclaimed = 256;
// Jumps of a filter reach 255 instructions; a host with more addresses than this says which to use by UCX_NET_DEVICES.
constexpr size_t kMostIps = 64;

uint32_t Word(const Ip& ip, size_t index) {
  const uint8_t* at = ip.bytes.data() + 4 * index;
  return uint32_t{at[0]} << 24 | uint32_t{at[1]} << 16 | uint32_t{at[2]} << 8 | at[3];
}

constexpr uint32_t kNetwork = static_cast<uint32_t>(SKF_NET_OFF);  // where the IP header begins

// Drops what carries data: a length beyond that of the TCP header, where packets begin for this filter.
void AppendNoData(std::vector<sock_filter>* program) {
  program->push_back(BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 12));  // the high half: words of the header
  program->push_back(BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 2));
  program->push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x3c));
  program->push_back(BPF_STMT(BPF_MISC | BPF_TAX, 0));
  program->push_back(BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0));
  program->push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_X, 0, 1, 0));
  program->push_back(BPF_STMT(BPF_RET | BPF_K, 0));
}

// Passes what comes from one address.
void AppendAddress(const Ip& ip, std::vector<sock_filter>* program) {
  const size_t words = ip.v6 ? 4 : 1;
  const uint32_t source = kNetwork + (ip.v6 ? 8 : 12);
  program->push_back(BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kNetwork));
  program->push_back(BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4));
  program->push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ip.v6 ? 6u : 4u, 0, static_cast<uint8_t>(2 * words + 1)));
  for (size_t i = 0; i < words; ++i) {
    const auto to_the_end = static_cast<uint8_t>(2 * (words - 1 - i) + 1);
    program->push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, source + 4 * static_cast<uint32_t>(i)));
    program->push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, Word(ip, i), 0, to_the_end));
  }
  program->push_back(BPF_STMT(BPF_RET | BPF_K, UINT32_MAX));
}

// Forgets what has arrived, and the connection with it.
void Reset(const TcpSocket& socket) {
  sockaddr none{};
  none.sa_family = AF_UNSPEC;
  connect(socket.fd, &none, sizeof none);
}

}  // namespace

bool TcpGuard::Attach(uint16_t low, uint16_t high, std::string* why) {
  for (const TcpSocket& socket : TcpSockets()) {
    if (!socket.listening || socket.local.port < low || socket.local.port > high) continue;
    listeners_.push_back(socket.fd);
    ports_.insert(socket.local.port);
  }
  return SetFilters(why);
}

bool TcpGuard::SetFilters(std::string* why) {
  std::vector<sock_filter> program;
  AppendNoData(&program);
  size_t count = 0;
  for (const auto& [who, ips] : admitted_)
    for (const Ip& ip : ips)
      if (count++ < kMostIps) AppendAddress(ip, &program);
  program.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  for (const int listener : listeners_) {
    if (setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0) continue;
    *why = std::string("the port of UCX cannot be closed to strangers: SO_ATTACH_FILTER: ") + strerror(errno);
    return false;
  }
  return true;
}

void TcpGuard::Admit(const void* who, const std::vector<Ip>& ips) {
  admitted_[who] = ips;
  closing_ = false;
  std::string ignored;  // the first filter was accepted, so this one is
  SetFilters(&ignored);
}

void TcpGuard::Dismiss(const void* who) {
  if (admitted_.erase(who) == 0) return;
  closing_ = admitted_.empty();
  std::string ignored;
  SetFilters(&ignored);
}

void TcpGuard::Vet() {
  // Asked before the sockets are listed: what leaves the queue meanwhile is in this list or in the next one.
  bool queued = false;
  for (const int listener : listeners_) {
    pollfd waiting{listener, POLLIN, 0};
    queued = queued || poll(&waiting, 1, 0) != 0;
  }
  std::set<uint64_t> known;
  size_t unclaimed = 0;
  for (const TcpSocket& socket : TcpSockets()) {
    if (!socket.connected || !ports_.contains(socket.local.port)) continue;
    const bool heard = known_.contains(socket.inode);
    if (heard || approved_.contains(socket.remote.Text())) {
      known.insert(socket.inode);
      const int unused = 0;  // the kernel wants one
      if (!heard) setsockopt(socket.fd, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
      continue;
    }
    if (closing_ || ++unclaimed > kMostUnclaimed) Reset(socket);
  }
  known_.swap(known);
  if (!closing_ || queued) return;
  closing_ = false;
  approved_.clear();
}

}  // namespace ropeway::comm
