// aclrtMemPoolCreate and aclrtMemPoolDestroy: what a pool is made of, and when it can end.
#include "tests/conformance/memory/pool_fixture.h"

namespace ropeway_test::bytes {
namespace mem_pool_create_test {

class MemPoolCreate : public StreamTest {};
class MemPoolDestroy : public PoolTest {};

struct Args : CallArgs {
  aclrtMemPool* pool = nullptr;
  aclrtMemPoolProps props = PoolOnDevice(0);
  bool no_props = false;
};

size_t TotalDeviceBytes() {
  size_t free_bytes = 0, total_bytes = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes), ACL_SUCCESS);
  return total_bytes;
}

TEST_F(MemPoolCreate, ChecksInOrder) {
  void* const old_value = this;
  aclrtMemPool pool = old_value;
  Args valid;
  valid.pool = &pool;
  const size_t total = TotalDeviceBytes();
  ExpectCheckOrder<Args>(
      "aclrtMemPoolCreate", valid,
      {{"memPool NULL", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.pool = nullptr; }},
       {"poolProps NULL", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.no_props = true; }},
       {"allocType 1", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.props.allocType = static_cast<aclrtMemAllocationType>(1); }},
       {"on the host", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.props.location.type = ACL_MEM_LOCATION_TYPE_HOST; }},
       {"reserved byte", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.props.reserved[31] = 1; }},
       {"device 99", ACL_ERROR_RT_INVALID_DEVICEID, [](Args& args) { args.props.location.id = 99; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& args) { args.without_context = true; }},
       {"larger than the device", ACL_ERROR_RT_PARAM_INVALID, [total](Args& args) { args.props.maxSize = total + 1; }},
       {"so large that rounding wraps", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.props.maxSize = SIZE_MAX; }}},
      [](const Args& args) { return aclrtMemPoolCreate(args.pool, args.no_props ? nullptr : &args.props); },
      [&] { EXPECT_EQ(pool, old_value); });
  EXPECT_NE(pool, old_value);
  EXPECT_EQ(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
}

TEST_F(MemPoolCreate, MaxSizeIsRoundedUp) {
  const aclrtMemPoolProps props = PoolOnDevice(0, kGrain + 1);
  aclrtMemPool pool = nullptr;
  ASSERT_EQ(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
  void* one = nullptr;
  void* two = nullptr;
  void* three = this;
  EXPECT_EQ(aclrtMemPoolMallocAsync(&one, 1, pool, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolMallocAsync(&two, 1, pool, stream_), ACL_SUCCESS);
  ExpectText(ACL_ERROR_RT_INTERNAL_ERROR, {"size", "pool holds 4194304 of at most 4194304 bytes"},
             [&] { return aclrtMemPoolMallocAsync(&three, 1, pool, stream_); });
  EXPECT_EQ(three, this);
  EXPECT_EQ(aclrtFree(one), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(two), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
}

TEST_F(MemPoolCreate, WholeDeviceWithoutAMaxSize) {
  const aclrtMemPoolProps props = PoolOnDevice(0);
  aclrtMemPool pool = nullptr;
  ASSERT_EQ(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
  void* block = nullptr;
  const size_t all = TotalDeviceBytes() / kGrain * kGrain;
  EXPECT_EQ(aclrtMemPoolMallocAsync(&block, all + 1, pool, stream_), ACL_ERROR_RT_INTERNAL_ERROR);
  ASSERT_EQ(aclrtMemPoolMallocAsync(&block, all, pool, stream_), ACL_SUCCESS);
  EXPECT_EQ(FreeDeviceBytes(), TotalDeviceBytes() - all);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
}

TEST_F(MemPoolCreate, PoolsAreIndependent) {
  const aclrtMemPoolProps props = PoolOnDevice(0, kGrain);
  aclrtMemPool pools[2] = {};
  void* blocks[2] = {};
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(aclrtMemPoolCreate(&pools[i], &props), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemPoolMallocAsync(&blocks[i], kGrain, pools[i], stream_), ACL_SUCCESS);
  }
  EXPECT_NE(pools[0], pools[1]);
  EXPECT_NE(blocks[0], blocks[1]);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(aclrtFree(blocks[i]), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemPoolDestroy(pools[i]), ACL_SUCCESS);
  }
}

TEST_F(MemPoolCreate, AnotherDevice) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  const aclrtMemPoolProps props = PoolOnDevice(1);
  aclrtMemPool pool = nullptr;
  ASSERT_EQ(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMemPoolMallocAsync(&block, 1, pool, stream), ACL_SUCCESS);
  aclrtPtrAttributes attributes;
  ASSERT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attributes.location.id, 1u);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

// --- Destroy ------------------------------------------------------------------------------------------------------------

struct DestroyArgs : CallArgs {
  aclrtMemPool pool = nullptr;
};

TEST_F(MemPoolDestroy, ChecksInOrder) {
  int no_pool = 0;
  DestroyArgs valid;
  valid.pool = pool_;
  ExpectCheckOrder<DestroyArgs>(
      "aclrtMemPoolDestroy", valid,
      {{"memPool NULL", ACL_ERROR_INVALID_PARAM, [](DestroyArgs& args) { args.pool = nullptr; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](DestroyArgs& args) { args.without_context = true; }},
       {"a stream", ACL_ERROR_RT_INTERNAL_ERROR, [this](DestroyArgs& args) { args.pool = stream_; }},
       {"an address", ACL_ERROR_RT_INTERNAL_ERROR, [&](DestroyArgs& args) { args.pool = &no_pool; }}},
      [](const DestroyArgs& args) { return aclrtMemPoolDestroy(args.pool); }, [&] { EXPECT_EQ(Reserved(), 0u); });
  EXPECT_EQ(aclrtMemPoolDestroy(pool_), ACL_ERROR_RT_INTERNAL_ERROR) << "a second time";
  pool_ = nullptr;
}

TEST_F(MemPoolDestroy, NotWhileSomebodyHasABlock) {
  void* block = Malloc(1, stream_);
  ExpectText(ACL_ERROR_RT_INTERNAL_ERROR, {"memPool", "1 blocks", "free them first"}, [&] { return aclrtMemPoolDestroy(pool_); });
  Free(block, stream_);
}

TEST_F(MemPoolDestroy, FreesThatAreStillQueuedDoNotMatter) {
  DeviceBuffer device(64);
  const std::vector<uint8_t> bytes = Pattern(64, 1);
  const size_t before = FreeDeviceBytes();
  void* block = Malloc(64, stream_);
  ASSERT_EQ(aclrtMemcpy(block, 64, bytes.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device.get(), 64, block, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  Free(block, stream_);
  ASSERT_EQ(aclrtMemPoolDestroy(pool_), ACL_SUCCESS);
  pool_ = nullptr;
  EXPECT_EQ(FreeDeviceBytes(), before);
  void* next = nullptr;
  ASSERT_EQ(aclrtMalloc(&next, kGrain, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_NE(next, block) << "the stream still reads there";
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(device.Read(64), bytes);
  EXPECT_EQ(aclrtFree(next), ACL_SUCCESS);
}

TEST_F(MemPoolDestroy, PoolsGoWithTheirDevice) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  const aclrtMemPoolProps props = PoolOnDevice(1);
  aclrtMemPool pool = nullptr;
  ASSERT_EQ(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMemPoolMallocAsync(&block, 1, pool, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolDestroy(pool), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemPoolFreeAsync(block, stream_), ACL_ERROR_RT_PARAM_INVALID);
}

}  // namespace mem_pool_create_test
}  // namespace ropeway_test::bytes
