// What the tests of descriptor and offset copies share: the bytes of a descriptor, memory of a second device, and the
// expectation that a task was accepted and failed when it ran.
#pragma once

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {

constexpr auto kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

// A descriptor of A2 and A3 (rules/descriptors.md 2). Opaque to programs; tests write it to make bad ones.
struct Descriptor {
  uint32_t header[3] = {};
  uint32_t length = 0;  // 0: 4 GiB
  uint64_t src = 0;
  uint64_t dst = 0;
};
constexpr size_t kDescSize = 32;
static_assert(sizeof(Descriptor) == kDescSize);

inline uint64_t Number(const void* address) { return reinterpret_cast<uintptr_t>(address); }

inline Descriptor Describe(const void* src, const void* dst, uint32_t length) {
  Descriptor descriptor;
  descriptor.length = length;
  descriptor.src = Number(src);
  descriptor.dst = Number(dst);
  return descriptor;
}

inline void WriteBytes(void* device, const void* bytes, size_t count) {
  ASSERT_EQ(aclrtMemcpy(device, count, bytes, count, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
}

inline std::vector<uint8_t> ReadBytes(const void* device, size_t count) {
  std::vector<uint8_t> bytes(count);
  EXPECT_EQ(aclrtMemcpy(bytes.data(), count, device, count, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  return bytes;
}

// A device address that was a block until now. Later allocations may be given it.
inline void* FreedBlock() {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, 256, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  return block;
}

// The work of `stream` contains a task that failed while it ran: 507013, once, with a text that names the submitter.
inline void ExpectFailsOnce(const char* submitted_by, aclrtStream stream) {
  const Outcome first = Observe([&] { return aclrtSynchronizeStream(stream); });
  EXPECT_EQ(first.code, ACL_ERROR_RT_SYS_DMA);
  ExpectReported(first, submitted_by);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << "the error was handed out twice";
}

// Two blocks and a stream on device 1. Device 0 stays current, and has no access to them.
class SecondDevice {
 public:
  static constexpr size_t kSize = 256;

  static bool Exists() {
    uint32_t devices = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&devices), ACL_SUCCESS);
    return devices >= 2;
  }

  SecondDevice() {
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    for (void*& block : blocks_) EXPECT_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST_P2P), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  ~SecondDevice() {
    Run([&] {
      for (void* block : blocks_) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    });
    EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
  }
  SecondDevice(const SecondDevice&) = delete;
  SecondDevice& operator=(const SecondDevice&) = delete;

  // Runs `body` with device 1 current.
  void Run(const Callable<void()>& body) const {
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    body();
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void* block(size_t i) const { return blocks_[i]; }
  aclrtStream stream() const { return stream_; }

 private:
  aclrtStream stream_ = nullptr;
  void* blocks_[2] = {};
};

}  // namespace ropeway_test::bytes
