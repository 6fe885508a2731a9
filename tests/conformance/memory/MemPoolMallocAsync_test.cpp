// aclrtMemPoolMallocAsync and aclrtMemPoolFreeAsync: checks, and what such a block is to the other calls.
#include "tests/conformance/memory/pool_fixture.h"

namespace ropeway_test::bytes {
namespace mem_pool_malloc_async_test {

class MemPoolMallocAsync : public PoolTest {};
class MemPoolFreeAsync : public PoolTest {};

struct MallocArgs : CallArgs {
  void** ptr = nullptr;
  size_t size = 4096;
  aclrtMemPool pool = nullptr;
  aclrtStream stream = nullptr;
};

TEST_F(MemPoolMallocAsync, ChecksInOrder) {
  void* const old_value = this;
  void* block = old_value;
  BadStreams bad;
  ForeignStream foreign;
  MallocArgs valid;
  valid.ptr = &block;
  valid.pool = pool_;
  valid.stream = stream_;
  ExpectCheckOrder<MallocArgs>(
      "aclrtMemPoolMallocAsync", valid,
      {{"ptr NULL", ACL_ERROR_INVALID_PARAM, [](MallocArgs& args) { args.ptr = nullptr; }},
       {"memPool NULL", ACL_ERROR_INVALID_PARAM, [](MallocArgs& args) { args.pool = nullptr; }},
       {"stream NULL", ACL_ERROR_INVALID_PARAM, [](MallocArgs& args) { args.stream = nullptr; }},
       {"size 0 is nothing to do", ACL_SUCCESS, [](MallocArgs& args) { args.size = 0; }},
       {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](MallocArgs& args) { args.stream = bad.destroyed(); }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](MallocArgs& args) { args.without_context = true; }},
       {"stream of another context", ACL_ERROR_RT_STREAM_CONTEXT, [&](MallocArgs& args) { args.stream = foreign.get(); }},
       {"rounding wraps", ACL_ERROR_RT_PARAM_INVALID, [](MallocArgs& args) { args.size = SIZE_MAX; }},
       {"no pool", ACL_ERROR_RT_INTERNAL_ERROR, [this](MallocArgs& args) { args.pool = stream_; }},
       {"more than the pool may have", ACL_ERROR_RT_INTERNAL_ERROR, [](MallocArgs& args) { args.size = SIZE_MAX / 2; }}},
      [](const MallocArgs& args) { return aclrtMemPoolMallocAsync(args.ptr, args.size, args.pool, args.stream); },
      [&] { EXPECT_EQ(block, old_value); });
  EXPECT_NE(block, old_value);
  Free(block, stream_);
}

