// How two links come to hear each other past their guards (tcp_guard.h), by notes over the authenticated channel: an empty one says
// that the receiver may connect, one that begins with a mark that the sender gave up, and any other has a line for every connection of
// the sender, its own end of it.
#include <algorithm>
#include <cstring>
#include <sstream>

#include "hccl/link/ucx_peer.h"

namespace ropeway::comm {
namespace {

constexpr char kWelcome[] = "";
constexpr char kGivenUp = '!';

template <typename Value>
void Append(std::string* bytes, const Value& value) {
  bytes->append(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

std::string LinkAddress::Pack() const {
  std::string bytes;
  Append(&bytes, static_cast<uint32_t>(ports.size()));
  Append(&bytes, static_cast<uint32_t>(ips.size()));
  for (const uint16_t port : ports) Append(&bytes, port);
  for (const Ip& ip : ips) Append(&bytes, ip);
  return bytes + worker;
}

LinkAddress LinkAddress::Unpack(const std::string& bytes) {
  LinkAddress address;
  size_t at = 0;
  const auto take = [&](auto* value) {
    if (bytes.size() - at < sizeof *value) return false;
    memcpy(value, bytes.data() + at, sizeof *value);
    at += sizeof *value;
    return true;
  };
  uint32_t ports = 0, ips = 0;
  bool good = take(&ports) && take(&ips);
  uint16_t port = 0;
  Ip ip;
  while (good && ports-- > 0 && (good = take(&port))) address.ports.push_back(port);
  while (good && ips-- > 0 && (good = take(&ip))) address.ips.push_back(ip);
  if (good) address.worker = bytes.substr(at);
  return address;
}

void UcxPeer::Meet(const std::string& address, const LinkKey& key, std::function<void(const std::string&)> tell) {
  link_.Post([self = shared_from_this(), address, key, tell = std::move(tell)]() mutable {
    if (self->failed_) return;
    self->address_ = LinkAddress::Unpack(address);
    self->outgoing_key_ = key;
    self->tell_ = std::move(tell);
    self->met_ = true;
    if (!self->address_.ports.empty()) {
      self->introducing_ = true;
      self->link_.guard().Admit(self.get(), self->address_.ips);
    }
    self->tell_(kWelcome);
    self->OpenWhenWelcome();
  });
}

void UcxPeer::Hear(const std::string& note) {
  if (!note.empty() && note[0] == kGivenUp) {
    const TransferEnd why{HCCL_E_REMOTE, "the peer could not connect: " + note.substr(1)};
    return link_.Post([self = shared_from_this(), why] { self->Fail(why); });
  }
  std::vector<std::string> ends;
  std::istringstream lines(note);
  for (std::string line; std::getline(lines, line);) ends.push_back(line);
  link_.Post([self = shared_from_this(), ends] {
    if (self->introducing_) self->link_.guard().Approve(ends);
    if (!ends.empty()) return;
    self->welcome_ = true;
    self->OpenWhenWelcome();
  });
}

// A side that connects before the other has let it in is not heard.
void UcxPeer::OpenWhenWelcome() {
  if (met_ && welcome_ && endpoint_ == nullptr && !failed_) Open();
}

void UcxPeer::Claim() {
  if (!introducing_) return;
  std::string note;
  for (const TcpSocket& socket : TcpSockets()) {
    const bool to_peer = socket.connected && std::count(address_.ports.begin(), address_.ports.end(), socket.remote.port) != 0 &&
                         std::count(address_.ips.begin(), address_.ips.end(), socket.remote.ip) != 0;
    if (to_peer && claimed_.insert(socket.local.Text()).second) note += socket.local.Text() + "\n";
  }
  if (!note.empty()) tell_(note);
}

// Without a connection nothing else would tell the peer, which would wait for a sign of life.
void UcxPeer::TellGivenUp(const std::string& why) {
  if (tell_) tell_(kGivenUp + why);
}

// Both directions are open: nobody has to connect any more.
void UcxPeer::Greeted() {
  if (!greeted_ || !greeting_seen_) return;
  EndIntroduction();
}

void UcxPeer::EndIntroduction() {
  introducing_ = false;
  tell_ = nullptr;
  link_.guard().Dismiss(this);
}

}  // namespace ropeway::comm
