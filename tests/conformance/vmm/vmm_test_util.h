// Tools of the tests of virtual memory: reservations, handles and mappings that take themselves back, and what stands in memory.
#pragma once

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::vmm {

using bytes::kGiB;
using bytes::kMiB;
constexpr size_t kUnit = 2 * kMiB;  // the granularity of everything but pages of 1 GiB
constexpr aclError kOuter = ACL_ERROR_INVALID_PARAM;
constexpr aclError kBad = ACL_ERROR_RT_PARAM_INVALID;

inline aclrtPhysicalMemProp PropOf(aclrtMemAttr attribute, aclrtMemLocationType type, uint32_t id) {
  aclrtPhysicalMemProp prop = {};
  prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  prop.memAttr = attribute;
  prop.location = {id, type};
  return prop;
}
inline aclrtPhysicalMemProp DeviceProp(uint32_t device = 0) { return PropOf(ACL_HBM_MEM_HUGE, ACL_MEM_LOCATION_TYPE_DEVICE, device); }
inline aclrtPhysicalMemProp HostProp() { return PropOf(ACL_MEM_NORMAL, ACL_MEM_LOCATION_TYPE_HOST, 0); }

class Range {
 public:
  explicit Range(size_t size, void* expected = nullptr) : size_(size) {
    EXPECT_EQ(aclrtReserveMemAddress(&base_, size, 0, expected, 0), ACL_SUCCESS) << TakeErrorText();
  }
  ~Range() { Release(); }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  void Release() {
    if (base_ == nullptr) return;
    EXPECT_EQ(aclrtReleaseMemAddress(base_), ACL_SUCCESS) << TakeErrorText();
    base_ = nullptr;
  }
  void* get() const { return base_; }
  char* at(size_t offset) const { return static_cast<char*>(base_) + offset; }
  size_t size() const { return size_; }

 private:
  void* base_ = nullptr;
  size_t size_;
};

class Physical {
 public:
  explicit Physical(size_t size = kUnit, aclrtPhysicalMemProp prop = DeviceProp()) : size_(size) {
    EXPECT_EQ(aclrtMallocPhysical(&handle_, size, &prop, 0), ACL_SUCCESS) << TakeErrorText();
  }
  ~Physical() { Free(); }
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;

  void Free() {
    if (handle_ == nullptr) return;
    EXPECT_EQ(aclrtFreePhysical(handle_), ACL_SUCCESS) << TakeErrorText();
    handle_ = nullptr;
  }
  aclrtDrvMemHandle get() const { return handle_; }
  size_t size() const { return size_; }

 private:
  aclrtDrvMemHandle handle_ = nullptr;
  size_t size_;
};

class Mapped {
 public:
  Mapped(void* at, const Physical& memory) : at_(at) {
    EXPECT_EQ(aclrtMapMem(at, memory.size(), 0, memory.get(), 0), ACL_SUCCESS) << TakeErrorText();
  }
  ~Mapped() { Unmap(); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;

  void Unmap() {
    if (at_ == nullptr) return;
    EXPECT_EQ(aclrtUnmapMem(at_), ACL_SUCCESS) << TakeErrorText();
    at_ = nullptr;
  }
  void* get() const { return at_; }

 private:
  void* at_;
};

// What a device address holds, and a way to change it; both synchronous.
inline std::vector<uint8_t> ReadAt(const void* address, size_t count) {
  std::vector<uint8_t> bytes(count);
  EXPECT_EQ(aclrtMemcpy(bytes.data(), count, address, count, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS) << TakeErrorText();
  return bytes;
}
inline void WriteAt(void* address, const std::vector<uint8_t>& bytes) {
  EXPECT_EQ(aclrtMemcpy(address, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS) << TakeErrorText();
}
// Whether the address lies in a block that copies accept.
inline bool IsThere(const void* address) {
  uint8_t byte = 0;
  const aclError code = aclrtMemcpy(&byte, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST);
  EXPECT_TRUE(code == ACL_SUCCESS || code == kBad) << code;
  TakeErrorText();
  return code == ACL_SUCCESS;
}

inline aclrtMemAccessDesc ReadWrite(aclrtMemLocationType type, uint32_t id) {
  aclrtMemAccessDesc desc = {};
  desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  desc.location = {id, type};
  return desc;
}

}  // namespace ropeway_test::vmm
