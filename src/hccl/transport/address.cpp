#include "hccl/transport/address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <tuple>
#include <vector>

#include "base/settings.h"

namespace ropeway::comm {
namespace {

struct Interface {
  std::string name;
  Address address;
};

// The order in which interfaces are offered: ordinary ones, container bridges, the loopback; IPv4 before IPv6; then by
// name.
auto Preference(const Interface& interface) {
  const int kind = interface.name.starts_with("lo") ? 2 : interface.name.starts_with("docker") ? 1 : 0;
  return std::tuple(kind, interface.name, interface.address.family);
}

// One word of HCCL_SOCKET_IFNAME: "eth" admits every name that begins so, "=eth0" this one; a leading "^" turns the
// whole list into the names that are left out.
bool Admits(std::string list, const std::string& name) {
  const bool excluding = list.starts_with("^");
  if (excluding) list.erase(0, 1);
  const bool exact = list.starts_with("=");
  if (exact) list.erase(0, 1);
  bool listed = false;
  for (size_t at = 0; at <= list.size();) {
    const size_t end = std::min(list.find(',', at), list.size());
    const std::string word = list.substr(at, end - at);
    listed = listed || (!word.empty() && (exact ? name == word : name.starts_with(word)));
    at = end + 1;
  }
  return listed != excluding;
}

bool IsUsable(const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr || (entry.ifa_flags & IFF_UP) == 0) return false;
  const int family = entry.ifa_addr->sa_family;
  return family == AF_INET || family == AF_INET6;
}

std::vector<Interface> Interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  std::vector<Interface> interfaces;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (!IsUsable(*entry)) continue;
    sockaddr_storage storage{};
    std::memcpy(&storage, entry->ifa_addr, entry->ifa_addr->sa_family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    Address address = Address::Of(storage);
    address.port = 0;
    // A link-local address means nothing without an interface number, which differs from host to host.
    if (address.scope == 0) interfaces.push_back({entry->ifa_name, address});
  }
  return interfaces;
}

}  // namespace

std::optional<Address> Address::Parse(const std::string& text, uint16_t port) {
  Address address;
  address.port = port;
  if (inet_pton(AF_INET, text.c_str(), address.bytes) == 1) {
    address.family = 4;
  } else if (inet_pton(AF_INET6, text.c_str(), address.bytes) == 1) {
    address.family = 6;
  } else {
    return std::nullopt;
  }
  return address;
}

Address Address::Of(const sockaddr_storage& storage) {
  Address address;
  if (storage.ss_family == AF_INET) {
    const auto& in = reinterpret_cast<const sockaddr_in&>(storage);
    address.family = 4;
    std::memcpy(address.bytes, &in.sin_addr, 4);
    address.port = ntohs(in.sin_port);
  } else if (storage.ss_family == AF_INET6) {
    const auto& in = reinterpret_cast<const sockaddr_in6&>(storage);
    address.family = 6;
    std::memcpy(address.bytes, &in.sin6_addr, 16);
    address.port = ntohs(in.sin6_port);
    address.scope = in.sin6_scope_id;
  }
  return address;
}

bool Address::IsLoopback() const {
  static const Address kLoopback6 = *Parse("::1", 0);
  return family == 4 ? bytes[0] == 127 : family == 6 && std::memcmp(bytes, kLoopback6.bytes, sizeof bytes) == 0;
}

socklen_t Address::Fill(sockaddr_storage* storage) const {
  *storage = {};
  if (family == 6) {
    auto* in = reinterpret_cast<sockaddr_in6*>(storage);
    in->sin6_family = AF_INET6;
    std::memcpy(&in->sin6_addr, bytes, 16);
    in->sin6_port = htons(port);
    in->sin6_scope_id = scope;
    return sizeof(sockaddr_in6);
  }
  auto* in = reinterpret_cast<sockaddr_in*>(storage);
  in->sin_family = AF_INET;
  std::memcpy(&in->sin_addr, bytes, 4);
  in->sin_port = htons(port);
  return sizeof(sockaddr_in);
}

std::string Address::Text() const {
  char text[INET6_ADDRSTRLEN] = "none";
  if (valid()) inet_ntop(family == 6 ? AF_INET6 : AF_INET, bytes, text, sizeof text);
  return (family == 6 ? "[" + std::string(text) + "]" : std::string(text)) + ":" + std::to_string(port);
}

std::optional<Address> ChooseLocalAddress(std::string* why) {
  if (const std::string ip = SettingText("HCCL_IF_IP"); !ip.empty()) {
    std::optional<Address> address = Address::Parse(ip, 0);
    if (!address) *why = "HCCL_IF_IP=" + ip + " is not a numeric IPv4 or IPv6 address";
    return address;
  }
  const std::string names = SettingText("HCCL_SOCKET_IFNAME");
  const bool filtered = !names.empty();
  std::optional<Interface> best;
  for (const Interface& candidate : Interfaces()) {
    if (filtered && !Admits(names, candidate.name)) continue;
    if (!best || Preference(candidate) < Preference(*best)) best = candidate;
  }
  if (best) return best->address;
  *why = filtered ? "HCCL_SOCKET_IFNAME=" + names + " admits no interface that is up and has an address"
                  : "no network interface is up and has an address: set HCCL_IF_IP, or bring the loopback up";
  return std::nullopt;
}

std::string InterfaceOf(const Address& address) {
  for (const Interface& one : Interfaces())
    if (one.address.family == address.family && std::memcmp(one.address.bytes, address.bytes, sizeof address.bytes) == 0) return one.name;
  return "";
}

}  // namespace ropeway::comm
