// aclrtReserveMemAddress, aclrtReserveMemAddressNoUCMemory, aclrtReleaseMemAddress.
#include "tests/conformance/vmm/vmm_test_util.h"

namespace ropeway_test::vmm {
namespace reserve_mem_address_test {

using ReserveMemAddress = BareTest;  // none of these calls needs a context

// Where a reservation can be put: the window lies elsewhere when something else has the documented addresses.
void* FreePlace(size_t size) {
  Range probe(size);
  return probe.get();
}

struct Args : bytes::CallArgs {
  bool null_out = false;
  size_t size = kUnit;
  size_t alignment = 0;
  void* expected = nullptr;
  uint64_t flags = 0;
};

TEST_F(ReserveMemAddress, EarlierCheckWins) {
  void* out = Nonsense();
  const std::vector<bytes::Check<Args>> checks = {
      {"virPtr NULL", kOuter, [](Args& a) { a.null_out = true; }},
      {"size 0", kOuter, [](Args& a) { a.size = 0; }},
      {"flags 2", kOuter, [](Args& a) { a.flags = 2; }},
      {"alignment", kBad, [](Args& a) { a.alignment = kUnit; }},
      {"expectPtr far away", kBad, [](Args& a) { a.expected = reinterpret_cast<void*>(uintptr_t{kGiB}); }},
  };
  auto call = [&](const Args& a) { return aclrtReserveMemAddress(a.null_out ? nullptr : &out, a.size, a.alignment, a.expected, a.flags); };
  bytes::ExpectCheckOrder("aclrtReserveMemAddress", Args{}, checks, call, [&] { EXPECT_EQ(out, Nonsense()); });
  EXPECT_EQ(aclrtReleaseMemAddress(out), ACL_SUCCESS);
}

TEST_F(ReserveMemAddress, NoUcWantsAnAddressAndWholeGigabytes) {
  void* out = Nonsense();
  void* const place = FreePlace(kGiB);
  Args valid;
  valid.size = kGiB;
  valid.expected = place;
  const std::vector<bytes::Check<Args>> checks = {
      {"virPtr NULL", kOuter, [](Args& a) { a.null_out = true; }},
      {"size 0", kOuter, [](Args& a) { a.size = 0; }},
      {"flags 2", kOuter, [](Args& a) { a.flags = 2; }},
      {"alignment", kBad, [](Args& a) { a.alignment = 1; }},
      {"no expectPtr", kBad, [](Args& a) { a.expected = nullptr; }},
      {"not whole GiB", kBad, [](Args& a) { a.size = kGiB + kUnit; }},
  };
  auto call = [&](const Args& a) {
    return aclrtReserveMemAddressNoUCMemory(a.null_out ? nullptr : &out, a.size, a.alignment, a.expected, a.flags);
  };
  bytes::ExpectCheckOrder("aclrtReserveMemAddressNoUCMemory", valid, checks, call, [&] { EXPECT_EQ(out, Nonsense()); });
  EXPECT_EQ(out, place);
  EXPECT_EQ(aclrtReleaseMemAddress(out), ACL_SUCCESS);
}

TEST_F(ReserveMemAddress, OldCallersPassOne) {
  void* out = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&out, kUnit, 0, nullptr, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(out), ACL_SUCCESS);
}

TEST_F(ReserveMemAddress, AddressesAreAlignedToTheirPages) {
  Range odd(3 * kUnit), small(kUnit), large(kGiB), larger(3 * kGiB + kUnit);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(odd.get()) % kUnit, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(small.get()) % kUnit, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large.get()) % kGiB, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(larger.get()) % kGiB, 0u);
}

TEST_F(ReserveMemAddress, ReservationsDoNotOverlap) {
  Range first(kUnit), second(5 * kUnit), third(kUnit + 1);
  auto apart = [](const Range& a, const Range& b) { return a.at(a.size()) <= b.at(0) || b.at(b.size()) <= a.at(0); };
  EXPECT_TRUE(apart(first, second));
  EXPECT_TRUE(apart(first, third));
  EXPECT_TRUE(apart(second, third));
}

