// What the tests of the dispatcher stand on: a dispatcher with a stream, copies with arguments that can be spoiled one by one,
// and the records that a load-task callback saw.
#pragma once

#include <vector>

#include "dispatcher.h"
#include "tests/conformance/copy/call_checks.h"
#include "tests/support/acl_test.h"

namespace dispatcher_test {

using ropeway_test::DeviceBuffer;
using ropeway_test::Pattern;
using ropeway_test::PinnedBuffer;
using ropeway_test::StreamGate;
using ropeway_test::TakeErrorText;

constexpr auto kH2D = HCCL_RT_MEMCPY_KIND_HOST_TO_DEVICE;
constexpr auto kD2H = HCCL_RT_MEMCPY_KIND_DEVICE_TO_HOST;
constexpr auto kD2D = HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE;
constexpr auto kOnChip = hccl::LinkType::LINK_ONCHIP;
constexpr u32 kNoRank = INVALID_VALUE_RANKID;

// Device 0, a stream, and a dispatcher of each kind that the host has.
class DispatcherTest : public ropeway_test::StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    wrapped_ = hccl::Stream(stream_);
    ASSERT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_NORMAL, 0, &dispatcher_), HCCL_SUCCESS);
    ASSERT_EQ(HcclDispatcherInit(DispatcherType::DISPATCHER_VIRTURAL, 0, &virtual_), HCCL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(HcclDispatcherDestroy(dispatcher_), HCCL_SUCCESS);
    EXPECT_EQ(HcclDispatcherDestroy(virtual_), HCCL_SUCCESS);
    StreamTest::TearDown();
  }

  HcclResult Copy(void* dst, uint64_t dest_max, const void* src, uint64_t count, HcclRtMemcpyKind kind) {
    return HcclMemcpyAsync(dispatcher_, dst, dest_max, src, count, kind, wrapped_, kNoRank, kOnChip);
  }
  void Sync() { EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS); }

  HcclDispatcher dispatcher_ = nullptr;
  HcclDispatcher virtual_ = nullptr;
  hccl::Stream wrapped_;
  hccl::Stream empty_;
};

// Keeps what the load-task callback of one dispatcher is told.
class TaskLog {
 public:
  explicit TaskLog(HcclDispatcher dispatcher) : dispatcher_(dispatcher) {
    EXPECT_EQ(RegisterLoadTaskCallBack(dispatcher, this, &TaskLog::Add), HCCL_SUCCESS);
  }
  ~TaskLog() { RegisterLoadTaskCallBack(dispatcher_, nullptr, nullptr); }
  TaskLog(const TaskLog&) = delete;
  TaskLog& operator=(const TaskLog&) = delete;

  std::vector<hccl::TaskPara> tasks;

 private:
  static void Add(void* self, void* param, u32 length) {
    EXPECT_EQ(length, sizeof(hccl::TaskPara));
    static_cast<TaskLog*>(self)->tasks.push_back(*static_cast<hccl::TaskPara*>(param));
  }
  HcclDispatcher dispatcher_;
};

// A second stream of the current context, and its wrapper.
struct SubStream {
  SubStream() {
    EXPECT_EQ(aclrtCreateStream(&handle), ACL_SUCCESS);
    wrapped = hccl::Stream(handle, false);
  }
  ~SubStream() { EXPECT_EQ(aclrtDestroyStreamForce(handle), ACL_SUCCESS); }
  SubStream(const SubStream&) = delete;
  SubStream& operator=(const SubStream&) = delete;
  aclrtStream handle = nullptr;
  hccl::Stream wrapped;
};

struct Notify {
  Notify() { EXPECT_EQ(aclrtCreateNotify(&handle, ACL_NOTIFY_DEFAULT), ACL_SUCCESS); }
  ~Notify() { EXPECT_EQ(aclrtDestroyNotify(handle), ACL_SUCCESS); }
  Notify(const Notify&) = delete;
  Notify& operator=(const Notify&) = delete;
  aclrtNotify handle = nullptr;
};

}  // namespace dispatcher_test
