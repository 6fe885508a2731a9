// What the mode of a capture forbids, to whom, and how a thread gets around it (rules/graphs.md 1).
#include "tests/conformance/graph/unsafe_calls.h"

namespace ropeway_test::graph {
namespace capture_modes_test {

using CaptureModes = CaptureTest;

enum Who { kCapturer, kOther };

// For a capture begun in `mode`: whether unsafe calls of the thread are forbidden, by the thread's own mode.
struct Row {
  aclmdlRICaptureMode mode;
  Who who;
  bool forbidden[3];  // thread value GLOBAL, THREAD_LOCAL, RELAXED
};

constexpr Row kTable[] = {
    {kGlobal, kCapturer, {true, true, false}},      {kGlobal, kOther, {true, false, false}},
    {kThreadLocal, kCapturer, {true, true, false}}, {kThreadLocal, kOther, {false, false, false}},
    {kRelaxed, kCapturer, {false, false, false}},   {kRelaxed, kOther, {false, false, false}},
};

// Walks the table: a capture on `stream`, and `body(forbidden, thread)` for each combination.
void ForEveryCombination(aclrtStream stream, const Callable<void(bool, DeviceWorker&)>& body) {
  DeviceWorker capturer, other;
  for (const Row& row : kTable) {
    DeviceWorker& actor = row.who == kCapturer ? capturer : other;
    capturer.Begin(stream, row.mode);
    for (auto own : kAllModes) {
      SCOPED_TRACE(std::string(Name(row.mode)) + " capture, " + (row.who == kCapturer ? "capturing" : "other") + " thread in " + Name(own));
      actor.SetMode(own);
      body(row.forbidden[own], actor);
    }
    actor.SetMode(kGlobal);
    capturer.End(stream);
  }
}

TEST_F(CaptureModes, UnsafeCallsFollowTheTable) {
  UnsafeCalls calls(NewStream());
  ForEveryCombination(stream_, [&](bool forbidden, DeviceWorker& actor) { calls.ExpectAllForbidden(forbidden, actor); });
}

TEST_F(CaptureModes, UnsafeCallsOnTheDefaultStreamAreNoDifferent) {
  UnsafeCalls calls(nullptr);
  ForEveryCombination(stream_, [&](bool forbidden, DeviceWorker& actor) { calls.ExpectAllForbidden(forbidden, actor); });
}

// No mode helps: the stream cannot be waited for, and the bytes cannot be kept.
TEST_F(CaptureModes, PageableCopiesOnTheCapturingStreamAreRefusedInEveryMode) {
  UnsafeCalls calls(NewStream());
  ForEveryCombination(stream_, [&](bool, DeviceWorker& actor) {
    for (const UnsafeCall& call : calls.PageableOn(stream_)) calls.Expect(call, ACL_ERROR_RT_PARAM_INVALID, actor);
  });
}

TEST_F(CaptureModes, PageableCopiesToHostAreUnsafeToo) {
  aclrtStream other = NewStream();
  DeviceBuffer device(64);
  std::vector<uint8_t> host(64, 5), more(64, 6);
  PinnedBuffer pinned(64);
  size_t fail = 77;
  Begin(stream_, kGlobal);
  constexpr auto kToHost = ACL_MEMCPY_DEVICE_TO_HOST;
  constexpr aclError kSync = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
  constexpr aclError kDegraded = ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC;
  ExpectRefused("aclrtMemcpy", kSync, [&] { return aclrtMemcpy(host.data(), 64, device.get(), 64, kToHost); });
  ExpectRefused("aclrtMemcpy", kSync, [&] { return aclrtMemcpy(host.data(), 64, pinned.get(), 64, kToHost); });
  ExpectRefused("aclrtMemcpy", kSync, [&] { return aclrtMemcpy(host.data(), 64, more.data(), 64, kToHost); });
  ExpectRefused("aclrtMemcpy2d", kSync, [&] { return aclrtMemcpy2d(host.data(), 8, device.get(), 8, 8, 8, kToHost); });
  ExpectRefused("aclrtMemset", kSync, [&] { return aclrtMemset(pinned.get(), 64, 1, 64); });
  ExpectRefused("aclrtMemcpyAsync", kDegraded, [&] { return aclrtMemcpyAsync(host.data(), 64, device.get(), 64, kToHost, other); });
  ExpectRefused("aclrtMemcpyAsync", kDegraded,
                [&] { return aclrtMemcpyAsync(host.data(), 64, more.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE, other); });
  ExpectRefused("aclrtMemcpy2dAsync", kDegraded, [&] { return aclrtMemcpy2dAsync(host.data(), 8, device.get(), 8, 8, 8, kToHost, other); });
  ExpectRefused("aclrtMemcpyBatchAsync", kSync,
                [&] { return Batch(Batch::kToHost).Add(host.data(), device.get(), 64).Submit(other, &fail); });
  EXPECT_EQ(fail, SIZE_MAX);
  EXPECT_EQ(host, std::vector<uint8_t>(64, 5));
  Model model = End(stream_);
}

TEST_F(CaptureModes, ProhibitionComesBehindTheArgumentChecks) {
  aclrtStream other = NewStream();
  DeviceBuffer one(64), two(64);
  std::vector<uint8_t> host(64);
  constexpr auto kToDevice = ACL_MEMCPY_HOST_TO_DEVICE;
  constexpr auto kOnDevice = ACL_MEMCPY_DEVICE_TO_DEVICE;
  Begin(stream_, kGlobal);
  ExpectAll({
      {"copy of nothing", ACL_SUCCESS, [&] { return aclrtMemcpy(one.get(), 64, host.data(), 0, kToDevice); }},
      {"copy to itself", ACL_SUCCESS, [&] { return aclrtMemcpy(one.get(), 64, one.get(), 64, kOnDevice); }},
      {"copy without a source", ACL_ERROR_INVALID_PARAM, [&] { return aclrtMemcpy(one.get(), 64, nullptr, 64, kToDevice); }},
      {"copy above destMax", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtMemcpy(one.get(), 63, host.data(), 64, kToDevice); }},
      {"copy past the block", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT,
       [&] { return aclrtMemcpy(one.get(), 1 << 20, host.data(), 1 << 20, kToDevice); }},
      {"set nothing", ACL_SUCCESS, [&] { return aclrtMemset(one.get(), 64, 1, 0); }},
      {"set nowhere", ACL_ERROR_INVALID_PARAM, [&] { return aclrtMemset(nullptr, 64, 1, 64); }},
      {"set above maxCount", ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, [&] { return aclrtMemset(one.get(), 63, 1, 64); }},
      {"no rows", ACL_SUCCESS, [&] { return aclrtMemcpy2d(one.get(), 8, host.data(), 8, 8, 0, kToDevice); }},
      {"rows on the device", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [&] { return aclrtMemcpy2d(one.get(), 8, two.get(), 8, 8, 8, kOnDevice); }},
      {"rows between two device blocks", ACL_ERROR_RT_PARAM_INVALID,
       [&] { return aclrtMemcpy2d(one.get(), 8, two.get(), 8, 8, 8, ACL_MEMCPY_DEFAULT); }},
      {"host to host", ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
       [&] { return aclrtMemcpyAsync(one.get(), 64, host.data(), 64, ACL_MEMCPY_HOST_TO_HOST, other); }},
      {"wrong direction", ACL_ERROR_RT_PARAM_INVALID,
       [&] { return aclrtMemcpyAsync(one.get(), 64, host.data(), 64, ACL_MEMCPY_DEVICE_TO_HOST, other); }},
      {"pageable copy to itself", ACL_SUCCESS, [&] { return aclrtMemcpyAsync(host.data(), 64, host.data(), 64, kToDevice, other); }},
  });
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
  Model model = End(stream_);
}

// The bytes were moved by the call itself: the replay has nothing of it.
TEST_F(CaptureModes, AllowedCallRunsOnceAndIsNotRecorded) {
  DeviceBuffer block(64);
  const auto first = Pattern(64, 3), second = Pattern(64, 4);
  Begin(stream_, kRelaxed);
  block.Write(first);
  Model model = End(stream_);
  EXPECT_EQ(block.Read(64), first);
  block.Write(second);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(block.Read(64), second);
}

}  // namespace capture_modes_test
}  // namespace ropeway_test::graph
