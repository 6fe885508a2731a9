// Physical memory, a place to map it at, and shareable handles as text, for programs of several processes.
#pragma once

#include <string>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace process_test {

constexpr size_t kUnit = size_t{2} << 20;

struct Memory {
  Memory() = default;
  // -1: the host's.
  explicit Memory(int device) {
    aclrtPhysicalMemProp prop = {};
    prop.memAttr = ACL_MEM_HUGE;
    prop.location = {device < 0 ? 0 : static_cast<uint32_t>(device),
                     device < 0 ? ACL_MEM_LOCATION_TYPE_HOST : ACL_MEM_LOCATION_TYPE_DEVICE};
    RW_CHECK_EQ(aclrtMallocPhysical(&handle, kUnit, &prop, 0), ACL_SUCCESS);
  }
  ~Memory() { Free(); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void Free() {
    if (handle != nullptr) RW_CHECK_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
    handle = nullptr;
  }
  std::string Export(uint64_t flags) const {
    uint64_t number = 0;
    RW_CHECK_EQ(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, flags, &number), ACL_SUCCESS);
    return std::to_string(number);
  }
  aclrtDrvMemHandle handle = nullptr;
};

// Two units of addresses; texts are read and written at the end of the first.
struct Window {
  static constexpr size_t kTextBytes = 64;
  Window() { RW_CHECK_EQ(aclrtReserveMemAddress(reinterpret_cast<void**>(&base), 2 * kUnit, 0, nullptr, 0), ACL_SUCCESS); }
  std::string Read() const {
    char text[kTextBytes] = {};
    RW_CHECK_EQ(aclrtMemcpy(text, kTextBytes, base + kUnit - kTextBytes, kTextBytes, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
    return text;
  }
  void Write(const std::string& words) const {
    char text[kTextBytes] = {};
    words.copy(text, kTextBytes - 1);
    RW_CHECK_EQ(aclrtMemcpy(base + kUnit - kTextBytes, kTextBytes, text, kTextBytes, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  }
  char* base = nullptr;
};

inline aclError ImportNumber(const std::string& number, aclrtDrvMemHandle* handle) {
  return aclrtMemImportFromShareableHandle(std::stoull(number), 0, handle);
}

inline aclError ImportFabric(const std::string& key, aclrtDrvMemHandle* handle) {
  aclrtMemFabricHandle fabric = {};
  key.copy(reinterpret_cast<char*>(fabric.data), sizeof(fabric.data));
  return aclrtMemImportFromShareableHandleV2(&fabric, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, 0, handle);
}

inline std::string PeerStatus(int32_t from, int32_t to) {
  int32_t status = -1;
  RW_CHECK_EQ(aclrtDevicePeerAccessStatus(from, to, &status), ACL_SUCCESS);
  return std::to_string(status);
}

}  // namespace process_test