TEST_F(MemPoolMallocAsync, ReturnsAtOnceAndTheBlockWorksInTheStream) {
  const std::vector<uint8_t> bytes = Pattern(4096, 1);
  PinnedBuffer source(4096), back(4096);
  Fill(source, bytes);
  HeldStream held(stream_);
  void* block = Malloc(4096, stream_);
  ASSERT_EQ(aclrtMemcpyAsync(block, 4096, source.get(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(back.get(), 4096, block, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  Free(block, stream_);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(BytesAt(back.get(), 4096), bytes);
}

TEST_F(MemPoolMallocAsync, BlocksAreDeviceMemoryInMultiplesOf2MiB) {
  void* block = Malloc(kGrain + 1, stream_);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % 512, 0u);
  void* base = nullptr;
  size_t size = 0;
  ASSERT_EQ(aclrtMemGetAddressRange(static_cast<char*>(block) + 5, &base, &size), ACL_SUCCESS);
  EXPECT_EQ(base, block);
  EXPECT_EQ(size, 2 * kGrain);
  aclrtPtrAttributes attributes;
  ASSERT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(attributes.location.id, 0u);
  EXPECT_EQ(attributes.pageSize, kGrain);
  EXPECT_EQ(aclrtMemset(block, 2 * kGrain, 1, 2 * kGrain), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block, 2 * kGrain + 1, 1, 2 * kGrain + 1), ACL_ERROR_RT_PARAM_INVALID) << "past its end";
  Free(block, stream_);
}

TEST_F(MemPoolMallocAsync, NotForACapturedStream) {
  void* block = Malloc(1, stream_);
  aclmdlRI graph = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  void* next = this;
  EXPECT_EQ(aclrtMemPoolMallocAsync(&next, 1, pool_, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(next, this);
  EXPECT_EQ(aclrtMemPoolFreeAsync(block, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(graph), ACL_SUCCESS);
  Free(block, stream_);
}

// --- Free ---------------------------------------------------------------------------------------------------------------

struct FreeArgs : CallArgs {
  void* ptr = nullptr;
  aclrtStream stream = nullptr;
};

TEST_F(MemPoolFreeAsync, ChecksInOrder) {
  DeviceBuffer device(64);
  BadStreams bad;
  ForeignStream foreign;
  int local = 0;
  char* const block = static_cast<char*>(Malloc(4096, stream_));
  FreeArgs valid;
  valid.ptr = block;
  valid.stream = stream_;
  ExpectCheckOrder<FreeArgs>(
      "aclrtMemPoolFreeAsync", valid,
      {{"ptr NULL", ACL_ERROR_INVALID_PARAM, [](FreeArgs& args) { args.ptr = nullptr; }},
       {"stream NULL", ACL_ERROR_RT_INTERNAL_ERROR, [](FreeArgs& args) { args.stream = nullptr; }},
       {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](FreeArgs& args) { args.stream = bad.destroyed(); }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](FreeArgs& args) { args.without_context = true; }},
       {"stream of another context", ACL_ERROR_RT_STREAM_CONTEXT, [&](FreeArgs& args) { args.stream = foreign.get(); }},
       {"memory of aclrtMalloc", ACL_ERROR_RT_PARAM_INVALID, [&](FreeArgs& args) { args.ptr = device.get(); }},
       {"pageable memory", ACL_ERROR_RT_PARAM_INVALID, [&](FreeArgs& args) { args.ptr = &local; }},
       {"inside a block", ACL_ERROR_RT_PARAM_INVALID, [&](FreeArgs& args) { args.ptr = block + 512; }}},
      [](const FreeArgs& args) { return aclrtMemPoolFreeAsync(args.ptr, args.stream); }, [&] { EXPECT_EQ(Used(), kGrain); });
  EXPECT_EQ(aclrtMemPoolFreeAsync(block, stream_), ACL_ERROR_RT_PARAM_INVALID) << "a second time";
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(MemPoolFreeAsync, BlockIsGoneForEveryLaterCall) {
  DeviceBuffer device(64);
  HeldStream held(stream_);
  void* block = Malloc(64, stream_);
  Free(block, stream_);
  aclrtPtrAttributes attributes;
  EXPECT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyAsync(block, 64, device.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemsetAsync(block, 64, 0, 64, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemGetAddressRange(block, &block, nullptr), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(MemPoolFreeAsync, AnyStreamMayFreeIt) {
  Keep(kGiB);
  void* block = Malloc(64, stream_);
  HeldStream held(other_);
  Free(block, other_);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(Used(), kGrain) << "freed in the order of the other stream";
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(Used(), 0u);
}

TEST_F(MemPoolFreeAsync, AbortingTheStreamFreesIt) {
  Keep(kGiB);
  void* block = Malloc(64, stream_);
  aclrtEvent never = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, never), ACL_SUCCESS);
  Free(block, stream_);
  EXPECT_EQ(Used(), kGrain);
  ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(Used(), 0u) << "nothing of the stream uses it any more";
  EXPECT_EQ(aclrtDestroyEvent(never), ACL_SUCCESS);
}

TEST_F(MemPoolFreeAsync, PlainFreeGivesToThePoolToo) {
  Keep(kGiB);
  void* block = Malloc(64, stream_);
  EXPECT_EQ(aclrtFree(static_cast<char*>(block) + 512), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(block), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(OnFreshThread([&] { return aclrtFree(block); }), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemPoolFreeAsync(block, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Used(), 0u);
  EXPECT_EQ(Reserved(), kGrain);
  EXPECT_EQ(Malloc(64, other_), block) << "free for everybody";
  EXPECT_EQ(aclrtFreeWithDevSync(block), ACL_SUCCESS);
}

TEST_F(MemPoolFreeAsync, PlainFreeUnderQueuedWorkHarmsNothing) {
  Keep(kGiB);
  DeviceBuffer device(64);
  const std::vector<uint8_t> bytes = Pattern(64, 2);
  void* block = Malloc(64, stream_);
  ASSERT_EQ(aclrtMemcpy(block, 64, bytes.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device.get(), 64, block, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(Used(), kGrain);
  void* next = Malloc(64, stream_);
  EXPECT_NE(next, block) << "not before what was queued has run";
  ASSERT_EQ(aclrtMemset(next, 64, 0, 64), ACL_SUCCESS);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(device.Read(64), bytes);
  Free(next, stream_);
}

}  // namespace mem_pool_malloc_async_test
}  // namespace ropeway_test::bytes