TEST_F(ReserveMemAddress, TheWantedAddressIsGiven) {
  void* const place = FreePlace(4 * kUnit);
  Range there(4 * kUnit, place);
  EXPECT_EQ(there.get(), place);
  void* out = Nonsense();
  bytes::ExpectText(kBad, {"expectPtr", "reserved already"}, [&] { return aclrtReserveMemAddress(&out, kUnit, 0, there.at(kUnit), 0); });
  EXPECT_EQ(out, Nonsense());
  there.Release();
  Range again(4 * kUnit, place);
  EXPECT_EQ(again.get(), place);
}

TEST_F(ReserveMemAddress, WhatOverlapsByAnEndIsTaken) {
  void* const place = FreePlace(8 * kUnit);
  Range middle(2 * kUnit, static_cast<char*>(place) + 2 * kUnit);
  void* out = Nonsense();
  EXPECT_EQ(aclrtReserveMemAddress(&out, 3 * kUnit, 0, place, 0), kBad);
  EXPECT_EQ(aclrtReserveMemAddress(&out, 2 * kUnit, 0, middle.at(kUnit), 0), kBad);
  EXPECT_EQ(out, Nonsense());
  Range before(2 * kUnit, place), behind(2 * kUnit, middle.at(2 * kUnit));
  EXPECT_EQ(before.at(before.size()), middle.get());
  EXPECT_EQ(middle.at(middle.size()), behind.get());
}

TEST_F(ReserveMemAddress, MisalignedWishesAreRefused) {
  void* out = Nonsense();
  auto* place = static_cast<char*>(FreePlace(kGiB));
  EXPECT_EQ(aclrtReserveMemAddress(&out, kUnit, 0, place + 4096, 0), kBad);
  EXPECT_EQ(aclrtReserveMemAddress(&out, kGiB, 0, place + kUnit, 0), kBad);
  EXPECT_EQ(out, Nonsense());
}

TEST_F(ReserveMemAddress, MoreThanThereIsGives207001) {
  void* out = Nonsense();
  for (size_t size : {size_t{1} << 46, size_t{1} << 62, SIZE_MAX}) {
    bytes::ExpectText(ACL_ERROR_RT_MEMORY_ALLOCATION, {"size"}, [&] { return aclrtReserveMemAddress(&out, size, 0, nullptr, 0); });
  }
  EXPECT_EQ(out, Nonsense());
}

TEST_F(ReserveMemAddress, ReservedAddressesAreNoMemory) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Range range(kUnit);
  uint8_t byte = 0;
  aclrtPtrAttributes attributes = {};
  size_t size = 0;
  EXPECT_EQ(aclrtMemcpy(range.get(), 1, &byte, 1, ACL_MEMCPY_HOST_TO_DEVICE), kBad);
  EXPECT_EQ(aclrtPointerGetAttributes(range.get(), &attributes), kBad);
  EXPECT_EQ(aclrtMemGetAddressRange(range.get(), nullptr, &size), kBad);
  EXPECT_EQ(aclrtFree(range.get()), kBad);
  EXPECT_EQ(aclrtFreeHost(range.get()), kBad);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(ReserveMemAddress, ReleaseWantsAStart) {
  Range range(2 * kUnit);
  EXPECT_EQ(aclrtReleaseMemAddress(nullptr), kOuter);
  bytes::ExpectText(kBad, {"virPtr", "not the start of a reservation"}, [&] { return aclrtReleaseMemAddress(range.at(kUnit)); });
  EXPECT_EQ(aclrtReleaseMemAddress(Nonsense()), kBad);
  void* const was = range.get();
  range.Release();
  EXPECT_EQ(aclrtReleaseMemAddress(was), kBad) << "twice";
}

TEST_F(ReserveMemAddress, ReleaseIsRefusedWhileSomethingIsMapped) {
  Range range(2 * kUnit);
  Physical memory;
  Mapped mapped(range.at(kUnit), memory);
  bytes::ExpectText(kBad, {"unmap"}, [&] { return aclrtReleaseMemAddress(range.get()); });
  mapped.Unmap();
  range.Release();
}

}  // namespace reserve_mem_address_test
}  // namespace ropeway_test::vmm
