// What the link sets in UCX's configuration. Whatever the user says in UCX_* variables wins.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace ropeway::comm {

struct PortRange {
  uint16_t low;
  uint16_t high;
};
// Where the TCP transport shall listen: what UCX_TCP_PORT_RANGE says, or one port that is free now.
PortRange ChoosePorts();

// One setting. UCX knows it by the name of the variable without "UCX_" and, when it is a transport's, without its prefix either:
// that is how ucp_config_modify passes it on.
struct UcxSetting {
  const char* variable;
  const char* name;
  std::string value;
};
// Those that the user has not made.
std::vector<UcxSetting> UcxSettings(const std::string& local_ip, const PortRange& ports);

// Whether the TCP transport has been asked for, by the user or by default.
bool WantsTcp();

// How long a peer with work pending may show no sign of life: HCCL_RDMA_TIMEOUT and HCCL_RDMA_RETRY_CNT, as a queue pair would count.
std::chrono::nanoseconds StallLimit();

}  // namespace ropeway::comm
