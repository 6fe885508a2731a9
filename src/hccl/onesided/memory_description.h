// What the 512 opaque bytes of a HcclMemDesc say. A descriptor names memory; it does not open it: that takes the pair's control
// channel, over which it must have come.
#pragma once

#include <cstdint>
#include <optional>

#include "hccl/hccl_one_sided_services.h"

namespace ropeway::comm {

// How the importer gets there. The exporter decides, since it has to prepare it.
enum class Route : uint32_t {
  kAddress = 1,  // same process: the exporter's own address
  kMapping = 2,  // same host: an imported mapping
  kLink = 3,     // the network
};

struct Descriptor {
  uint32_t exporter;  // these two stand first: ranks in the communicator
  uint32_t importer;
  uint64_t magic;
  uint64_t region;  // the exporter's number
  uint64_t address;
  uint64_t size;
  int32_t type;  // CommMemType
  Route route;
  char ipc_key[65];  // of a mapping, else ""
};
static_assert(sizeof(Descriptor) <= sizeof(HcclMemDesc));
constexpr uint64_t kDescriptorMagic = 0x3130'5344'5752'0001;  // changes with the layout

HcclMemDesc Pack(const Descriptor& descriptor);
// Empty when these bytes are not a descriptor.
std::optional<Descriptor> Unpack(const HcclMemDesc& bytes);

inline bool SameRange(const Descriptor& a, const Descriptor& b) { return a.address == b.address && a.size == b.size; }
// Neither disjoint nor the same.
inline bool PartlyOverlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size) {
  return a < b + b_size && b < a + a_size && !(a == b && a_size == b_size);
}
inline bool Contains(uint64_t outer, uint64_t outer_size, uint64_t inner, uint64_t inner_size) {
  return inner >= outer && inner - outer <= outer_size && inner_size <= outer_size - (inner - outer);
}

}  // namespace ropeway::comm
