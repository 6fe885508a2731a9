// Allocators per stream: bookkeeping, keyed by the value of the handle. No device is needed.
#include "tests/support/acl_test.h"

namespace ropeway_test {
namespace allocator_test {

constexpr aclError kBad = ACL_ERROR_INVALID_PARAM;

void* Alloc(aclrtAllocator, size_t) { return nullptr; }
void* OtherAlloc(aclrtAllocator, size_t) { return nullptr; }
void Free(aclrtAllocator, aclrtAllocatorBlock) {}
void* Advise(aclrtAllocator, size_t, aclrtAllocatorAddr) { return nullptr; }
void* Address(aclrtAllocatorBlock) { return nullptr; }

class Allocator : public BareTest {
 protected:
  void SetUp() override {
    BareTest::SetUp();
    desc_ = aclrtAllocatorCreateDesc();
    ASSERT_NE(desc_, nullptr);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtAllocatorUnregister(stream_), ACL_SUCCESS);
    if (desc_ != nullptr) EXPECT_EQ(aclrtAllocatorDestroyDesc(desc_), ACL_SUCCESS);
    BareTest::TearDown();
  }
  void FillDesc() {
    ASSERT_EQ(aclrtAllocatorSetObjToDesc(desc_, &object_), ACL_SUCCESS);
    ASSERT_EQ(aclrtAllocatorSetAllocFuncToDesc(desc_, Alloc), ACL_SUCCESS);
    ASSERT_EQ(aclrtAllocatorSetFreeFuncToDesc(desc_, Free), ACL_SUCCESS);
    ASSERT_EQ(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc_, Address), ACL_SUCCESS);
  }
  struct Found {
    aclrtAllocatorDesc desc = nullptr;
    aclrtAllocator object = nullptr;
    aclrtAllocatorAllocFunc alloc = nullptr;
    aclrtAllocatorFreeFunc free = nullptr;
    aclrtAllocatorAllocAdviseFunc advise = nullptr;
    aclrtAllocatorGetAddrFromBlockFunc address = nullptr;
  };
  aclError Get(Found* found) {
    return aclrtAllocatorGetByStream(stream_, &found->desc, &found->object, &found->alloc, &found->free, &found->advise, &found->address);
  }

  int object_ = 0;
  aclrtStream stream_ = &object_;  // any value: streams are not looked up
  aclrtAllocatorDesc desc_ = nullptr;
};

TEST_F(Allocator, RegisteredFunctionsComeBack) {
  FillDesc();
  ASSERT_EQ(aclrtAllocatorSetAllocAdviseFuncToDesc(desc_, Advise), ACL_SUCCESS);
  ASSERT_EQ(aclrtAllocatorRegister(stream_, desc_), ACL_SUCCESS);
  Found found;
  ASSERT_EQ(Get(&found), ACL_SUCCESS);
  EXPECT_NE(found.desc, nullptr);
  EXPECT_EQ(found.object, &object_);
  EXPECT_EQ(found.alloc, &Alloc);
  EXPECT_EQ(found.free, &Free);
  EXPECT_EQ(found.advise, &Advise);
  EXPECT_EQ(found.address, &Address);
}

TEST_F(Allocator, OnlyTheDescriptionIsARequiredOutput) {
  FillDesc();
  ASSERT_EQ(aclrtAllocatorRegister(stream_, desc_), ACL_SUCCESS);
  aclrtAllocatorDesc desc = nullptr;
  EXPECT_EQ(aclrtAllocatorGetByStream(stream_, &desc, nullptr, nullptr, nullptr, nullptr, nullptr), ACL_SUCCESS);
  EXPECT_NE(desc, nullptr);
  EXPECT_EQ(aclrtAllocatorGetByStream(stream_, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr), kBad);
}

TEST_F(Allocator, AdviseIsOptionalAndTheRestIsNot) {
  EXPECT_EQ(aclrtAllocatorRegister(stream_, desc_), kBad);
  EXPECT_EQ(aclrtAllocatorSetObjToDesc(desc_, &object_), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorRegister(stream_, desc_), kBad);
  EXPECT_EQ(aclrtAllocatorSetAllocFuncToDesc(desc_, Alloc), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorRegister(stream_, desc_), kBad);
  EXPECT_EQ(aclrtAllocatorSetFreeFuncToDesc(desc_, Free), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorRegister(stream_, desc_), kBad);
  EXPECT_EQ(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc_, Address), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorRegister(stream_, desc_), ACL_SUCCESS);
  Found found;
  found.advise = &Advise;
  ASSERT_EQ(Get(&found), ACL_SUCCESS);
  EXPECT_EQ(found.advise, nullptr);
}

