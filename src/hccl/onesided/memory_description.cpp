#include "hccl/onesided/memory_description.h"

#include <cstring>

namespace ropeway::comm {

HcclMemDesc Pack(const Descriptor& descriptor) {
  HcclMemDesc bytes{};
  memcpy(bytes.desc, &descriptor, sizeof descriptor);
  return bytes;
}

std::optional<Descriptor> Unpack(const HcclMemDesc& bytes) {
  Descriptor descriptor;
  memcpy(&descriptor, bytes.desc, sizeof descriptor);
  const bool type_known = descriptor.type == COMM_MEM_TYPE_DEVICE || descriptor.type == COMM_MEM_TYPE_HOST;
  const bool route_known = descriptor.route >= Route::kAddress && descriptor.route <= Route::kLink;
  if (descriptor.magic != kDescriptorMagic || !type_known || !route_known || descriptor.size == 0) return std::nullopt;
  if (descriptor.address + descriptor.size < descriptor.address) return std::nullopt;
  if (memchr(descriptor.ipc_key, 0, sizeof descriptor.ipc_key) == nullptr) return std::nullopt;
  return descriptor;
}

}  // namespace ropeway::comm
