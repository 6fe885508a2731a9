// Three tests of which the second races: under `ropeway check` that one fails, and the others pass.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "ropeway/check_gtest.h"

namespace {

class TwoStreams : public testing::Test {
 protected:
  void SetUp() override {
    aclrtSetDevice(0);
    aclrtCreateStream(&in_);
    aclrtCreateStream(&out_);
    aclrtMallocHost(&host_, kSize);
    aclrtMalloc(&device_, kSize, ACL_MEM_MALLOC_HUGE_FIRST);
    aclrtMemcpyAsync(device_, kSize, host_, kSize, ACL_MEMCPY_HOST_TO_DEVICE, in_);
  }
  void TearDown() override {
    aclrtSynchronizeDevice();
    aclrtFree(device_);
    aclrtFreeHost(host_);
  }
  void CopyBack() { aclrtMemcpyAsync(host_, kSize, device_, kSize, ACL_MEMCPY_DEVICE_TO_HOST, out_); }

  static constexpr size_t kSize = 4096;
  aclrtStream in_ = nullptr, out_ = nullptr;
  void *host_ = nullptr, *device_ = nullptr;
};

TEST_F(TwoStreams, WaitsForTheHost) {
  aclrtSynchronizeStream(in_);
  CopyBack();
}

TEST_F(TwoStreams, WaitsForNobody) { CopyBack(); }

TEST_F(TwoStreams, TellsWhatItsKernelReads) {
  aclrtSynchronizeStream(in_);
  ropewayCheckReads(out_, device_, kSize);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new ropeway::CheckListener);
  aclInit(nullptr);
  return RUN_ALL_TESTS();
}
