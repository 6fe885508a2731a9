// What every conformance test stands on: fixtures that bring a device up and insist that nothing is left behind, and a
// gate that holds a stream back without sleeping. Public API only, so that the suite also builds against the vendor's
// library (define ROPEWAY_TEST_VENDOR: the leak check is then left out).
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "acl/acl.h"
#ifndef ROPEWAY_TEST_VENDOR
#include "ropeway/ropeway.h"
#endif
#include "tests/support/callable.h"

namespace ropeway_test {

// For tests whose subject is size: under a sanitizer a byte takes fifty times as long, and the seams between pieces are the same.
#if defined(ROPEWAY_ASAN) || defined(ROPEWAY_TSAN)
constexpr size_t Large(size_t, size_t sanitized) { return sanitized; }
#else
constexpr size_t Large(size_t plain, size_t) { return plain; }
#endif

// Holds a stream back: a host function that returns once Open() was called. Destroying the gate opens it.
class StreamGate {
 public:
  StreamGate() = default;
  ~StreamGate() { Open(); }
  StreamGate(const StreamGate&) = delete;
  StreamGate& operator=(const StreamGate&) = delete;

  // Everything submitted to `stream` from now on waits for Open(). The gate must outlive the stream's work.
  aclError Close(aclrtStream stream) { return aclrtLaunchHostFunc(stream, &StreamGate::Wait, this); }

  void Open() {
    std::lock_guard<std::mutex> lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

  // Blocks until the stream has reached the gate: all work in front of it is done, and the gate holds the stream.
  void AwaitArrival() {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return arrived_; });
  }

 private:
  static void Wait(void* self) {
    auto* gate = static_cast<StreamGate*>(self);
    std::unique_lock<std::mutex> lock(gate->mutex_);
    gate->arrived_ = true;
    gate->changed_.notify_all();
    gate->changed_.wait(lock, [gate] { return gate->open_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  bool arrived_ = false;
};

// No device is set. Drops error texts and the last error, and fails when the test leaves an object or a byte behind.
class BareTest : public ::testing::Test {
 protected:
  void SetUp() override {
    aclGetRecentErrMsg();
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  }
  void TearDown() override {
    aclGetRecentErrMsg();
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
#ifndef ROPEWAY_TEST_VENDOR
    ropewayLiveCounts live;
    ASSERT_EQ(ropewayGetLiveCounts(&live), ACL_SUCCESS);
    EXPECT_EQ(live.contexts, 0u) << "the test left contexts behind";
    EXPECT_EQ(live.streams, 0u) << "the test left streams behind";
    EXPECT_EQ(live.events, 0u) << "the test left events behind";
    EXPECT_EQ(live.notifies, 0u) << "the test left notifies behind";
    EXPECT_EQ(live.models, 0u) << "the test left captured graphs behind";
    EXPECT_EQ(live.deviceBlocks, 0u) << "the test left device memory behind";
    EXPECT_EQ(live.hostBlocks, 0u) << "the test left pinned host memory behind";
    EXPECT_EQ(live.registrations, 0u) << "the test left registered host memory behind";
    EXPECT_EQ(live.managedBlocks, 0u) << "the test left managed memory behind";
    EXPECT_EQ(live.pools, 0u) << "the test left memory pools behind";
    EXPECT_EQ(live.reservations, 0u) << "the test left reserved addresses behind";
#endif
  }
};

// Device 0 is set on the test's thread, and forced down at the end.
class DeviceTest : public BareTest {
 protected:
  void SetUp() override {
    BareTest::SetUp();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    BareTest::TearDown();
  }
};

// Device 0 and one stream.
class StreamTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
    DeviceTest::TearDown();
  }
  aclrtStream stream_ = nullptr;
};

// Whether host code can look at device memory where it lies.
#ifdef ROPEWAY_TEST_VENDOR
inline bool EngineHasHostViews() { return true; }
#else
inline bool EngineHasHostViews() { return std::string(ropewayGetEngineName()) == "cpu"; }
#endif

// A device block that frees itself.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(size_t size) : size_(size) {
    EXPECT_EQ(aclrtMalloc(&data_, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS) << aclGetRecentErrMsg();
  }
  ~DeviceBuffer() {
    if (data_ != nullptr) {
      EXPECT_EQ(aclrtFree(data_), ACL_SUCCESS);
    }
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  void* get() const { return data_; }
  char* at(size_t offset) const { return static_cast<char*>(data_) + offset; }  // arithmetic only: not for host access
  size_t size() const { return size_; }

  // Synchronous fill and read back, for tests whose subject is something else.
  void Write(const std::vector<uint8_t>& bytes) {
    ASSERT_EQ(aclrtMemcpy(data_, size_, bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS) << aclGetRecentErrMsg();
  }
  std::vector<uint8_t> Read(size_t count) const {
    std::vector<uint8_t> bytes(count);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), count, data_, count, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS) << aclGetRecentErrMsg();
    return bytes;
  }

 private:
  void* data_ = nullptr;
  size_t size_;
};

// A pinned host block that frees itself.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(size_t size) : size_(size) { EXPECT_EQ(aclrtMallocHost(&data_, size), ACL_SUCCESS); }
  ~PinnedBuffer() {
    if (data_ != nullptr) {
      EXPECT_EQ(aclrtFreeHost(data_), ACL_SUCCESS);
    }
  }
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  uint8_t* get() const { return static_cast<uint8_t*>(data_); }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_;
};

// A notify that destroys itself.
class TestNotify {
 public:
  TestNotify() { EXPECT_EQ(aclrtCreateNotify(&notify_, ACL_NOTIFY_DEFAULT), ACL_SUCCESS); }
  ~TestNotify() { EXPECT_EQ(aclrtDestroyNotify(notify_), ACL_SUCCESS); }
  TestNotify(const TestNotify&) = delete;
  TestNotify& operator=(const TestNotify&) = delete;
  aclrtNotify get() const { return notify_; }

 private:
  aclrtNotify notify_ = nullptr;
};

// Bytes that differ from place to place and from seed to seed.
inline std::vector<uint8_t> Pattern(size_t count, uint32_t seed) {
  std::vector<uint8_t> bytes(count);
  uint32_t x = seed * 2654435761u + 12345u;
  for (auto& b : bytes) {
    x = x * 1664525u + 1013904223u;
    b = static_cast<uint8_t>(x >> 24);
  }
  return bytes;
}

// A handle that is nothing at all, and an address that nobody reserved; whoever looks behind it crashes.
inline void* Nonsense() { return reinterpret_cast<void*>(uintptr_t{0x1234567}); }

// The text of the newest error of this thread, taken (and so cleared); empty when there is none.
inline std::string TakeErrorText() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace ropeway_test
