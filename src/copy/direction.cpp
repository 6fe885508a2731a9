#include "copy/direction.h"

#include <iterator>

namespace ropeway {

const char* PlaceName(Place place) {
  static constexpr const char* kNames[] = {"pinned host memory", "device memory", "pageable host memory", "freed memory", "managed memory"};
  return kNames[static_cast<int>(place)];
}

const char* KindName(aclrtMemcpyKind kind) {
  static constexpr const char* kNames[] = {"ACL_MEMCPY_HOST_TO_HOST",
                                           "ACL_MEMCPY_HOST_TO_DEVICE",
                                           "ACL_MEMCPY_DEVICE_TO_HOST",
                                           "ACL_MEMCPY_DEVICE_TO_DEVICE",
                                           "ACL_MEMCPY_DEFAULT",
                                           "ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE",
                                           "ACL_MEMCPY_INNER_DEVICE_TO_DEVICE",
                                           "ACL_MEMCPY_INTER_DEVICE_TO_DEVICE"};
  const auto index = static_cast<unsigned>(kind);
  return index < std::size(kNames) ? kNames[index] : "an unknown kind";
}

}  // namespace ropeway
