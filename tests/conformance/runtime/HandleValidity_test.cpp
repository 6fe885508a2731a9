// Every call that takes a stream, an event or a notify, with handles that are none: destroyed, of another type, or just
// an address. And every call that works on a stream, without a context and from another one.
#include <memory>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace handle_validity_test {

struct BadHandle {
  const char* what;
  void* handle;
};

// A call that is correct but for the handle it is given.
struct HandleCall {
  const char* name;
  Callable<aclError(void*)> call;
};

class HandleValidity : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    ASSERT_EQ(aclrtCreateEventWithFlag(&event_, ACL_EVENT_SYNC), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateNotify(&notify_, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
    ASSERT_EQ(aclrtGetCurrentContext(&context_), ACL_SUCCESS);
    block_ = std::make_unique<DeviceBuffer>(64);
    stale_stream_ = StaleStream();
    stale_event_ = StaleEvent();
    stale_notify_ = StaleNotify();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyNotify(notify_), ACL_SUCCESS);
    block_.reset();
    StreamTest::TearDown();
  }

  // What no call may take for any handle at all.
  std::vector<BadHandle> Strangers() {
    return {
        {"destroyed stream", stale_stream_},
        {"destroyed event", stale_event_},
        {"destroyed notify", stale_notify_},
        {"context", context_},
        {"readable memory", memory_},
#ifndef ROPEWAY_TEST_VENDOR
        {"device memory", block_->get()},
        {"small number", reinterpret_cast<void*>(8)},
        {"top of the address space", reinterpret_cast<void*>(~uintptr_t{7})},
        {"odd address", reinterpret_cast<char*>(memory_) + 1},
#endif
    };
  }

  void ExpectRefused(const std::vector<HandleCall>& calls, const std::vector<BadHandle>& handles) {
    for (const HandleCall& c : calls) {
      for (const BadHandle& bad : handles) {
        EXPECT_EQ(c.call(bad.handle), ACL_ERROR_RT_INVALID_HANDLE) << c.name << " of a " << bad.what;
      }
    }
  }

  // Submissions, which want the stream's own context, and destroy and its like, which want it too.
  std::vector<HandleCall> CallsOnTheOwnContext() {
    return {
        {"aclrtRecordEvent", [&](void* s) { return aclrtRecordEvent(event_, s); }},
        {"aclrtRecordEventWithFlag", [&](void* s) { return aclrtRecordEventWithFlag(event_, s, 0); }},
        {"aclrtResetEvent", [&](void* s) { return aclrtResetEvent(event_, s); }},
        {"aclrtStreamWaitEvent", [&](void* s) { return aclrtStreamWaitEvent(s, event_); }},
        {"aclrtStreamWaitEventWithTimeout", [&](void* s) { return aclrtStreamWaitEventWithTimeout(s, event_, 0); }},
        {"aclrtStreamWaitEventWithFlag", [&](void* s) { return aclrtStreamWaitEventWithFlag(s, event_, 0, 0); }},
        {"aclrtRecordNotify", [&](void* s) { return aclrtRecordNotify(notify_, s); }},
        {"aclrtWaitAndResetNotify", [&](void* s) { return aclrtWaitAndResetNotify(notify_, s, 0); }},
        {"aclrtLaunchHostFunc", [&](void* s) { return aclrtLaunchHostFunc(s, &CountUp, &count_); }},
        {"aclrtMemsetAsync", [&](void* s) { return aclrtMemsetAsync(block_->get(), 64, 1, 64, s); }},
        {"aclrtSetStreamFailureMode", [](void* s) { return aclrtSetStreamFailureMode(s, ACL_CONTINUE_ON_FAILURE); }},
        {"aclrtStreamAbort", [](void* s) { return aclrtStreamAbort(s); }},
        {"aclrtDestroyStream", [](void* s) { return aclrtDestroyStream(s); }},
        {"aclrtDestroyStreamForce", [](void* s) { return aclrtDestroyStreamForce(s); }},
    };
  }

  std::vector<HandleCall> OtherStreamCalls() {
    return {
        {"aclrtSynchronizeStream", [](void* s) { return aclrtSynchronizeStream(s); }},
        {"aclrtSynchronizeStreamWithTimeout", [](void* s) { return aclrtSynchronizeStreamWithTimeout(s, 1000); }},
        {"aclrtStreamQuery", [&](void* s) { return aclrtStreamQuery(s, &stream_status_); }},
        {"aclrtStreamGetId", [&](void* s) { return aclrtStreamGetId(s, &int_value_); }},
        {"aclrtStreamGetPriority", [&](void* s) { return aclrtStreamGetPriority(s, &value_); }},
        {"aclrtStreamGetFlags", [&](void* s) { return aclrtStreamGetFlags(s, &value_); }},
    };
  }

  std::vector<HandleCall> MoreStreamCalls() {
    return {
        {"aclrtStreamStop", [](void* s) { return aclrtStreamStop(s); }},
        {"aclrtGetStreamAttribute", [&](void* s) { return aclrtGetStreamAttribute(s, ACL_STREAM_ATTR_FAILURE_MODE, &attribute_); }},
        {"aclrtSetStreamAttribute", [&](void* s) { return aclrtSetStreamAttribute(s, ACL_STREAM_ATTR_FAILURE_MODE, &attribute_); }},
        {"aclrtSetStreamOverflowSwitch", [](void* s) { return aclrtSetStreamOverflowSwitch(s, 0); }},
        {"aclrtGetStreamOverflowSwitch", [&](void* s) { return aclrtGetStreamOverflowSwitch(s, &value_); }},
        {"aclrtSubscribeReport", [](void* s) { return aclrtSubscribeReport(1, s); }},
        {"aclrtLaunchCallback", [&](void* s) { return aclrtLaunchCallback(&CountUp, &count_, ACL_CALLBACK_BLOCK, s); }},
    };
  }

  std::vector<HandleCall> EventCalls() {
    return {
        {"aclrtRecordEvent", [&](void* e) { return aclrtRecordEvent(e, stream_); }},
        {"aclrtRecordEventWithFlag", [&](void* e) { return aclrtRecordEventWithFlag(e, stream_, 0); }},
        {"aclrtResetEvent", [&](void* e) { return aclrtResetEvent(e, stream_); }},
        {"aclrtStreamWaitEvent", [&](void* e) { return aclrtStreamWaitEvent(stream_, e); }},
        {"aclrtStreamWaitEventWithTimeout", [&](void* e) { return aclrtStreamWaitEventWithTimeout(stream_, e, 0); }},
        {"aclrtStreamWaitEventWithFlag", [&](void* e) { return aclrtStreamWaitEventWithFlag(stream_, e, 0, 0); }},
        {"aclrtQueryEventStatus", [&](void* e) { return aclrtQueryEventStatus(e, &recorded_); }},
        {"aclrtQueryEvent", [&](void* e) { return aclrtQueryEvent(e, &old_); }},
        {"aclrtQueryEventWaitStatus", [&](void* e) { return aclrtQueryEventWaitStatus(e, &waited_); }},
        {"aclrtSynchronizeEvent", [](void* e) { return aclrtSynchronizeEvent(e); }},
        {"aclrtSynchronizeEventWithTimeout", [](void* e) { return aclrtSynchronizeEventWithTimeout(e, 1); }},
        {"aclrtEventGetTimestamp", [&](void* e) { return aclrtEventGetTimestamp(e, &timestamp_); }},
        {"aclrtGetEventId", [&](void* e) { return aclrtGetEventId(e, &value_); }},
        {"aclrtDestroyEvent", [](void* e) { return aclrtDestroyEvent(e); }},
    };
  }

  std::vector<HandleCall> NotifyCalls() {
    return {
        {"aclrtRecordNotify", [&](void* n) { return aclrtRecordNotify(n, stream_); }},
        {"aclrtWaitAndResetNotify", [&](void* n) { return aclrtWaitAndResetNotify(n, stream_, 0); }},
        {"aclrtGetNotifyId", [&](void* n) { return aclrtGetNotifyId(n, &value_); }},
        {"aclrtDestroyNotify", [](void* n) { return aclrtDestroyNotify(n); }},
    };
  }

  aclrtEvent event_ = nullptr, stale_event_ = nullptr;
  aclrtNotify notify_ = nullptr, stale_notify_ = nullptr;
  aclrtStream stale_stream_ = nullptr;
  aclrtContext context_ = nullptr;
  std::unique_ptr<DeviceBuffer> block_;
  uint64_t memory_[64] = {};
  // Where outputs go.
  int count_ = 0;
  int32_t int_value_ = -7;
  uint32_t value_ = 77;
  uint64_t timestamp_ = 77;
  aclrtStreamAttrValue attribute_{};
  aclrtStreamStatus stream_status_ = ACL_STREAM_STATUS_RESERVED;
  aclrtEventRecordedStatus recorded_ = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  aclrtEventStatus old_ = ACL_EVENT_STATUS_RESERVED;
  aclrtEventWaitStatus waited_ = ACL_EVENT_WAIT_STATUS_RESERVED;
};

