// What the link sets in UCX's configuration. Whatever the user says in UCX_* variables wins.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ropeway::comm {

struct PortRange {
  uint16_t low;
  uint16_t high;
};
// Where the TCP transport shall listen: what UCX_TCP_PORT_RANGE says, or one port that is free now.
PortRange ChoosePorts();

// Names and values.
std::vector<std::pair<std::string, std::string>> UcxSettings(const std::string& local_ip, const PortRange& ports);

// Settings in the environment, for as long as UCX reads them: ucp_config_modify does not reach those of a transport in UCX 1.13.
// Those that the user has set stay as they are.
class ScopedUcxSettings {
 public:
  explicit ScopedUcxSettings(const std::vector<std::pair<std::string, std::string>>& settings);
  ~ScopedUcxSettings();
  ScopedUcxSettings(const ScopedUcxSettings&) = delete;
  ScopedUcxSettings& operator=(const ScopedUcxSettings&) = delete;

 private:
  std::vector<std::string> added_;
};

// How long a peer with work pending may show no sign of life: HCCL_RDMA_TIMEOUT and HCCL_RDMA_RETRY_CNT, as a queue pair would count.
std::chrono::nanoseconds StallLimit();

}  // namespace ropeway::comm
