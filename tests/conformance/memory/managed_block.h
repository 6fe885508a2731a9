// A block of managed memory that frees itself, for the tests of managed memory.
#pragma once

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {

constexpr aclrtMemManagedLocation kManagedOnDevice0 = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
constexpr aclrtMemManagedLocation kManagedOnDevice1 = {ACL_MEM_LOCATIONTYPE_DEVICE, 1};
constexpr aclrtMemManagedLocation kManagedOnHost = {ACL_MEM_LOCATIONTYPE_HOST, 0};

class ManagedBuffer {
 public:
  explicit ManagedBuffer(size_t size) { EXPECT_EQ(aclrtMemAllocManaged(&data_, size, ACL_RT_MEM_ATTACH_GLOBAL), ACL_SUCCESS); }
  ~ManagedBuffer() {
    if (data_ != nullptr) EXPECT_EQ(aclrtFree(data_), ACL_SUCCESS);
  }
  ManagedBuffer(const ManagedBuffer&) = delete;
  ManagedBuffer& operator=(const ManagedBuffer&) = delete;
  uint8_t* get() const { return static_cast<uint8_t*>(data_); }

 private:
  void* data_ = nullptr;
};

// An attribute of [ptr, ptr + size).
inline int32_t ManagedAttribute(aclrtMemManagedRangeAttribute attribute, const void* ptr, size_t size) {
  int32_t value = 77;
  EXPECT_EQ(aclrtMemManagedGetAttr(attribute, ptr, size, &value, sizeof(value)), ACL_SUCCESS);
  return value;
}

}  // namespace ropeway_test::bytes