TEST_F(HandleValidity, NoCallTakesAStrangerForAStream) {
  auto handles = Strangers();
  handles.push_back({"live event", event_});
  handles.push_back({"live notify", notify_});
  ExpectRefused(CallsOnTheOwnContext(), handles);
  ExpectRefused(OtherStreamCalls(), handles);
  ExpectRefused(MoreStreamCalls(), handles);
  EXPECT_EQ(int_value_, -7);
  EXPECT_EQ(value_, 77u);
  EXPECT_EQ(stream_status_, ACL_STREAM_STATUS_RESERVED);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(count_, 0);
}

TEST_F(HandleValidity, NoCallTakesAStrangerForAnEvent) {
  auto handles = Strangers();
  handles.push_back({"live stream", stream_});
  handles.push_back({"live notify", notify_});
  ExpectRefused(EventCalls(), handles);
  EXPECT_EQ(value_, 77u);
  EXPECT_EQ(timestamp_, 77u);
  EXPECT_EQ(old_, ACL_EVENT_STATUS_RESERVED);
  EXPECT_EQ(waited_, ACL_EVENT_WAIT_STATUS_RESERVED);
}

TEST_F(HandleValidity, NoCallTakesAStrangerForANotify) {
  auto handles = Strangers();
  handles.push_back({"live stream", stream_});
  handles.push_back({"live event", event_});
  ExpectRefused(NotifyCalls(), handles);
  EXPECT_EQ(value_, 77u);
}

