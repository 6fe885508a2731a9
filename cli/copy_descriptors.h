// Copy descriptors in device memory: what aclrtSetMemcpyDesc writes and aclrtMemcpyAsyncWithDesc launches.
#pragma once

#include <cstddef>

#include "cli/acl_objects.h"

namespace ropeway::cli {

class CopyDescriptors {
 public:
  explicit CopyDescriptors(size_t count) : block_(count * Stride()) {}

  void* at(size_t i) const { return block_.at(i * Stride()); }
  // Not ordered with any stream: the launches of this one must be over, or the stream held back.
  void Set(size_t i, void* dst, void* src, size_t size) const { RW_ACL(aclrtSetMemcpyDesc(at(i), kKind, src, dst, size, nullptr)); }
  void Launch(size_t i, const Stream& stream) const { RW_ACL(aclrtMemcpyAsyncWithDesc(at(i), kKind, stream.get())); }

  // Whether the product that this process stands for has descriptors.
  static bool Supported() {
    size_t size = 0;
    return aclrtGetMemcpyDescSize(kKind, &size) == ACL_SUCCESS;
  }
  // Bytes of one descriptor.
  static size_t Size() {
    size_t size = 0;
    RW_ACL(aclrtGetMemcpyDescSize(kKind, &size));
    return size;
  }

 private:
  static constexpr aclrtMemcpyKind kKind = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;
  static constexpr size_t kAlignment = 64;

  static size_t Stride() {
    static const size_t stride = (Size() + kAlignment - 1) / kAlignment * kAlignment;
    return stride;
  }

  DeviceBlock block_;
};

}  // namespace ropeway::cli
