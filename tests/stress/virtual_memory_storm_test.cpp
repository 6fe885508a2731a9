// Threads that map, unmap and copy in one reservation, without waiting for their streams: every byte has to end up in the memory
// that was mapped when its copy was queued.
#include "tests/stress/stress_util.h"
#include "tests/support/sanitized.h"

namespace ropeway_test {
namespace virtual_memory_storm_test {

constexpr size_t kUnit = size_t{2} << 20;
constexpr size_t kSlotsEach = 4, kHandlesEach = 6;
constexpr size_t kBytes = 4096;  // of a handle, that are looked at
constexpr int kThreads = 4;

class VirtualMemoryStorm : public DeviceTest {};

struct Handle {
  aclrtDrvMemHandle handle = nullptr;
  uint8_t expected = 0;
  bool mapped = false;
};

class Worker {
 public:
  Worker(char* base, uint32_t number) : base_(base), random_(number) {
    EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    aclrtPhysicalMemProp prop = {};
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    for (Handle& handle : handles_) EXPECT_EQ(aclrtMallocPhysical(&handle.handle, kUnit, &prop, 0), ACL_SUCCESS);
  }

  void Step() {
    const size_t at = random_.Below(kSlotsEach);
    if (slots_[at] == nullptr) {
      Map(at);
    } else if (random_.OneIn(3)) {
      Unmap(at);
    } else if (random_.OneIn(4)) {
      EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      ExpectBytes(base_ + at * kUnit, *slots_[at]);
    } else {
      slots_[at]->expected = random_.Byte();
      EXPECT_EQ(aclrtMemsetAsync(base_ + at * kUnit, kUnit, slots_[at]->expected, kBytes, stream_), ACL_SUCCESS);
    }
  }

  // Whatever was queued last for a handle stands in it.
  void Finish() {
    for (size_t at = 0; at < kSlotsEach; ++at) {
      if (slots_[at] != nullptr) Unmap(at);
    }
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    for (Handle& handle : handles_) {
      EXPECT_EQ(aclrtMapMem(base_, kUnit, 0, handle.handle, 0), ACL_SUCCESS);
      ExpectBytes(base_, handle);
      EXPECT_EQ(aclrtUnmapMem(base_), ACL_SUCCESS);
      EXPECT_EQ(aclrtFreePhysical(handle.handle), ACL_SUCCESS);
    }
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  }

 private:
  void Map(size_t at) {
    Handle& handle = handles_[random_.Below(kHandlesEach)];
    if (handle.mapped) return;
    EXPECT_EQ(aclrtMapMem(base_ + at * kUnit, kUnit, 0, handle.handle, 0), ACL_SUCCESS) << TakeErrorText();
    handle.mapped = true;
    slots_[at] = &handle;
  }
  void Unmap(size_t at) {
    EXPECT_EQ(aclrtUnmapMem(base_ + at * kUnit), ACL_SUCCESS) << TakeErrorText();
    slots_[at]->mapped = false;
    slots_[at] = nullptr;
  }
  void ExpectBytes(const char* address, const Handle& handle) {
    std::vector<uint8_t> bytes(kBytes);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), kBytes, address, kBytes, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS) << TakeErrorText();
    EXPECT_EQ(bytes, std::vector<uint8_t>(kBytes, handle.expected));
  }

  char* const base_;
  Random random_;
  aclrtStream stream_ = nullptr;
  Handle handles_[kHandlesEach];
  Handle* slots_[kSlotsEach] = {};
};

// Asks about addresses while they come and go; any answer is right, as long as it is one.
void AskAround(char* base, uint32_t number, int steps) {
  Random random(number);
  for (int step = 0; step < steps; ++step) {
    char* const address = base + random.Below(kThreads * kSlotsEach * kUnit);
    void *start = nullptr, *view = nullptr;
    size_t size = 0;
    aclrtPtrAttributes attributes = {};
    if (aclrtMemGetAddressRange(address, &start, &size) == ACL_SUCCESS) {
      EXPECT_EQ(size, kUnit);
      EXPECT_EQ((static_cast<char*>(start) - base) % kUnit, 0u);
    }
    if (aclrtPointerGetAttributes(address, &attributes) == ACL_SUCCESS) EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    const aclError viewed = ropewayHostView(address, random.Below(4 * kUnit), &view);
    EXPECT_TRUE(viewed == ACL_SUCCESS || viewed == ACL_ERROR_RT_PARAM_INVALID);
    TakeErrorText();
  }
}

TEST_F(VirtualMemoryStorm, EveryByteGoesWhereItWasMapped) {
  void* base = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&base, kThreads * kSlotsEach * kUnit, 0, nullptr, 0), ACL_SUCCESS);
  const int steps = Rounds(kSanitized ? 300 : 1500);
  OnThreads(kThreads + 1, [&](int number) {
    const auto seed = static_cast<uint32_t>(number);
    auto* addresses = static_cast<char*>(base);
    if (number == kThreads) return AskAround(addresses, seed, steps);
    Worker worker(addresses + seed * kSlotsEach * kUnit, seed);
    for (int step = 0; step < steps; ++step) worker.Step();
    worker.Finish();
  });
  EXPECT_EQ(aclrtReleaseMemAddress(base), ACL_SUCCESS);
}

}  // namespace virtual_memory_storm_test
}  // namespace ropeway_test
