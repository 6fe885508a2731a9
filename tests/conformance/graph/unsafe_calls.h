// The calls that a capture may forbid, because they are carried out at once by the calling thread: each of them moves
// the same 64 bytes, or sets them, so that one look tells whether it happened. And threads that call them.
#pragma once

#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {

struct UnsafeCall {
  const char* name;
  aclError code;  // when it is forbidden
  Callable<aclError()> run;
  std::vector<uint8_t> result;  // what is in device() when it was allowed
};

class UnsafeCalls {
 public:
  static constexpr size_t kSize = 64;

  // The asynchronous ones go to `stream`, which is not under capture.
  explicit UnsafeCalls(aclrtStream stream) {
    Sync("aclrtMemcpy", [this] { return aclrtMemcpy(device(), kSize, source(), kSize, ACL_MEMCPY_HOST_TO_DEVICE); });
    Sync("aclrtMemcpy2d", [this] { return aclrtMemcpy2d(device(), 16, source(), 16, 16, 4, ACL_MEMCPY_HOST_TO_DEVICE); });
    Sync("aclrtMemset", [this] { return aclrtMemset(device(), kSize, 0x77, kSize); });
    calls_.back().result.assign(kSize, 0x77);
    for (const UnsafeCall& call : PageableOn(stream)) calls_.push_back(call);
  }

  UnsafeCalls(const UnsafeCalls&) = delete;
  UnsafeCalls& operator=(const UnsafeCalls&) = delete;

  // Asynchronous copies with a pageable side. On a stream under capture they are refused in every mode.
  std::vector<UnsafeCall> PageableOn(aclrtStream stream) {
    constexpr aclError kDegraded = ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC;
    constexpr aclError kItem = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
    constexpr auto kKind = ACL_MEMCPY_HOST_TO_DEVICE;
    auto single = [=, this] { return aclrtMemcpyAsync(device(), kSize, source(), kSize, kKind, stream); };
    auto old_name = [=, this] { return aclrtMemcpyAsyncWithCondition(device(), kSize, source(), kSize, kKind, stream); };
    auto plane = [=, this] { return aclrtMemcpy2dAsync(device(), 16, source(), 16, 16, 4, kKind, stream); };
    auto batch = [=, this] {
      size_t fail = 77;
      const aclError code = Batch(Batch::kToDevice).Add(device(), source(), kSize).Submit(stream, &fail);
      EXPECT_EQ(fail, SIZE_MAX);
      return code;
    };
    auto batch_v2 = [=, this] { return Batch(Batch::kToDevice).Add(device(), source(), kSize).SubmitV2(stream); };
    return {{"aclrtMemcpyAsync", kDegraded, single, new_bytes_},
            {"aclrtMemcpyAsyncWithCondition", kDegraded, old_name, new_bytes_},
            {"aclrtMemcpy2dAsync", kDegraded, plane, new_bytes_},
            {"aclrtMemcpyBatchAsync", kItem, batch, new_bytes_},
            {"aclrtMemcpyBatchAsyncV2", kItem, batch_v2, new_bytes_}};
  }

  const std::vector<UnsafeCall>& list() const { return calls_; }

  // Makes the call on `actor`'s thread and expects `code`; a refused call must have moved nothing.
  void Expect(const UnsafeCall& call, aclError code, Worker& actor) {
    SCOPED_TRACE(call.name);
    ThreadMode looking(kRelaxed);
    block_.Write(old_bytes_);
    bytes::Outcome outcome;
    actor.Do([&] { outcome = bytes::Observe(call.run); });
    EXPECT_EQ(outcome.code, code);
    bytes::ExpectReported(outcome, call.name);
    EXPECT_EQ(block_.Read(kSize), code == ACL_SUCCESS ? call.result : old_bytes_);
  }

  // All of them: either each answers its own code, or each works.
  void ExpectAllForbidden(bool forbidden, Worker& actor) {
    for (const UnsafeCall& call : calls_) Expect(call, forbidden ? call.code : ACL_SUCCESS, actor);
  }

 private:
  void Sync(const char* name, Callable<aclError()> run) {
    calls_.push_back({name, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, std::move(run), new_bytes_});
  }
  void* device() const { return block_.get(); }
  const void* source() const { return new_bytes_.data(); }

  const std::vector<uint8_t> old_bytes_ = Pattern(kSize, 1);
  const std::vector<uint8_t> new_bytes_ = Pattern(kSize, 2);
  DeviceBuffer block_{kSize};
  std::vector<UnsafeCall> calls_;
};

// A thread with the device set, for captures and for unsafe calls.
class DeviceWorker : public Worker {
 public:
  DeviceWorker() {
    Do([] { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); });
  }
  void SetMode(aclmdlRICaptureMode mode) {
    Do([mode]() mutable { EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), ACL_SUCCESS); });
  }
  void Begin(aclrtStream stream, aclmdlRICaptureMode mode) {
    Do([=] { ASSERT_EQ(aclmdlRICaptureBegin(stream, mode), ACL_SUCCESS); });
  }
  // Expects a capture that is still valid.
  void End(aclrtStream stream) {
    EXPECT_EQ(CaptureStatusOf(stream), kCapturing);
    Do([=] { Model model = graph::End(stream); });
  }
};

}  // namespace ropeway_test::graph
