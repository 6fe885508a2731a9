// Cache maintenance: an ordered step without effect on data, and a descriptor for it.
#include <thread>

#include "tests/support/acl_test.h"

namespace ropeway_test {
namespace cmo_test {

using Cmo = StreamTest;

TEST_F(Cmo, KeepsItsPlaceAndChangesNothing) {
  DeviceBuffer block(256);
  const auto bytes = Pattern(256, 1);
  block.Write(bytes);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  for (auto type : {ACL_RT_CMO_TYPE_PREFETCH, ACL_RT_CMO_TYPE_WRITEBACK, ACL_RT_CMO_TYPE_INVALID, ACL_RT_CMO_TYPE_FLUSH}) {
    EXPECT_EQ(aclrtCmoAsync(block.get(), 256, type, stream_), ACL_SUCCESS) << type;
  }
  auto status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_NOT_READY) << "the step waits for its turn";
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(block.Read(256), bytes);
}

TEST_F(Cmo, NullStreamIsTheDefaultStream) {
  DeviceBuffer block(64);
  EXPECT_EQ(aclrtCmoAsync(block.get(), 64, ACL_RT_CMO_TYPE_PREFETCH, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

TEST_F(Cmo, AsyncChecksInOrder) {
  DeviceBuffer block(64);
  void* not_a_stream = block.get();
  const auto bad = static_cast<aclrtCmoType>(4);
  EXPECT_EQ(aclrtCmoAsync(nullptr, 0, bad, not_a_stream), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCmoAsync(block.get(), 0, bad, not_a_stream), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCmoAsync(block.get(), 64, bad, not_a_stream), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtCmoAsync(block.get(), 64, ACL_RT_CMO_TYPE_PREFETCH, not_a_stream), ACL_ERROR_RT_INVALID_HANDLE);
  aclError without_context = ACL_SUCCESS, other_context = ACL_SUCCESS;
  std::thread([&] { without_context = aclrtCmoAsync(block.get(), 64, ACL_RT_CMO_TYPE_PREFETCH, stream_); }).join();
  EXPECT_EQ(without_context, ACL_ERROR_RT_CONTEXT_NULL);
  std::thread([&] {
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    other_context = aclrtCmoAsync(block.get(), 64, ACL_RT_CMO_TYPE_PREFETCH, stream_);
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  }).join();
  EXPECT_EQ(other_context, ACL_ERROR_RT_STREAM_CONTEXT);
}

size_t DescriptorSize() {
  size_t size = 0;
  EXPECT_EQ(aclrtCmoGetDescSize(&size), ACL_SUCCESS);
  return size;
}

TEST_F(Cmo, DescriptorHasADocumentedLayout) {
  ASSERT_EQ(DescriptorSize(), 32u);
  DeviceBuffer block(512), descriptor(64);
  descriptor.Write(std::vector<uint8_t>(64, 0xEE));
  ASSERT_EQ(aclrtCmoSetDesc(descriptor.get(), block.get(), 300), ACL_SUCCESS);
  const auto bytes = descriptor.Read(64);
  uint32_t length = 0;
  uint64_t address = 0;
  std::memcpy(&length, &bytes[12], sizeof(length));
  std::memcpy(&address, &bytes[16], sizeof(address));
  EXPECT_EQ(length, 300u);
  EXPECT_EQ(address, reinterpret_cast<uintptr_t>(block.get()));
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin() + 32, bytes.end()), std::vector<uint8_t>(32, 0xEE)) << "wrote too far";
}

TEST_F(Cmo, DescriptorCanBeLaunchedManyTimes) {
  DeviceBuffer block(64), descriptor(64);
  ASSERT_EQ(aclrtCmoSetDesc(descriptor.get(), block.get(), 64), ACL_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(aclrtCmoAsyncWithDesc(descriptor.get(), ACL_RT_CMO_TYPE_PREFETCH, stream_, nullptr), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(Cmo, DescriptorChecks) {
  DeviceBuffer block(64), descriptor(64);
  EXPECT_EQ(aclrtCmoGetDescSize(nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCmoSetDesc(nullptr, block.get(), 64), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCmoSetDesc(descriptor.get(), nullptr, 64), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCmoSetDesc(descriptor.get(), block.get(), 0), ACL_ERROR_RT_PARAM_INVALID);
  aclError without_context = ACL_SUCCESS;
  std::thread([&] { without_context = aclrtCmoSetDesc(descriptor.get(), block.get(), 64); }).join();
  EXPECT_EQ(without_context, ACL_ERROR_RT_CONTEXT_NULL);

  const auto prefetch = ACL_RT_CMO_TYPE_PREFETCH;
  EXPECT_EQ(aclrtCmoAsyncWithDesc(nullptr, prefetch, stream_, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCmoAsyncWithDesc(descriptor.get(), prefetch, stream_, &prefetch), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCmoAsyncWithDesc(descriptor.get(), static_cast<aclrtCmoType>(4), stream_, nullptr), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtCmoAsyncWithDesc(descriptor.get(), prefetch, block.get(), nullptr), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(Cmo, DescriptorMustFitIntoItsBlock) {
  DeviceBuffer block(64), descriptor(64);
  void* base = nullptr;
  size_t reserved = 0;
  ASSERT_EQ(aclrtMemGetAddressRange(descriptor.get(), &base, &reserved), ACL_SUCCESS);
  EXPECT_EQ(aclrtCmoSetDesc(descriptor.at(reserved - 31), block.get(), 64), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCmoSetDesc(descriptor.at(reserved - 32), block.get(), 64), ACL_SUCCESS);
}

}  // namespace cmo_test
}  // namespace ropeway_test