TEST_F(Allocator, RegisterStoresACopy) {
  FillDesc();
  ASSERT_EQ(aclrtAllocatorRegister(stream_, desc_), ACL_SUCCESS);
  ASSERT_EQ(aclrtAllocatorSetAllocFuncToDesc(desc_, OtherAlloc), ACL_SUCCESS);
  Found found;
  ASSERT_EQ(Get(&found), ACL_SUCCESS);
  EXPECT_EQ(found.alloc, &Alloc);
  ASSERT_EQ(aclrtAllocatorDestroyDesc(desc_), ACL_SUCCESS);
  desc_ = nullptr;
  EXPECT_EQ(Get(&found), ACL_SUCCESS);
  EXPECT_EQ(found.alloc, &Alloc);
}

TEST_F(Allocator, LastRegistrationWins) {
  FillDesc();
  ASSERT_EQ(aclrtAllocatorRegister(stream_, desc_), ACL_SUCCESS);
  ASSERT_EQ(aclrtAllocatorSetAllocFuncToDesc(desc_, OtherAlloc), ACL_SUCCESS);
  ASSERT_EQ(aclrtAllocatorRegister(stream_, desc_), ACL_SUCCESS);
  Found found;
  ASSERT_EQ(Get(&found), ACL_SUCCESS);
  EXPECT_EQ(found.alloc, &OtherAlloc);
}

TEST_F(Allocator, StreamsAreIndependent) {
  FillDesc();
  ASSERT_EQ(aclrtAllocatorRegister(stream_, desc_), ACL_SUCCESS);
  int other = 0;
  aclrtAllocatorDesc found = nullptr;
  EXPECT_EQ(aclrtAllocatorGetByStream(&other, &found, nullptr, nullptr, nullptr, nullptr, nullptr), kBad);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(aclrtAllocatorUnregister(&other), ACL_SUCCESS) << "an unknown stream is fine";
  Found still;
  EXPECT_EQ(Get(&still), ACL_SUCCESS);
}

TEST_F(Allocator, UnregisterEndsIt) {
  FillDesc();
  ASSERT_EQ(aclrtAllocatorRegister(stream_, desc_), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorUnregister(stream_), ACL_SUCCESS);
  Found found;
  EXPECT_EQ(Get(&found), kBad);
  EXPECT_EQ(aclrtAllocatorUnregister(stream_), ACL_SUCCESS);
}

TEST_F(Allocator, NullsAreRefused) {
  FillDesc();
  EXPECT_EQ(aclrtAllocatorDestroyDesc(nullptr), kBad);
  EXPECT_EQ(aclrtAllocatorSetObjToDesc(nullptr, &object_), kBad);
  EXPECT_EQ(aclrtAllocatorSetObjToDesc(desc_, nullptr), kBad);
  EXPECT_EQ(aclrtAllocatorSetAllocFuncToDesc(nullptr, Alloc), kBad);
  EXPECT_EQ(aclrtAllocatorSetAllocFuncToDesc(desc_, nullptr), kBad);
  EXPECT_EQ(aclrtAllocatorSetFreeFuncToDesc(nullptr, Free), kBad);
  EXPECT_EQ(aclrtAllocatorSetFreeFuncToDesc(desc_, nullptr), kBad);
  EXPECT_EQ(aclrtAllocatorSetAllocAdviseFuncToDesc(nullptr, Advise), kBad);
  EXPECT_EQ(aclrtAllocatorSetAllocAdviseFuncToDesc(desc_, nullptr), kBad);
  EXPECT_EQ(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(nullptr, Address), kBad);
  EXPECT_EQ(aclrtAllocatorSetGetAddrFromBlockFuncToDesc(desc_, nullptr), kBad);
  EXPECT_EQ(aclrtAllocatorRegister(nullptr, desc_), kBad);
  EXPECT_EQ(aclrtAllocatorRegister(stream_, nullptr), kBad);
  EXPECT_EQ(aclrtAllocatorUnregister(nullptr), kBad);
}

#ifndef ROPEWAY_TEST_VENDOR
TEST_F(Allocator, StaleAndForeignDescriptionsAreNoticed) {
  FillDesc();
  ASSERT_EQ(aclrtAllocatorRegister(stream_, desc_), ACL_SUCCESS);
  Found found;
  ASSERT_EQ(Get(&found), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorDestroyDesc(found.desc), kBad) << "it belongs to the registration";
  ASSERT_EQ(aclrtAllocatorDestroyDesc(desc_), ACL_SUCCESS);
  EXPECT_EQ(aclrtAllocatorDestroyDesc(desc_), kBad);
  EXPECT_EQ(aclrtAllocatorRegister(stream_, desc_), kBad);
  EXPECT_EQ(aclrtAllocatorSetObjToDesc(&object_, &object_), kBad);
  desc_ = nullptr;
}
#endif

}  // namespace allocator_test
}  // namespace ropeway_test
