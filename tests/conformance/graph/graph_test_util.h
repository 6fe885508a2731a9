// What the tests of captured graphs share: a fixture that discards captures left open, a model that destroys itself,
// the thread's capture mode as a scope, small pieces of work to capture, and one way to say "refused, and nothing
// happened".
#pragma once

#include "tests/conformance/copy/call_checks.h"
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test::graph {

using bytes::BytesAt;
using bytes::CallArgs;
using bytes::Check;
using bytes::ExpectCheckOrder;
using bytes::Fill;

constexpr auto kGlobal = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
constexpr auto kThreadLocal = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
constexpr auto kRelaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
constexpr aclmdlRICaptureMode kAllModes[] = {kGlobal, kThreadLocal, kRelaxed};
constexpr auto kIdle = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
constexpr auto kCapturing = ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
constexpr auto kInvalidated = ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED;
constexpr auto kInner = ACL_MEMCPY_INNER_DEVICE_TO_DEVICE;

inline const char* Name(aclmdlRICaptureMode mode) { return mode == kGlobal ? "GLOBAL" : mode == kThreadLocal ? "THREAD_LOCAL" : "RELAXED"; }

// A captured model that destroys itself. Declare it behind the memory and the events that its work uses.
class Model {
 public:
  Model() = default;
  explicit Model(aclmdlRI handle) : handle_(handle) {}
  Model(Model&& other) noexcept : handle_(other.Release()) {}
  Model& operator=(Model&&) = delete;
  ~Model() {
    if (handle_ != nullptr) {
      EXPECT_EQ(aclmdlRIDestroy(handle_), ACL_SUCCESS);
    }
  }
  aclmdlRI get() const { return handle_; }
  aclmdlRI Release() { return std::exchange(handle_, nullptr); }

 private:
  aclmdlRI handle_ = nullptr;
};

// RELAXED unless the mode is the subject: the test may then look at device memory while it captures.
inline void Begin(aclrtStream stream, aclmdlRICaptureMode mode = kRelaxed) { ASSERT_EQ(aclmdlRICaptureBegin(stream, mode), ACL_SUCCESS); }

inline Model End(aclrtStream stream) {
  aclmdlRI handle = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(stream, &handle), ACL_SUCCESS);
  EXPECT_NE(handle, nullptr);
  return Model(handle);
}

// One replay, waited for.
inline aclError Replay(const Model& model, aclrtStream stream) {
  const aclError code = aclmdlRIExecuteAsync(model.get(), stream);
  return code != ACL_SUCCESS ? code : aclrtSynchronizeStream(stream);
}

inline aclmdlRICaptureStatus CaptureStatusOf(aclrtStream stream) {
  auto status = static_cast<aclmdlRICaptureStatus>(-1);
  EXPECT_EQ(aclmdlRICaptureGetInfo(stream, &status, nullptr), ACL_SUCCESS);
  return status;
}

// The model that `stream` is being captured for; null when it is not.
inline aclmdlRI OpenModelOf(aclrtStream stream) {
  auto* model = reinterpret_cast<aclmdlRI>(uintptr_t{0x10});
  EXPECT_EQ(aclmdlRICaptureGetInfo(stream, nullptr, &model), ACL_SUCCESS);
  return model;
}

inline aclmdlRI StaleModel(aclrtStream stream) {
  Begin(stream);
  aclmdlRI handle = End(stream).get();
  return handle;
}

// `to` goes on behind everything that `from` has now.
inline void Link(aclrtStream from, const TestEvent& event, aclrtStream to) {
  ASSERT_EQ(aclrtRecordEvent(event.get(), from), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(to, event.get()), ACL_SUCCESS);
}

// The calling thread's own capture mode, for the time of a scope.
class ThreadMode {
 public:
  explicit ThreadMode(aclmdlRICaptureMode mode) : mode_(mode), other_(mode) { Exchange(); }
  ~ThreadMode() {
    Exchange();
    EXPECT_EQ(other_, mode_);
  }
  ThreadMode(const ThreadMode&) = delete;
  ThreadMode& operator=(const ThreadMode&) = delete;

 private:
  void Exchange() { EXPECT_EQ(aclmdlRICaptureThreadExchangeMode(&other_), ACL_SUCCESS); }
  aclmdlRICaptureMode mode_;
  aclmdlRICaptureMode other_;
};

inline aclError Copy(void* dst, const void* src, size_t count, aclrtStream stream) {
  return aclrtMemcpyAsync(dst, count, src, count, ACL_MEMCPY_DEFAULT, stream);
}

// A 64-bit word in device memory.
class Cell {
 public:
  explicit Cell(uint64_t value = 0) { Set(value); }
  void Set(uint64_t value) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    block_.Write(std::vector<uint8_t>(bytes, bytes + sizeof(value)));
  }
  uint64_t Get() const {
    const std::vector<uint8_t> bytes = block_.Read(sizeof(uint64_t));
    uint64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
  void* get() const { return block_.get(); }

 private:
  DeviceBuffer block_{64};
};

