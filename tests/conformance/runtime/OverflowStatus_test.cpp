// Overflow status in a stream's order (rules/streams.md 8), and whether code for another product would run here (rules/devices.md 4).
#include <algorithm>

#include "tests/conformance/copy/call_checks.h"
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace overflow_status_test {

using bytes::CallArgs;
using bytes::Check;

struct Args : CallArgs {
  void* output = nullptr;
  uint64_t size = 64;
  aclrtStream stream = nullptr;
};

struct Getter {
  const char* name;
  aclError (*call)(const Args& args);
};

constexpr Getter kGetters[] = {
    {"aclrtGetOverflowStatus", [](const Args& a) { return aclrtGetOverflowStatus(a.output, a.size, a.stream); }},
    {"aclrtGetFloatOverflowStatus", [](const Args& a) { return aclrtGetFloatOverflowStatus(a.output, a.size, a.stream); }},
    {"aclrtNpuGetFloatOverFlowStatus", [](const Args& a) { return aclrtNpuGetFloatOverFlowStatus(a.output, a.size, 0, a.stream); }},
};
constexpr Getter kResets[] = {
    {"aclrtResetOverflowStatus", [](const Args& a) { return aclrtResetOverflowStatus(a.stream); }},
    {"aclrtResetFloatOverflowStatus", [](const Args& a) { return aclrtResetFloatOverflowStatus(a.stream); }},
    {"aclrtNpuClearFloatOverFlowStatus", [](const Args& a) { return aclrtNpuClearFloatOverFlowStatus(0, a.stream); }},
};

class OverflowStatus : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&capturing_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureBegin(capturing_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  }
  void TearDown() override {
    aclmdlRI model = nullptr;
    EXPECT_EQ(aclmdlRICaptureEnd(capturing_, &model), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(capturing_), ACL_SUCCESS);
    StreamTest::TearDown();
  }
  aclrtStream capturing_ = nullptr;
};

TEST_F(OverflowStatus, IsSixtyFourZerosInTheStreamsOrder) {
  bytes::ForeignStream foreign;
  for (const Getter& getter : kGetters) {
    DeviceBuffer output(80);
    uint64_t pageable[8] = {};
    const std::vector<uint8_t> before(80, 7);
    output.Write(before);
    Args valid;
    valid.output = output.get();
    valid.stream = stream_;
    const std::vector<Check<Args>> checks = {
        {"output NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.output = nullptr; }},
        {"stale stream", ACL_ERROR_RT_INVALID_HANDLE, [](Args& a) { a.stream = Nonsense(); }},
        {"capturing", ACL_ERROR_RT_STREAM_CAPTURED, [&](Args& a) { a.stream = capturing_; }},
        {"too small", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.size = 63; }},
        {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
        {"not device memory", ACL_ERROR_RT_PARAM_INVALID, [&](Args& a) { a.output = pageable; }},
        {"stream of another context", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.get(); }},
    };
    bytes::HeldStream held(stream_);
    bytes::ExpectCheckOrder(getter.name, valid, checks, getter.call, [] {});
    EXPECT_EQ(output.Read(80), before) << getter.name << ": what is in front of it has not run";
    EXPECT_EQ(held.Release(), ACL_SUCCESS);
    std::vector<uint8_t> after(80, 0);
    std::fill(after.begin() + 64, after.end(), uint8_t{7});
    EXPECT_EQ(output.Read(80), after) << getter.name;
  }
}

TEST_F(OverflowStatus, IsResetInTheStreamsOrder) {
  bytes::ForeignStream foreign;
  for (const Getter& reset : kResets) {
    Args valid;
    valid.stream = stream_;
    const std::vector<Check<Args>> checks = {
        {"stale stream", ACL_ERROR_RT_INVALID_HANDLE, [](Args& a) { a.stream = Nonsense(); }},
        {"capturing", ACL_ERROR_RT_STREAM_CAPTURED, [&](Args& a) { a.stream = capturing_; }},
        {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
        {"stream of another context", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.get(); }},
    };
    bytes::ExpectCheckOrder(reset.name, valid, checks, reset.call, [] {});
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
}

using ArchCompatibility = BareTest;

TEST_F(ArchCompatibility, IsThatOfTheProductsFamily) {
  int32_t can = 7;
  EXPECT_EQ(aclrtCheckArchCompatibility(nullptr, &can), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCheckArchCompatibility("Ascend910B1", nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(can, 7);
  const char* const own = aclrtGetSocName();
  ASSERT_NE(own, nullptr);
  EXPECT_EQ(aclrtCheckArchCompatibility(own, &can), ACL_SUCCESS);
  EXPECT_EQ(can, 1);
  for (const char* other : {"Ascend310", "Ascend310P3", "no product", ""}) {
    can = 7;
    EXPECT_EQ(aclrtCheckArchCompatibility(other, &can), ACL_SUCCESS) << other;
    EXPECT_EQ(can, 0) << other;
  }
}

}  // namespace overflow_status_test
}  // namespace ropeway_test
