// aclrtMemGetAddressRange: base and reserved size of the block an address lies in.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace mem_get_address_range_test {

using MemGetAddressRange = DeviceTest;

void ExpectRange(void* pointer, void* base, size_t size) {
  void* seen_base = nullptr;
  size_t seen_size = 0;
  ASSERT_EQ(aclrtMemGetAddressRange(pointer, &seen_base, &seen_size), ACL_SUCCESS);
  EXPECT_EQ(seen_base, base);
  EXPECT_EQ(seen_size, size);
}

struct Args : CallArgs {
  void* ptr;
  bool null_base = false;
  bool null_size = false;
};

TEST_F(MemGetAddressRange, EarlierCheckWins) {
  DeviceBuffer device(64);
  int word = 0;
  void* base = &word;
  size_t size = 77;
  Args valid;
  valid.ptr = device.get();
  const std::vector<Check<Args>> checks = {
      {"ptr NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.ptr = nullptr; }},
      {"both outputs NULL", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.null_base = a.null_size = true; }},
      {"pageable", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.ptr = &word; }},
  };
  auto call = [&](const Args& a) { return aclrtMemGetAddressRange(a.ptr, a.null_base ? nullptr : &base, a.null_size ? nullptr : &size); };
  ExpectCheckOrder("aclrtMemGetAddressRange", valid, checks, call, [&] {
    EXPECT_EQ(base, &word);
    EXPECT_EQ(size, 77u);
  });
  EXPECT_EQ(base, device.get());
  EXPECT_EQ(size, 96u);
}

TEST_F(MemGetAddressRange, OneOutputIsEnough) {
  DeviceBuffer device(64);
  void* base = nullptr;
  size_t size = 0;
  EXPECT_EQ(aclrtMemGetAddressRange(device.at(10), &base, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemGetAddressRange(device.at(10), nullptr, &size), ACL_SUCCESS);
  EXPECT_EQ(base, device.get());
  EXPECT_EQ(size, 96u);
}

TEST_F(MemGetAddressRange, SizeIsTheReservedOneFromEveryPlaceInTheBlock) {
  const struct {
    const char* what;
    Callable<aclError(void**, size_t)> allocate;
    size_t size;
    size_t reserved;
  } rows[] = {
      {"aclrtMalloc", [](void** p, size_t n) { return aclrtMalloc(p, n, ACL_MEM_MALLOC_HUGE_FIRST); }, 1000, 1056},
      {"aclrtMalloc in huge pages", [](void** p, size_t n) { return aclrtMalloc(p, n, ACL_MEM_MALLOC_HUGE_ONLY); }, 33, 96},
      {"aclrtMalloc in 1 GiB pages", [](void** p, size_t n) { return aclrtMalloc(p, n, ACL_MEM_MALLOC_HUGE1G_ONLY); }, kGiB, kGiB},
      {"aclrtMallocCached", [](void** p, size_t n) { return aclrtMallocCached(p, n, ACL_MEM_MALLOC_HUGE_FIRST); }, 1, 64},
      {"aclrtMallocAlign32", [](void** p, size_t n) { return aclrtMallocAlign32(p, n, ACL_MEM_MALLOC_HUGE_FIRST); }, 1000, 1024},
      {"aclrtMallocWithCfg", [](void** p, size_t n) { return aclrtMallocWithCfg(p, n, ACL_MEM_MALLOC_HUGE_FIRST, nullptr); }, 33, 64},
      {"aclrtMallocHost", [](void** p, size_t n) { return aclrtMallocHost(p, n); }, 1000, 1024},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    void* block = nullptr;
    ASSERT_EQ(row.allocate(&block, row.size), ACL_SUCCESS);
    for (size_t offset : {size_t{0}, size_t{1}, row.size - 1, row.reserved - 1}) {
      ExpectRange(static_cast<char*>(block) + offset, block, row.reserved);
    }
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
}

TEST_F(MemGetAddressRange, AnyOtherAddressIsRejected) {
  DeviceBuffer device(64);
  std::vector<uint8_t> registered(4096);
  ASSERT_EQ(aclrtHostRegisterV2(registered.data(), registered.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  void* freed_host = nullptr;
  ASSERT_EQ(aclrtMallocHost(&freed_host, 64), ACL_SUCCESS);
  ASSERT_EQ(aclrtFreeHost(freed_host), ACL_SUCCESS);
  void* base = nullptr;
  size_t size = 0;
  const struct {
    const char* what;
    void* pointer;
  } rows[] = {{"registered", registered.data()}, {"freed device block", freed},
              {"freed host block", freed_host},  {"the end of a block", device.at(96)},
              {"a local variable", &size},       {"the last address", reinterpret_cast<void*>(~uintptr_t{0})}};
  for (const auto& row : rows) {
    EXPECT_EQ(aclrtMemGetAddressRange(row.pointer, &base, &size), ACL_ERROR_RT_PARAM_INVALID) << row.what;
  }
  EXPECT_EQ(base, nullptr);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(aclrtHostUnregister(registered.data()), ACL_SUCCESS);
}

TEST_F(MemGetAddressRange, NeedsNoContext) {
  DeviceBuffer device(64);
  OnFreshThread([&] { ExpectRange(device.at(5), device.get(), 96); });
}

}  // namespace mem_get_address_range_test
}  // namespace ropeway_test::bytes
