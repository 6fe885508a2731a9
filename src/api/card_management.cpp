// Questions of management tools that devices made of software can answer: dsmi (libdrvdsmi_host.so) by devices, dcmi (libdcmi.so) by cards.
// A card is a device here, with the one device 0 on it.
#include <cstdio>
#include <cstring>

#include "api/checks.h"
#include "api/other_codes.h"
#include "ropeway/ropeway.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Status FindCard(int card_id, int device_id) {
  RW_TRY(FindDevice("card_id", card_id).status());
  return RequireRange(Layer::kOuter, "device_id", device_id, 0, 0);
}

}  // namespace
}  // namespace ropeway::api

int dsmi_get_device_count(int* device_count) { return Dsmi::Of(aclrtGetDeviceCount(reinterpret_cast<uint32_t*>(device_count))); }

int dsmi_get_version(int device_id, char* version_str, unsigned int version_len, unsigned int* ret_len) {
  return Dsmi::Of(PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"version_str", version_str}, {"ret_len", ret_len}}));
    RW_TRY(FindDevice("device_id", device_id).status());
    const char* version = ropewayGetVersion();
    const size_t length = std::strlen(version);
    if (version_len <= length)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "version_len %u is less than %zu, which the text and its end need", version_len, length + 1);
    std::memcpy(version_str, version, length + 1);
    *ret_len = static_cast<unsigned int>(length);
    return Ok();
  }));
}

int dcmi_init(void) {
  return Dcmi::Of(PlainEntry(__func__, [] { return Ok(); }));
}

int dcmi_get_card_num_list(int* card_num, int* card_list, int list_len) {
  return Dcmi::Of(PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"card_num", card_num}, {"card_list", card_list}}));
    const int cards = Runtime::VisibleCount();
    RW_TRY(RequireRange(Layer::kOuter, "list_len", list_len, cards, INT32_MAX));
    for (int card = 0; card < cards; ++card) card_list[card] = card;
    *card_num = cards;
    return Ok();
  }));
}

// There is neither a microcontroller nor a CPU on the card.
int dcmi_get_device_id_in_card(int card_id, int* device_id_max, int* mcu_id, int* cpu_id) {
  return Dcmi::Of(PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"device_id_max", device_id_max}, {"mcu_id", mcu_id}, {"cpu_id", cpu_id}}));
    RW_TRY(FindCard(card_id, 0));
    *device_id_max = 1;
    *mcu_id = *cpu_id = -1;
    return Ok();
  }));
}

// The place of aclrtDeviceGetPCIBusId. Nothing is plugged in there, so the ids of vendor and product stay 0.
int dcmi_get_device_pcie_info_v2(int card_id, int device_id, struct dcmi_pcie_info_all* pcie_info) {
  const aclError checked = PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("pcie_info", pcie_info));
    return FindCard(card_id, device_id);
  });
  char text[16];
  const aclError asked = checked == ACL_SUCCESS ? aclrtDeviceGetPCIBusId(card_id, text, sizeof(text)) : checked;
  dcmi_pcie_info_all info{};
  if (asked == ACL_SUCCESS && std::sscanf(text, "%4x:%2x:%2x.%1x", reinterpret_cast<unsigned*>(&info.domain), &info.bdf_busid,
                                          &info.bdf_deviceid, &info.bdf_funcid) == 4)
    *pcie_info = info;
  return Dcmi::Of(asked);
}
