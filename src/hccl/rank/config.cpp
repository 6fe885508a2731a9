#include "hccl/rank/config.h"

#include <cstring>

#include "hccl/rank/sha256.h"

namespace ropeway::comm {
namespace {

// Not the bytes that peers call the communicator by: the name is printed.
std::string PrintableName(const std::string& communicator) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string name = "ropeway_";
  const Digest digest = Sha256(communicator);
  for (size_t i = 0; i < 8; ++i) {
    name += kDigits[digest[i] >> 4];
    name += kDigits[digest[i] & 15];
  }
  return name;
}

}  // namespace

Status ApplyConfig(const HcclCommConfig* config, Plan* plan) {
  if (config == nullptr) return Ok();
  HcclCommConfigInfo info;
  std::memcpy(&info, config->reserved, sizeof info);
  if (info.magicWord != HCCL_COMM_CONFIG_MAGIC_WORD)
    return Fail(HCCL_E_PARA, "config was not prepared: call HcclCommConfigInit before filling it in");
  if (std::memchr(config->hcclCommName, '\0', sizeof config->hcclCommName) == nullptr)
    return Fail(HCCL_E_PARA, "config->hcclCommName has no end within its %d bytes", COMM_NAME_MAX_LENGTH);
  plan->name = config->hcclCommName;
  if (config->hcclExecTimeOut >= 0) plan->exec_timeout_s = config->hcclExecTimeOut;
  return Ok();
}

void CompletePlan(const HcclCommConfig* config, uint32_t world_rank, Plan* plan) {
  if (plan->name.empty()) plan->name = PrintableName(plan->communicator);
  // HcclCommConfigInit leaves 0 there, so 0 cannot be told from "not set"; both mean the natural one.
  const bool given =
      config != nullptr && config->hcclWorldRankID != 0 && config->hcclWorldRankID != HCCL_COMM_CONFIG_NOT_SET;
  plan->world_rank = given ? config->hcclWorldRankID : world_rank;
}

}  // namespace ropeway::comm
