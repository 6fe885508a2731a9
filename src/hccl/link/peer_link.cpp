#include "hccl/link/peer_link.h"

#include "base/settings.h"

namespace ropeway::comm {

LinkKind ChosenLink() { return SettingText("ROPEWAY_HCCL_LINK") == "ucx" ? LinkKind::kUcx : LinkKind::kTcp; }

const char* NameOf(LinkKind kind) { return kind == LinkKind::kUcx ? "ucx" : "tcp"; }

std::chrono::nanoseconds StallLimit() {
  const auto exponent = static_cast<int>(SettingNumber("HCCL_RDMA_TIMEOUT")),
             retries = static_cast<int>(SettingNumber("HCCL_RDMA_RETRY_CNT"));
  return std::chrono::nanoseconds(4096) * (1L << exponent) * (retries + 1);
}

TransferEnd Stalled(std::chrono::nanoseconds limit) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count();
  return {HCCL_E_ROCE_TRANSFER, "no sign of life from the peer for " + std::to_string(ms) +
                                    " ms with work pending (HCCL_RDMA_TIMEOUT and HCCL_RDMA_RETRY_CNT set this limit)"};
}

}  // namespace ropeway::comm
