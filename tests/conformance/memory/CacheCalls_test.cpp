// aclrtMemFlush, aclrtMemInvalidate, aclrtDeviceL2CacheFlush and aclrtCmoAsync: cache maintenance, which moves no data.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace cache_calls_test {

using MemFlush = DeviceTest;

TEST_F(MemFlush, FlushAndInvalidateDoNothingToGoodArguments) {
  DeviceBuffer device(64);
  device.Write(Pattern(64, 1));
  const struct {
    const char* name;
    decltype(&aclrtMemFlush) call;
  } calls[] = {{"aclrtMemFlush", &aclrtMemFlush}, {"aclrtMemInvalidate", &aclrtMemInvalidate}};
  for (const auto& tested : calls) {
    SCOPED_TRACE(tested.name);
    for (bool null_pointer : {true, false}) {
      const Outcome outcome = Observe([&] { return tested.call(null_pointer ? nullptr : device.get(), null_pointer ? 64 : 0); });
      EXPECT_EQ(outcome.code, ACL_ERROR_INVALID_PARAM);
      ExpectReported(outcome, tested.name);
    }
    EXPECT_EQ(tested.call(device.get(), 64), ACL_SUCCESS);
    EXPECT_EQ(tested.call(device.at(3), 7), ACL_SUCCESS);
  }
  EXPECT_EQ(device.Read(64), Pattern(64, 1));
}

using DeviceL2CacheFlush = DeviceTest;

TEST_F(DeviceL2CacheFlush, IsRefusedAfterItsChecks) {
  int word = 0;
  EXPECT_EQ(aclrtDeviceL2CacheFlush(&word), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(OnFreshThread([&] { return aclrtDeviceL2CacheFlush(&word); }), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(OnFreshThread([] { return aclrtDeviceL2CacheFlush(nullptr); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtDeviceL2CacheFlush(nullptr), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

using CmoAsync = StreamTest;

struct Args : CallArgs {
  void* src;
  size_t size = 64;
  int type = ACL_RT_CMO_TYPE_PREFETCH;
  aclrtStream stream;
};

TEST_F(CmoAsync, EarlierCheckWins) {
  DeviceBuffer device(64);
  BadStreams bad;
  ForeignStream foreign;
  device.Write(Pattern(64, 2));
  Args valid;
  valid.src = device.get();
  valid.stream = stream_;
  const std::vector<Check<Args>> checks = {
      {"src NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.src = nullptr; }},
      {"size 0", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.size = 0; }},
      {"cmoType 4", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [](Args& a) { a.type = 4; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"foreign stream", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.get(); }},
  };
  auto call = [](const Args& a) { return aclrtCmoAsync(a.src, a.size, static_cast<aclrtCmoType>(a.type), a.stream); };
  ExpectCheckOrder("aclrtCmoAsync", valid, checks, call, [&] { EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS); });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(device.Read(64), Pattern(64, 2));
}

TEST_F(CmoAsync, EveryKnownTypeIsANoOpInStreamOrder) {
  DeviceBuffer device(64);
  PinnedBuffer source(64);
  Fill(source, Pattern(64, 3));
  for (aclrtStream stream : {stream_, aclrtStream{nullptr}}) {
    device.Write(Pattern(64, 4));
    HeldStream held(stream);
    ASSERT_EQ(aclrtMemcpyAsync(device.get(), 64, source.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
    for (int type = 0; type <= 3; ++type) {
      EXPECT_EQ(aclrtCmoAsync(device.get(), 64, static_cast<aclrtCmoType>(type), stream), ACL_SUCCESS) << "type " << type;
    }
    EXPECT_EQ(device.Read(64), Pattern(64, 4));
    EXPECT_EQ(held.Release(), ACL_SUCCESS);
    EXPECT_EQ(device.Read(64), Pattern(64, 3));
  }
}

TEST_F(CmoAsync, HandleThatIsNoStreamIsRejected) {
  DeviceBuffer device(64);
  BadStreams bad;
  for (const auto& stream : bad.list()) {
    EXPECT_EQ(aclrtCmoAsync(device.get(), 64, ACL_RT_CMO_TYPE_PREFETCH, stream.handle), ACL_ERROR_RT_INVALID_HANDLE) << stream.what;
  }
  for (int type : {-1, 4, 100}) {
    EXPECT_EQ(aclrtCmoAsync(device.get(), 64, static_cast<aclrtCmoType>(type), stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  }
}

}  // namespace cache_calls_test
}  // namespace ropeway_test::bytes
