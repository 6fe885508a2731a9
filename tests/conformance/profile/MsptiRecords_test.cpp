// Records of mspti: one for each thing that happened, with true times, and the number of the call that it belongs to.
#include <unistd.h>

#include "tests/conformance/graph/graph_test_util.h"
#include "tests/conformance/profile/profile_test_util.h"

namespace ropeway_test::profile {
namespace mspti_records_test {

using MsptiRecords = MsptiTest;

TEST_F(MsptiRecords, EachOfTenThousandCopiesHasOneWithTrueTimes) {
  constexpr int kCopies = 10000;
  Enable({MSPTI_ACTIVITY_KIND_MEMCPY, MSPTI_ACTIVITY_KIND_API});
  const uint64_t before = RealNow();
  const uint64_t after = MakeCopies(stream_, kCopies);
  Flush();
  std::map<uint64_t, msptiActivityApi> calls;
  for (const msptiActivityApi& call : Calls()) {
    if (std::string(call.name) != "aclrtMemcpyAsync") continue;
    EXPECT_TRUE(calls.emplace(call.correlationId, call).second) << "a number of two calls";
  }
  ASSERT_EQ(calls.size(), static_cast<size_t>(kCopies));
  const std::vector<msptiActivityMemcpy> copies = Copies();
  ASSERT_EQ(copies.size(), static_cast<size_t>(kCopies));
  std::map<uint64_t, uint64_t> bytes;  // by number
  for (const msptiActivityMemcpy& copy : copies) {
    ASSERT_EQ(calls.count(copy.correlationId), 1u);
    const msptiActivityApi& call = calls[copy.correlationId];
    ASSERT_LE(before, call.start);
    ASSERT_LE(call.start, call.end);
    ASSERT_LE(call.start, copy.start) << "it was submitted before it started";
    ASSERT_LE(copy.start, copy.end);
    ASSERT_LE(copy.end, after) << "it ended before the synchronise did";
    ASSERT_EQ(copy.streamId, StreamNumber());
    ASSERT_EQ(copy.deviceId, 0u);
    ASSERT_EQ(copy.copyKind, MSPTI_ACTIVITY_MEMCPY_KIND_HTOD);
    ASSERT_EQ(copy.isAsync, 1);
    ASSERT_EQ(call.pt.processId, static_cast<uint32_t>(getpid()));
    ASSERT_EQ(call.pt.threadId, static_cast<uint32_t>(gettid()));
    ASSERT_TRUE(bytes.emplace(copy.correlationId, copy.bytes).second) << "a copy is told once";
  }
  // The numbers rise with the calls, so sizes come as they were submitted.
  uint64_t i = 0;
  for (const auto& [number, size] : bytes) ASSERT_EQ(size, 1 + i++ % 1024);
}

TEST_F(MsptiRecords, CopiesTellWhereTheyGo) {
  DeviceBuffer a(64), b(64);
  PinnedBuffer pinned(64);
  std::vector<uint8_t> pageable(64);
  Enable({MSPTI_ACTIVITY_KIND_MEMCPY});
  struct Way {
    void* dst;
    const void* src;
    aclrtMemcpyKind kind;
    int wanted;
  };
  const Way ways[] = {{a.get(), pinned.get(), ACL_MEMCPY_HOST_TO_DEVICE, MSPTI_ACTIVITY_MEMCPY_KIND_HTOD},
                      {pinned.get(), a.get(), ACL_MEMCPY_DEVICE_TO_HOST, MSPTI_ACTIVITY_MEMCPY_KIND_DTOH},
                      {b.get(), a.get(), ACL_MEMCPY_DEVICE_TO_DEVICE, MSPTI_ACTIVITY_MEMCPY_KIND_DTOD},
                      {pageable.data(), pinned.get(), ACL_MEMCPY_HOST_TO_HOST, MSPTI_ACTIVITY_MEMCPY_KIND_HTOH}};
  for (const Way& way : ways) ASSERT_EQ(aclrtMemcpy(way.dst, 64, way.src, 64, way.kind), ACL_SUCCESS);
  Flush();
  const std::vector<msptiActivityMemcpy> copies = Copies();
  ASSERT_EQ(copies.size(), std::size(ways));
  for (size_t i = 0; i < copies.size(); ++i) {
    EXPECT_EQ(copies[i].copyKind, ways[i].wanted) << i;
    EXPECT_EQ(copies[i].isAsync, 0) << i;
    EXPECT_EQ(copies[i].streamId, 0xFFFFFFFFu) << i;
    EXPECT_EQ(copies[i].deviceId, 0u) << i;
    EXPECT_EQ(copies[i].bytes, 64u) << i;
    EXPECT_NE(copies[i].correlationId, 0u) << i;
  }
}

TEST_F(MsptiRecords, SetsTellTheirValue) {
  DeviceBuffer device(100);
  Enable({MSPTI_ACTIVITY_KIND_MEMSET, MSPTI_ACTIVITY_KIND_API});
  ASSERT_EQ(aclrtMemsetAsync(device.get(), 100, 7, 90, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  const uint64_t after = RealNow();
  Flush();
  const auto sets = All<msptiActivityMemset>(MSPTI_ACTIVITY_KIND_MEMSET);
  ASSERT_EQ(sets.size(), 1u);
  EXPECT_EQ(sets[0].value, 7u);
  EXPECT_EQ(sets[0].bytes, 90u);
  EXPECT_EQ(sets[0].streamId, StreamNumber());
  EXPECT_EQ(sets[0].isAsync, 1);
  EXPECT_LE(sets[0].start, sets[0].end);
  EXPECT_LE(sets[0].end, after);
  const std::vector<msptiActivityApi> calls = Calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_STREQ(calls[0].name, "aclrtMemsetAsync");
  EXPECT_EQ(calls[0].correlationId, sets[0].correlationId);
  EXPECT_STREQ(calls[1].name, "aclrtSynchronizeStream");
}

TEST_F(MsptiRecords, BlocksComeAndGo) {
  Enable({MSPTI_ACTIVITY_KIND_MEMORY, MSPTI_ACTIVITY_KIND_ACL_API});
  void* block = nullptr;
  const uint64_t before = RealNow();
  ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const uint64_t between = RealNow();
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  { PinnedBuffer host(64); }
  Flush();
  const auto blocks = All<msptiActivityMemory>(MSPTI_ACTIVITY_KIND_MEMORY);
  ASSERT_EQ(blocks.size(), 2u) << "host memory is not told of";
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(blocks[i].memoryOperationType,
              i == 0 ? MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION : MSPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
    EXPECT_EQ(blocks[i].memoryKind, MSPTI_ACTIVITY_MEMORY_DEVICE);
    EXPECT_EQ(blocks[i].address, reinterpret_cast<uintptr_t>(block));
    EXPECT_GE(blocks[i].bytes, 4096u);
    EXPECT_EQ(blocks[i].deviceId, 0u);
    EXPECT_EQ(blocks[i].processId, static_cast<uint32_t>(getpid()));
    EXPECT_EQ(blocks[i].streamId, 0xFFFFFFFFu);
    EXPECT_LE(blocks[i].start, blocks[i].end);
  }
  EXPECT_EQ(blocks[0].bytes, blocks[1].bytes);
  EXPECT_LE(before, blocks[0].start);
  EXPECT_LE(blocks[0].end, between);
  EXPECT_LE(between, blocks[1].start);
  const std::vector<msptiActivityApi> calls = Calls(MSPTI_ACTIVITY_KIND_ACL_API);
  ASSERT_GE(calls.size(), 2u);
  EXPECT_EQ(calls[0].correlationId, blocks[0].correlationId);
  EXPECT_EQ(calls[1].correlationId, blocks[1].correlationId);
}

TEST_F(MsptiRecords, EveryKindOfCallIsARecordOfTheSameCall) {
  Enable({MSPTI_ACTIVITY_KIND_API, MSPTI_ACTIVITY_KIND_ACL_API, MSPTI_ACTIVITY_KIND_RUNTIME_API, MSPTI_ACTIVITY_KIND_NODE_API,
          MSPTI_ACTIVITY_KIND_KERNEL, MSPTI_ACTIVITY_KIND_HCCL, MSPTI_ACTIVITY_KIND_COMMUNICATION});
  int32_t device = -1;
  ASSERT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  Flush();
  const std::vector<msptiActivityApi> api = Calls(), acl = Calls(MSPTI_ACTIVITY_KIND_ACL_API),
                                      runtime = Calls(MSPTI_ACTIVITY_KIND_RUNTIME_API);
  ASSERT_EQ(api.size(), 1u);
  ASSERT_EQ(acl.size(), 1u);
  ASSERT_EQ(runtime.size(), 1u);
  EXPECT_STREQ(api[0].name, "aclrtGetDevice");
  EXPECT_EQ(api[0].correlationId, acl[0].correlationId);
  EXPECT_EQ(api[0].correlationId, runtime[0].correlationId);
  EXPECT_TRUE(Calls(MSPTI_ACTIVITY_KIND_NODE_API).empty());
}

TEST_F(MsptiRecords, WhatIsNotEnabledIsNotTold) {
  Enable({MSPTI_ACTIVITY_KIND_MEMSET});
  MakeCopies(stream_, 3);
  Enable({MSPTI_ACTIVITY_KIND_MEMCPY});
  MakeCopies(stream_, 4);
  ASSERT_EQ(msptiActivityDisable(MSPTI_ACTIVITY_KIND_MEMCPY), MSPTI_SUCCESS);
  MakeCopies(stream_, 5);
  Flush();
  EXPECT_EQ(Copies().size(), 4u) << "disabled kinds keep what they have";
  EXPECT_TRUE(Calls().empty());
}

TEST_F(MsptiRecords, StreamsMadeBeforeAndAfterAreWatchedAlike) {
  Enable({MSPTI_ACTIVITY_KIND_MEMCPY});
  aclrtStream later = nullptr;
  ASSERT_EQ(aclrtCreateStream(&later), ACL_SUCCESS);
  MakeCopies(stream_, 2);
  MakeCopies(later, 3);
  Flush();
  EXPECT_EQ(Copies().size(), 5u);
  ASSERT_EQ(msptiActivityDisable(MSPTI_ACTIVITY_KIND_MEMCPY), MSPTI_SUCCESS);
  MakeCopies(later, 3);
  Flush();
  EXPECT_EQ(Copies().size(), 5u);
  ASSERT_EQ(aclrtDestroyStream(later), ACL_SUCCESS);
}

TEST_F(MsptiRecords, AReplayHasTheNumberOfItsExecute) {
  DeviceBuffer device(64);
  PinnedBuffer host(64);
  graph::Begin(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device.get(), 64, host.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  const graph::Model model = graph::End(stream_);
  Enable({MSPTI_ACTIVITY_KIND_MEMCPY, MSPTI_ACTIVITY_KIND_API});
  for (int i = 0; i < 2; ++i) ASSERT_EQ(graph::Replay(model, stream_), ACL_SUCCESS);
  const uint64_t after = RealNow();
  Flush();
  std::vector<msptiActivityApi> executes;
  for (const msptiActivityApi& call : Calls()) {
    if (std::string(call.name) == "aclmdlRIExecuteAsync") executes.push_back(call);
  }
  const std::vector<msptiActivityMemcpy> copies = Copies();
  ASSERT_EQ(executes.size(), 2u);
  ASSERT_EQ(copies.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(copies[i].correlationId, executes[i].correlationId);
    EXPECT_LE(executes[i].start, copies[i].start);
    EXPECT_LE(copies[i].start, copies[i].end);
    EXPECT_LE(copies[i].end, after);
  }
}

TEST_F(MsptiRecords, NumbersOfTheProgramComeBeforeTheCall) {
  Enable({MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, MSPTI_ACTIVITY_KIND_API});
  ASSERT_EQ(msptiActivityPushExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 5), MSPTI_SUCCESS);
  ASSERT_EQ(msptiActivityPushExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 6), MSPTI_SUCCESS);
  ASSERT_EQ(msptiActivityPushExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 9), MSPTI_SUCCESS);
  int32_t device = -1;
  ASSERT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  OnFreshThread([] { EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS); });  // whose stacks are its own
  uint64_t last = 0;
  ASSERT_EQ(msptiActivityPopExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last), MSPTI_SUCCESS);
  EXPECT_EQ(last, 6u);
  ASSERT_EQ(msptiActivityPopExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, nullptr), MSPTI_SUCCESS);
  ASSERT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  ASSERT_EQ(msptiActivityPopExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last), MSPTI_SUCCESS);
  EXPECT_EQ(last, 5u);
  EXPECT_EQ(msptiActivityPopExternalCorrelationId(MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last), MSPTI_ERROR_QUEUE_EMPTY);
  Flush();
  const auto numbers = All<msptiActivityExternalCorrelation>(MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  const std::vector<msptiActivityApi> calls = Calls();
  ASSERT_GE(calls.size(), 2u);
  ASSERT_EQ(numbers.size(), 3u);
  const struct {
    int kind;
    uint64_t id;
    uint64_t call;
  } wanted[] = {{MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 6, calls.front().correlationId},
                {MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 9, calls.front().correlationId},
                {MSPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 5, calls.back().correlationId}};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(numbers[i].externalKind, wanted[i].kind) << i;
    EXPECT_EQ(numbers[i].externalId, wanted[i].id) << i;
    EXPECT_EQ(numbers[i].correlationId, wanted[i].call) << i;
  }
}

}  // namespace mspti_records_test
}  // namespace ropeway_test::profile
