// Helpers of the runtime-object tests: threads that are driven step by step, a second context, streams that are held,
// a copy that fails when it runs, and tables of "this call must answer that".
#pragma once

#include <thread>
#include <utility>

#include "tests/support/acl_test.h"

namespace ropeway_test {

constexpr aclError kNotCalled = -1;

// Runs `body` on a thread that never touched the runtime: it has no current context.
template <class Body>
void OnFreshThread(Body&& body) {
  std::thread thread(std::forward<Body>(body));
  thread.join();
}

// What `call` answers on a thread without a context.
inline aclError WithoutContext(const Callable<aclError()>& call) {
  aclError result = kNotCalled;
  OnFreshThread([&] { result = call(); });
  return result;
}

// One row of "this call must answer that". The order tables violate one check and all later ones at once.
struct Case {
  const char* what;
  aclError expected;
  Callable<aclError()> call;
};

inline void ExpectAll(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(c.call(), c.expected) << c.what;
}

// A thread that runs what it is given, one piece at a time, so that a test can say which thread does what when.
class Worker {
 public:
  Worker() : thread_([this] { Loop(); }) {}
  ~Worker() {
    Do(nullptr);
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  // Runs `body` on the worker and waits for it. An empty body ends the worker.
  void Do(Callable<void()> body) {
    std::unique_lock<std::mutex> lock(mutex_);
    body_ = std::move(body);
    pending_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !pending_; });
  }

 private:
  void Loop() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (bool running = true; running;) {
      changed_.wait(lock, [this] { return pending_; });
      running = static_cast<bool>(body_);
      if (running) {
        lock.unlock();
        body_();
        lock.lock();
      }
      pending_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  Callable<void()> body_;
  bool pending_ = false;
  std::thread thread_;
};

// An explicit context with one stream, made on another thread: the test's own current context does not change.
class ForeignContext {
 public:
  explicit ForeignContext(int32_t device = 0) {
    OnFreshThread([&] {
      EXPECT_EQ(aclrtCreateContext(&context_, device), ACL_SUCCESS);
      EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    });
  }
  ~ForeignContext() { EXPECT_EQ(aclrtDestroyContext(context_), ACL_SUCCESS); }
  ForeignContext(const ForeignContext&) = delete;
  ForeignContext& operator=(const ForeignContext&) = delete;
  aclrtContext context() const { return context_; }
  aclrtStream stream() const { return stream_; }

  // Runs `body` on a thread whose current context is this one.
  void Run(const Callable<void()>& body) const {
    OnFreshThread([&] {
      ASSERT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
      body();
    });
  }

 private:
  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
};

// Holds a stream with a gate until Open() or the end of the scope; the gate's host function is over when this is gone.
// All host functions of a context share one thread, so no other host function of that context runs meanwhile.
class Hold {
 public:
  explicit Hold(aclrtStream stream) : stream_(stream) { EXPECT_EQ(gate_.Close(stream), ACL_SUCCESS); }
  ~Hold() {
    gate_.Open();
    aclrtSynchronizeStream(stream_);
  }
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  void Open() { gate_.Open(); }
  void AwaitArrival() { gate_.AwaitArrival(); }

 private:
  aclrtStream stream_;
  StreamGate gate_;
};

// Blocks a stream behind a classic event that nobody records, without any host function: for work that is thrown away.
class NeverRecorded {
 public:
  NeverRecorded() { EXPECT_EQ(aclrtCreateEventWithFlag(&event_, ACL_EVENT_SYNC), ACL_SUCCESS); }
  ~NeverRecorded() { EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS); }
  NeverRecorded(const NeverRecorded&) = delete;
  NeverRecorded& operator=(const NeverRecorded&) = delete;
  aclError Block(aclrtStream stream) { return aclrtStreamWaitEvent(stream, event_); }
  aclrtEvent event() const { return event_; }

 private:
  aclrtEvent event_ = nullptr;
};

// Queues a device-to-device copy whose source is pageable: accepted, and 507013 when it runs.
class FailingCopy {
 public:
  aclError Submit(aclrtStream stream) {
    static uint8_t pageable[64];
    return aclrtMemcpyAsync(block_.get(), sizeof(pageable), pageable, sizeof(pageable), ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
  }

 private:
  DeviceBuffer block_{64};
};

enum class EventKind { kDefault, kClassic, kEx };

inline const char* Name(EventKind kind) { return kind == EventKind::kDefault ? "default" : kind == EventKind::kClassic ? "classic" : "Ex"; }

// An event that destroys itself. `flag` means nothing for a default event.
class TestEvent {
 public:
  explicit TestEvent(EventKind kind, uint32_t flag = ACL_EVENT_SYNC) {
    aclError result = kind == EventKind::kDefault   ? aclrtCreateEvent(&event_)
                      : kind == EventKind::kClassic ? aclrtCreateEventWithFlag(&event_, flag)
                                                    : aclrtCreateEventExWithFlag(&event_, flag);
    EXPECT_EQ(result, ACL_SUCCESS) << Name(kind) << " event, flag " << flag;
  }
  ~TestEvent() {
    if (event_ != nullptr) {
      EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS);
    }
  }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  aclrtEvent get() const { return event_; }
  aclrtEvent Release() { return std::exchange(event_, nullptr); }

 private:
  aclrtEvent event_ = nullptr;
};

// A stream of the current context that destroys itself, work or no work.
class TestStream {
 public:
  TestStream() { EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS); }
  TestStream(uint32_t priority, uint32_t flag) { EXPECT_EQ(aclrtCreateStreamWithConfig(&stream_, priority, flag), ACL_SUCCESS); }
  ~TestStream() {
    if (stream_ != nullptr) {
      EXPECT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
    }
  }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  aclrtStream get() const { return stream_; }
  aclrtStream Release() { return std::exchange(stream_, nullptr); }

 private:
  aclrtStream stream_ = nullptr;
};

inline aclrtStream StaleStream() {
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  return stream;
}

inline aclrtEvent StaleEvent() {
  aclrtEvent event = nullptr;
  EXPECT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  return event;
}

inline aclrtNotify StaleNotify() {
  aclrtNotify notify = nullptr;
  EXPECT_EQ(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  return notify;
}

inline aclrtStream DefaultStream() {
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
  return stream;
}

inline aclrtEventRecordedStatus RecordedStatus(aclrtEvent event) {
  auto status = static_cast<aclrtEventRecordedStatus>(-1);
  EXPECT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  return status;
}

inline aclrtStreamStatus StatusOf(aclrtStream stream) {
  auto status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
  return status;
}

// A host function that adds one to the counter it is given. Read the counter after a synchronise only.
inline void CountUp(void* counter) { ++*static_cast<int*>(counter); }

}  // namespace ropeway_test
