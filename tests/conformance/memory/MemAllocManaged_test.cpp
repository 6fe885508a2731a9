// aclrtMemAllocManaged, and what the calls about memory say of such a block.
#include "tests/conformance/memory/managed_block.h"

namespace ropeway_test::bytes {
namespace mem_alloc_managed_test {

using MemAllocManaged = StreamTest;

struct Args : CallArgs {
  void** ptr = nullptr;
  uint64_t size = 4096;
  uint32_t flag = ACL_RT_MEM_ATTACH_GLOBAL;
};

TEST_F(MemAllocManaged, ChecksInOrder) {
  void* const old_value = this;
  void* block = old_value;
  Args valid;
  valid.ptr = &block;
  ExpectCheckOrder<Args>(
      "aclrtMemAllocManaged", valid,
      {{"ptr NULL", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.ptr = nullptr; }},
       {"flag 0", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.flag = 0; }},
       {"flag 2", ACL_ERROR_INVALID_PARAM, [](Args& args) { args.flag = 2; }},
       {"size 0", ACL_ERROR_RT_PARAM_INVALID, [](Args& args) { args.size = 0; }},
       {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& args) { args.without_context = true; }},
       {"more than there is", ACL_ERROR_RT_MEMORY_ALLOCATION, [](Args& args) { args.size = UINT64_MAX; }}},
      [](const Args& args) { return aclrtMemAllocManaged(args.ptr, args.size, args.flag); }, [&] { EXPECT_EQ(block, old_value); });
  EXPECT_NE(block, old_value);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(MemAllocManaged, HostCodeUsesTheAddress) {
  ManagedBuffer block(5 * kMiB);
  std::memset(block.get(), 0x5A, 5 * kMiB);
  EXPECT_EQ(block.get()[5 * kMiB - 1], 0x5A);
}

TEST_F(MemAllocManaged, SizeIsRoundedTo2MiB) {
  ManagedBuffer one(1), more(2 * kMiB + 1);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(one.get()) % (2 * kMiB), 0u);
  void* base = nullptr;
  size_t size = 0;
  EXPECT_EQ(aclrtMemGetAddressRange(one.get() + 100, &base, &size), ACL_SUCCESS);
  EXPECT_EQ(base, one.get());
  EXPECT_EQ(size, 2 * kMiB);
  EXPECT_EQ(aclrtMemGetAddressRange(more.get(), nullptr, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 4 * kMiB);
}

TEST_F(MemAllocManaged, AttributesSayManagedAndWhose) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  {
    ManagedBuffer block(4096);
    aclrtPtrAttributes attributes;
    ASSERT_EQ(aclrtPointerGetAttributes(block.get() + 17, &attributes), ACL_SUCCESS);
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_MANAGED);
    EXPECT_EQ(attributes.location.id, 1u);
    EXPECT_EQ(attributes.pageSize, 2 * kMiB);
    void* pointers[] = {block.get()};
    uint32_t result = 77;
    EXPECT_EQ(aclrtCheckMemType(pointers, 1, ACL_RT_MEM_TYPE_DEV, &result, 0), ACL_SUCCESS);
    EXPECT_EQ(result, 0u) << "managed memory is no memory of a device";
  }
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(MemAllocManaged, TakesNoDeviceMemory) {
  const size_t before = FreeDeviceBytes();
  ManagedBuffer block(64 * kMiB);
  EXPECT_EQ(FreeDeviceBytes(), before);
}

TEST_F(MemAllocManaged, FreedOnceFromAnyThreadByItsStart) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&block, 4096, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFree(static_cast<char*>(block) + 512), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(OnFreshThread([&] { return aclrtFree(block); }), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
  aclrtPtrAttributes attributes;
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtPointerGetAttributes", "ptr", "managed"},
             [&] { return aclrtPointerGetAttributes(block, &attributes); });
  EXPECT_EQ(aclrtMemGetAddressRange(block, &block, nullptr), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(MemAllocManaged, FreeWithDevSyncFreesItToo) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&block, 4096, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeWithDevSync(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(MemAllocManaged, CannotBeRegistered) {
  ManagedBuffer block(4096);
  void* alias = nullptr;
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"ptr", "managed"},
             [&] { return aclrtHostRegister(block.get(), 4096, ACL_HOST_REGISTER_MAPPED, &alias); });
  EXPECT_EQ(aclrtHostRegisterV2(block.get(), 4096, ACL_HOST_REG_PINNED), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(MemAllocManaged, FreedUnderQueuedWorkItsBytesStayUntilTheWorkHasRun) {
  DeviceBuffer device(4096);
  void* block = nullptr;
  ASSERT_EQ(aclrtMemAllocManaged(&block, 4096, 1), ACL_SUCCESS);
  const std::vector<uint8_t> bytes = Pattern(4096, 3);
  std::memcpy(block, bytes.data(), bytes.size());
  HeldStream held(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device.get(), 4096, block, 4096, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  ManagedBuffer next(4096);
  EXPECT_NE(next.get(), block) << "the address is in use";
  std::memset(next.get(), 0, 4096);
  ASSERT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(device.Read(4096), bytes);
}

TEST_F(MemAllocManaged, GoesWithItsDevice) {
  void* block = nullptr;
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemAllocManaged(&block, 4096, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

#ifndef ROPEWAY_TEST_VENDOR
TEST_F(MemAllocManaged, IsCounted) {
  ManagedBuffer one(4096), two(3 * kMiB);
  ropewayLiveCounts live;
  ASSERT_EQ(ropewayGetLiveCounts(&live), ACL_SUCCESS);
  EXPECT_EQ(live.managedBlocks, 2u);
  EXPECT_EQ(live.managedBytes, 6 * kMiB);
}
#endif

}  // namespace mem_alloc_managed_test
}  // namespace ropeway_test::bytes
