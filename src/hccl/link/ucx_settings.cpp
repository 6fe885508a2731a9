#include "hccl/link/ucx_settings.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <filesystem>

#include "base/settings.h"

namespace ropeway::comm {
namespace {

std::string TextOf(const sockaddr* address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address->sa_family == AF_INET)
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, text, sizeof text);
  else if (address->sa_family == AF_INET6)
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, text, sizeof text);
  return text;
}

// "" when no interface has the address.
std::string InterfaceOf(const std::string& ip) {
  ifaddrs* all = nullptr;
  if (ip.empty() || getifaddrs(&all) != 0) return "";
  std::string name;
  for (const ifaddrs* one = all; one != nullptr && name.empty(); one = one->ifa_next)
    if (one->ifa_addr != nullptr && TextOf(one->ifa_addr) == ip) name = one->ifa_name;
  freeifaddrs(all);
  return name;
}

// The interface of the control connections, and every RDMA port: those have no say in which address a rank offers.
std::string Devices(const std::string& local_ip) {
  std::string list = InterfaceOf(local_ip);
  if (list.empty()) return "all";
  std::error_code none;
  for (const auto& adapter : std::filesystem::directory_iterator("/sys/class/infiniband", none))
    for (const auto& port : std::filesystem::directory_iterator(adapter.path() / "ports", none))
      list += "," + adapter.path().filename().string() + ":" + port.path().filename().string();
  return list;
}

}  // namespace

std::vector<UcxSetting> UcxSettings(const std::string& local_ip) {
  std::vector<UcxSetting> settings = {
      // Ranks of one host have better ways than a network library.
      {"UCX_TLS", "TLS", "tcp,ib"},
      {"UCX_NET_DEVICES", "NET_DEVICES", Devices(local_ip)},
      // With the 8 KiB segments that are the default large transfers stall for whole retransmission periods.
      {"UCX_TCP_TX_SEG_SIZE", "TX_SEG_SIZE", "64K"},
      {"UCX_TCP_RX_SEG_SIZE", "RX_SEG_SIZE", "64K"},
      // A peer that does not answer must not stop the thread that serves all others.
      {"UCX_TCP_CONN_NB", "CONN_NB", "y"},
  };
  std::erase_if(settings, [](const UcxSetting& one) { return ForeignVariable(one.variable) != nullptr; });
  return settings;
}

}  // namespace ropeway::comm