// Until work that is under way has stored `value`; a stream of its own does the looking.
inline void AwaitCell(const Cell& cell, uint64_t value) {
  aclrtStream watcher = nullptr;
  ASSERT_EQ(aclrtCreateStream(&watcher), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWait(cell.get(), value, ACL_STREAM_WAIT_VALUE_EQ, watcher), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(watcher), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(watcher), ACL_SUCCESS);
}

// Counts on the device how often the work submitted with Add() has run. A lost or doubled replay shows.
class Tally {
 public:
  aclError Add(aclrtStream stream) {
    return aclrtReduceAsync(total_.get(), one_.get(), sizeof(int32_t), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream, nullptr);
  }
  uint64_t Get() const { return total_.Get(); }

 private:
  Cell total_{0};
  Cell one_{1};
};

// A batch of copies between host memory and device 0.
class Batch {
 public:
  enum Direction { kToDevice, kToHost };
  explicit Batch(Direction direction) {
    const aclrtMemLocation host = {0, ACL_MEM_LOCATION_TYPE_HOST};
    const aclrtMemLocation device = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    attr_.dstLoc = direction == kToDevice ? device : host;
    attr_.srcLoc = direction == kToDevice ? host : device;
  }
  Batch& Add(void* dst, const void* src, size_t count) {
    dsts_.push_back(dst);
    srcs_.push_back(const_cast<void*>(src));
    sizes_.push_back(count);
    return *this;
  }
  aclError Run(size_t* fail) {
    return aclrtMemcpyBatch(dsts_.data(), sizes_.data(), srcs_.data(), sizes_.data(), sizes_.size(), &attr_, &index_, 1, fail);
  }
  aclError Submit(aclrtStream stream, size_t* fail) {
    return aclrtMemcpyBatchAsync(dsts_.data(), sizes_.data(), srcs_.data(), sizes_.data(), sizes_.size(), &attr_, &index_, 1, fail, stream);
  }
  aclError SubmitV2(aclrtStream stream) {
    return aclrtMemcpyBatchAsyncV2(dsts_.data(), sizes_.data(), srcs_.data(), sizes_.data(), sizes_.size(), &attr_, &index_, 1, stream);
  }

 private:
  std::vector<void*> dsts_, srcs_;
  std::vector<size_t> sizes_;
  aclrtMemcpyBatchAttr attr_ = {};
  size_t index_ = 0;
};

// A refused call: its code, what it leaves as last error, and a text that names it. The 207000 of event, stream and
// capture calls is not recorded.
template <typename Call>
void ExpectRefused(const char* call_name, aclError code, Call call) {
  SCOPED_TRACE(call_name);
  const bytes::Outcome outcome = bytes::Observe(call);
  EXPECT_EQ(outcome.code, code);
  bytes::ExpectReported(outcome, call_name);
  if (code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT) {
    EXPECT_EQ(outcome.last_error, ACL_SUCCESS);
  }
}

// Device 0 and a stream to capture. Streams that may join a capture come from NewStream(), because a stream under
// capture cannot be destroyed: TearDown discards what a failed test has left open, and then destroys them.
class CaptureTest : public StreamTest {
 protected:
  void TearDown() override {
    DiscardCaptures();
    for (aclrtStream stream : streams_) EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
    auto mode = kGlobal;
    aclmdlRICaptureThreadExchangeMode(&mode);
    StreamTest::TearDown();
  }

  // For fixtures whose captures use memory of theirs: to be called before that goes.
  void DiscardCaptures() {
    DiscardCapture(stream_);
    for (aclrtStream stream : streams_) DiscardCapture(stream);
  }

  aclrtStream NewStream(uint32_t flag = 0) {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 0, flag), ACL_SUCCESS);
    streams_.push_back(stream);
    return stream;
  }

  // Makes the capture on `stream` invalid, by an event of a second capture.
  void Invalidate(aclrtStream stream) {
    TestEvent event(EventKind::kEx);
    aclrtStream other = NewStream();
    aclmdlRI model = nullptr;
    Begin(other);
    ASSERT_EQ(aclrtRecordEvent(event.get(), other), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(stream, event.get()), ACL_ERROR_STREAM_CAPTURE_CONFLICT);
    ASSERT_EQ(aclmdlRICaptureEnd(other, &model), ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED);
    ASSERT_EQ(CaptureStatusOf(stream), kInvalidated);
  }

 private:
  static void DiscardCapture(aclrtStream stream) {
    aclmdlRI model = nullptr;
    if (CaptureStatusOf(stream) == kIdle) return;
    if (aclmdlRICaptureEnd(stream, &model) == ACL_SUCCESS) aclmdlRIDestroy(model);
  }

  std::vector<aclrtStream> streams_;
};

}  // namespace ropeway_test::graph
