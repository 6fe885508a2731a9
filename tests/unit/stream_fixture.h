// Streams for unit tests: without contexts and devices, on the engine that all of them share.
#pragma once

#include "stream/event.h"
#include "stream/stream.h"
#include "unit/queue_harness.h"

namespace ropeway_unit {

class TestStream {
 public:
  explicit TestStream(FailureScope* scope, Engine& engine = SharedEngine(), int device = 0)
      : scope_(scope), stream_(Stream::Create({&engine, scope, device, 0, 0, false})), generation_(stream_->generation()) {}
  ~TestStream() { Destroy(true); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;

  void Destroy(bool force) {
    if (stream_ == nullptr) return;
    EXPECT_TRUE(stream_->BeginDestroy(generation_));
    EXPECT_TRUE(stream_->FinishDestroy(force));
    stream_ = nullptr;
  }
  Status Submit(Task task) { return stream_->Enqueue(generation_, scope_, task); }
  Stream* get() const { return stream_; }
  Stream* operator->() const { return stream_; }
  StreamRef ref() const { return {stream_, generation_}; }

 private:
  FailureScope* scope_;
  Stream* stream_;
  uint32_t generation_;
};

}  // namespace ropeway_unit
