// A pool on device 0 and two streams, for the tests of stream-ordered pools.
#pragma once

#include "acl/acl_rt_memory_soma.h"
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {

constexpr size_t kGrain = 2 * kMiB;

inline aclrtMemPoolProps PoolOnDevice(uint32_t device, size_t max_size = 0) {
  aclrtMemPoolProps props = {};
  props.location = {device, ACL_MEM_LOCATION_TYPE_DEVICE};
  props.maxSize = max_size;
  return props;
}

class PoolTest : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&other_), ACL_SUCCESS);
    MakePool(0);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStreamForce(other_), ACL_SUCCESS);
    if (pool_ != nullptr) EXPECT_EQ(aclrtMemPoolDestroy(pool_), ACL_SUCCESS);
    StreamTest::TearDown();
  }
  // In place of the one that is there.
  void MakePool(size_t max_size) {
    if (pool_ != nullptr) ASSERT_EQ(aclrtMemPoolDestroy(pool_), ACL_SUCCESS);
    const aclrtMemPoolProps props = PoolOnDevice(0, max_size);
    ASSERT_EQ(aclrtMemPoolCreate(&pool_, &props), ACL_SUCCESS);
  }
  void* Malloc(size_t size, aclrtStream stream) {
    void* block = nullptr;
    EXPECT_EQ(aclrtMemPoolMallocAsync(&block, size, pool_, stream), ACL_SUCCESS);
    EXPECT_NE(block, nullptr);
    return block;
  }
  void Free(void* block, aclrtStream stream) { EXPECT_EQ(aclrtMemPoolFreeAsync(block, stream), ACL_SUCCESS); }
  uint64_t Get(aclrtMemPoolAttr attr) {
    uint64_t value = 0;
    EXPECT_EQ(aclrtMemPoolGetAttr(pool_, attr, &value), ACL_SUCCESS);
    return value;
  }
  uint64_t Reserved() { return Get(ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT); }
  uint64_t Used() { return Get(ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT); }
  void Switch(aclrtMemPoolAttr attr, uint32_t on) { ASSERT_EQ(aclrtMemPoolSetAttr(pool_, attr, &on), ACL_SUCCESS); }
  void OnlySwitch(int attr) {
    for (int other = 1; other <= 3; ++other) Switch(static_cast<aclrtMemPoolAttr>(other), other == attr);
  }
  // How much the pool keeps when a stream is synchronised.
  void Keep(uint64_t bytes) { ASSERT_EQ(aclrtMemPoolSetAttr(pool_, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &bytes), ACL_SUCCESS); }

  aclrtMemPool pool_ = nullptr;
  aclrtStream other_ = nullptr;
};

}  // namespace ropeway_test::bytes
