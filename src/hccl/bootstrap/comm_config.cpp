#include "hccl/bootstrap/comm_config.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <iterator>

#include "hccl/transport/sha256.h"

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

// Where each version of the configuration ends, from version 1 on: fields were only ever added.
constexpr size_t kEndOfVersion[] = {
    offsetof(HcclCommConfig, hcclCommName),
    offsetof(HcclCommConfig, hcclUdi),
    offsetof(HcclCommConfig, hcclOpExpansionMode),
    offsetof(HcclCommConfig, hcclRdmaTrafficClass),
    offsetof(HcclCommConfig, hcclWorldRankID),
    offsetof(HcclCommConfig, aclGraphZeroCopyEnable),
    offsetof(HcclCommConfig, hcclExecTimeOut),
    offsetof(HcclCommConfig, hcclBufferName),
    offsetof(HcclCommConfig, hcclQos),
    offsetof(HcclCommConfig, hcclChannelSqDepth),
    sizeof(HcclCommConfig),
};
static_assert(std::size(kEndOfVersion) == HCCL_COMM_CONFIG_VERSION);

// What the caller's headers know, and the defaults behind it.
HcclCommConfig Complete(const void* given, const HcclCommConfigInfo& info) {
  HcclCommConfig config;
  HcclCommConfigInit(&config);
  const size_t version = std::min<size_t>(info.version, HCCL_COMM_CONFIG_VERSION);
  const size_t known = version == 0 ? 0 : kEndOfVersion[version - 1];
  std::memcpy(&config, given, std::min<size_t>(info.configSize, known));
  return config;
}

// The configuration counts otherwise than the enumeration; 0 and what is unknown is what happens here.
HcclOpExpansionMode ModeOf(uint32_t number) {
  switch (number) {
    case 2: return HCCL_OP_EXPANSION_MODE_AI_CPU;
    case 3: return HCCL_OP_EXPANSION_MODE_AIV;
    case 4: return HCCL_OP_EXPANSION_AIV_ONLY;
    default: return HCCL_OP_EXPANSION_MODE_HOST;
  }
}

}  // namespace

Status ApplyConfig(const HcclCommConfig* given, Plan* plan) {
  if (given == nullptr) return Ok();
  // Copied before anything is looked at: older ones are aligned to 4 bytes.
  const void* const bytes = given;
  HcclCommConfigInfo info;
  std::memcpy(&info, bytes, sizeof info);
  if (info.magicWord != HCCL_COMM_CONFIG_MAGIC_WORD)
    return Fail(HCCL_E_PARA, "config was not prepared: call HcclCommConfigInit before filling it in");
  const HcclCommConfig config = Complete(bytes, info);
  if (std::memchr(config.hcclCommName, '\0', sizeof config.hcclCommName) == nullptr)
    return Fail(HCCL_E_PARA, "config->hcclCommName has no end within its %d bytes", COMM_NAME_MAX_LENGTH);
  if (config.aclGraphZeroCopyEnable > 1)
    return Fail(HCCL_E_PARA, "config->aclGraphZeroCopyEnable is %u, neither 0 nor 1", config.aclGraphZeroCopyEnable);
  plan->name = config.hcclCommName;
  plan->op_expansion_mode = ModeOf(config.hcclOpExpansionMode);
  plan->algorithm.assign(config.hcclAlgo, strnlen(config.hcclAlgo, sizeof config.hcclAlgo));
  if (config.hcclExecTimeOut >= 0) plan->exec_timeout_s = config.hcclExecTimeOut;
  // HcclCommConfigInit leaves 0 there, so 0 cannot be told from "not set"; both mean the natural one.
  if (config.hcclWorldRankID != 0 && config.hcclWorldRankID != HCCL_COMM_CONFIG_NOT_SET) plan->world_rank = config.hcclWorldRankID;
  return Ok();
}

void CompletePlan(uint32_t world_rank, Plan* plan) {
  if (plan->name.empty()) plan->name = PrintableName(plan->communicator);
  if (!plan->world_rank) plan->world_rank = world_rank;
}

}  // namespace ropeway::comm
