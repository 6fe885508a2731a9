#include "memory/address_plan.h"

#include <algorithm>
#include <bit>

#include "memory/address_map.h"

namespace ropeway {
namespace {

constexpr size_t kMostHost = size_t{512} << 30;
constexpr size_t kMostMapped = size_t{8} << 40;
// Room for a large block and some small ones.
constexpr size_t kLeast = 2 * kChunkBytes;

}  // namespace

AddressPlan FullPlan(const AddressNeeds& needs) {
  // Addresses are rounded to granules and chunks, so a window has more of them than the device has bytes.
  const size_t window = std::max(std::bit_ceil(needs.device_memory) * 2, kLeast);
  return {window, window, kMostMapped, kMostHost, needs.device_memory};
}

AddressPlan PlanAddresses(const AddressNeeds& needs, size_t budget) {
  const AddressPlan full = FullPlan(needs);
  if (full.total(needs) <= budget) return full;
  // Half for the devices, a quarter for pinned memory, an eighth for mapped memory, a sixteenth for aliases.
  AddressPlan plan;
  plan.window = std::min(full.window, std::bit_floor(budget / 2 / needs.views / needs.devices));
  plan.host = std::min(full.host, WholeChunks(budget / 4));
  plan.mapped = std::min(full.mapped, WholeChunks(budget / 8 / needs.views));
  plan.aliases = std::min(full.aliases, WholeChunks(budget / 16 / needs.views));
  plan.device_memory = std::min(full.device_memory, plan.window / 2);  // twice as many addresses as bytes, as above
  const size_t smallest = std::min({plan.window, plan.host, plan.mapped, plan.aliases});
  return smallest >= kLeast ? plan : AddressPlan();
}

}  // namespace ropeway
