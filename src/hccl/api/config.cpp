// HcclSetConfig and its kin.
#include <atomic>
#include <optional>
#include <string>

#include "base/settings.h"
#include "hccl/api/product.h"
#include "hccl/base/result.h"
#include "hccl/hccl_comm.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

constexpr int32_t kStrict = 2;
std::atomic<int32_t> g_deterministic{0};

// What the variable says; it wins.
std::optional<int32_t> DeterministicByVariable() {
  const std::optional<std::string> given = GivenSetting("HCCL_DETERMINISTIC");
  if (!given) return std::nullopt;
  return *given == "strict" ? kStrict : *given == "true" ? 1 : 0;
}

}  // namespace
}  // namespace ropeway::comm

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
  return Entry(__func__, [&]() -> Status {
    if (config != HCCL_DETERMINISTIC || DeterministicByVariable()) return Ok();
    const int32_t value = configValue.value;
    if (value < 0 || value > kStrict) return Fail(HCCL_E_PARA, "HCCL_DETERMINISTIC is %d; it is 0, 1 or 2", value);
    if (value == kStrict && PlainProductName().substr(0, 4) != "910B")
      return Fail(HCCL_E_NOT_SUPPORT, "HCCL_DETERMINISTIC 2 is known to the family 910B only; ROPEWAY_SOC names another product");
    g_deterministic = value;
    return Ok();
  });
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("configValue", configValue));
    if (config == HCCL_DETERMINISTIC) configValue->value = DeterministicByVariable().value_or(g_deterministic);
    return Ok();
  });
}

uint32_t HcclGetCommConfigCapability() { return HCCL_COMM_CONFIG_RESERVED; }