TEST_F(HandleValidity, WithoutContextStreamCallsAreRefused) {
  for (const HandleCall& c : CallsOnTheOwnContext()) {
    EXPECT_EQ(WithoutContext([&] { return c.call(stream_); }), ACL_ERROR_RT_CONTEXT_NULL) << c.name;
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(count_, 0);
}

TEST_F(HandleValidity, FromAnotherContextWorkIsRefusedAndQueriesAreNot) {
  ForeignContext foreign;
  for (const HandleCall& c : CallsOnTheOwnContext()) {
    EXPECT_EQ(c.call(foreign.stream()), ACL_ERROR_RT_STREAM_CONTEXT) << c.name;
  }
  for (const HandleCall& c : OtherStreamCalls()) EXPECT_EQ(c.call(foreign.stream()), ACL_SUCCESS) << c.name;
  foreign.Run([] { EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS); });
  EXPECT_EQ(count_, 0);
}

TEST_F(HandleValidity, RecycledHandlesAreNotMistakenForOldOnes) {
  std::vector<aclrtStream> old_streams;
  std::vector<aclrtEvent> old_events;
  for (int i = 0; i < 200; ++i) {
    old_streams.push_back(StaleStream());
    old_events.push_back(StaleEvent());
  }
  TestStream streams[50];
  std::vector<std::unique_ptr<TestEvent>> events;
  for (int i = 0; i < 50; ++i) events.push_back(std::make_unique<TestEvent>(EventKind::kEx));
  for (aclrtStream stream : old_streams) EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  for (aclrtEvent event : old_events) EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(HandleValidity, ManyThreadsUseHandlesThatAnotherDestroys) {
  for (int round = 0; round < 20; ++round) {
    aclrtEvent event = nullptr;
    ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        for (aclError result = ACL_SUCCESS; result == ACL_SUCCESS;) {
          result = aclrtRecordEvent(event, stream_);
          if (result == ACL_SUCCESS) result = aclrtStreamWaitEvent(stream_, event);
          EXPECT_TRUE(result == ACL_SUCCESS || result == ACL_ERROR_RT_INVALID_HANDLE) << result;
        }
      });
    }
    ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
}

}  // namespace handle_validity_test
}  // namespace ropeway_test
