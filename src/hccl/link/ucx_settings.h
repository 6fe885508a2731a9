// What the link sets in UCX's configuration. Whatever the user says in UCX_* variables wins.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace ropeway::comm {

// Names without the prefix UCX_, and values.
std::vector<std::pair<std::string, std::string>> UcxSettings(const std::string& local_ip);

// How long a peer with work pending may show no sign of life: HCCL_RDMA_TIMEOUT and HCCL_RDMA_RETRY_CNT, as a queue pair would count.
std::chrono::nanoseconds StallLimit();

}  // namespace ropeway::comm
