// The C++ overloads of acl_rt_api.h: each must call the C function it stands for, with its arguments unchanged. Every
// name is replaced before the header is read, so that the calls end here and the library's functions play no part.
#define aclrtSynchronizeDevice OverloadSynchronizeDevice
#define aclrtSynchronizeStream OverloadSynchronizeStream
#define aclrtSynchronizeEvent OverloadSynchronizeEvent
#define aclrtStreamWaitEvent OverloadStreamWaitEvent
#define aclrtCreateStream OverloadCreateStream
#define aclrtCreateEvent OverloadCreateEvent
#define aclrtMemcpyBatch OverloadMemcpyBatch
#define aclrtMemcpyBatchAsync OverloadMemcpyBatchAsync
#define aclrtSynchronizeDeviceWithTimeout TargetSynchronizeDeviceWithTimeout
#define aclrtSynchronizeStreamWithTimeout TargetSynchronizeStreamWithTimeout
#define aclrtSynchronizeEventWithTimeout TargetSynchronizeEventWithTimeout
#define aclrtStreamWaitEventWithTimeout TargetStreamWaitEventWithTimeout
#define aclrtCreateStreamWithConfig TargetCreateStreamWithConfig
#define aclrtCreateEventExWithFlag TargetCreateEventExWithFlag
#define aclrtMemcpyBatchV2 TargetMemcpyBatchV2
#define aclrtMemcpyBatchAsyncV2 TargetMemcpyBatchAsyncV2

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>

#include "acl/acl_rt_api.h"

namespace {

std::string last_call;

// Writes the call down, arguments separated by blanks; pointers as numbers.
template <typename T>
void Append(std::ostringstream& out, T* value) {
  out << ' ' << reinterpret_cast<uintptr_t>(value);
}
template <typename T>
void Append(std::ostringstream& out, T value) {
  out << ' ' << value;
}
template <typename... Args>
aclError Note(const char* name, Args... args) {
  std::ostringstream out;
  out << name;
  (Append(out, args), ...);
  last_call = out.str();
  return 42;
}

template <typename T>
T* At(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace

extern "C" {

aclError TargetSynchronizeDeviceWithTimeout(int32_t timeout) { return Note("device", timeout); }
aclError TargetSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) { return Note("stream", stream, timeout); }
aclError TargetSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) { return Note("event", event, timeout); }
aclError TargetStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  return Note("wait", stream, event, timeout);
}
aclError TargetCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return Note("create stream", stream, priority, flag);
}
aclError TargetCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) { return Note("create ex event", event, flag); }
aclError TargetMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                             size_t* attrsIndexes, size_t numAttrs) {
  return Note("batch", dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs);
}
aclError TargetMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                  size_t* attrsIndexes, size_t numAttrs, aclrtStream stream) {
  return Note("batch async", dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, stream);
}

}  // extern "C"

namespace {

TEST(Overloads, SynchroniseCallsForwardToTheirTimeoutForms) {
  EXPECT_EQ(aclrtSynchronizeDevice(7), 42);
  EXPECT_EQ(last_call, "device 7");
  EXPECT_EQ(aclrtSynchronizeStream(At<void>(8), 9), 42);
  EXPECT_EQ(last_call, "stream 8 9");
  EXPECT_EQ(aclrtSynchronizeEvent(At<void>(10), 11), 42);
  EXPECT_EQ(last_call, "event 10 11");
  EXPECT_EQ(aclrtStreamWaitEvent(At<void>(12), At<void>(13), 14), 42);
  EXPECT_EQ(last_call, "wait 12 13 14");
}

TEST(Overloads, CreateCallsForwardToTheirLongForms) {
  EXPECT_EQ(aclrtCreateStream(At<aclrtStream>(16), 2, 3), 42);
  EXPECT_EQ(last_call, "create stream 16 2 3");
  EXPECT_EQ(aclrtCreateEvent(At<aclrtEvent>(24), 8), 42);
  EXPECT_EQ(last_call, "create ex event 24 8");
}

TEST(Overloads, BatchCallsWithoutAFailIndexForwardToV2) {
  EXPECT_EQ(
      aclrtMemcpyBatch(At<void*>(8), At<size_t>(16), At<void*>(24), At<size_t>(32), 5, At<aclrtMemcpyBatchAttr>(40), At<size_t>(48), 6),
      42);
  EXPECT_EQ(last_call, "batch 8 16 24 32 5 40 48 6");
  EXPECT_EQ(aclrtMemcpyBatchAsync(At<void*>(8), At<size_t>(16), At<void*>(24), At<size_t>(32), 5, At<aclrtMemcpyBatchAttr>(40),
                                  At<size_t>(48), 6, At<void>(56)),
            42);
  EXPECT_EQ(last_call, "batch async 8 16 24 32 5 40 48 6 56");
}

}  // namespace
