// Notifies inside one process: a one-bit flag that a record sets and a wait clears. Counters are of another product.
#include <climits>
#include <memory>
#include <set>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace notify_test {

using Notify = StreamTest;

TEST_F(Notify, CreateChecksInOrder) {
  aclrtNotify notify = nullptr;
  ExpectAll({
      {"null, bad flag, no context", ACL_ERROR_INVALID_PARAM, [] { return WithoutContext([] { return aclrtCreateNotify(nullptr, 2); }); }},
      {"bad flag, no context", ACL_ERROR_RT_PARAM_INVALID, [&] { return WithoutContext([&] { return aclrtCreateNotify(&notify, 2); }); }},
      {"bad high bits", ACL_ERROR_RT_PARAM_INVALID, [&] { return aclrtCreateNotify(&notify, 1ull << 40); }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL,
       [&] { return WithoutContext([&] { return aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT); }); }},
  });
}

TEST_F(Notify, BothFlagsAreAccepted) {
  for (uint64_t flag : {ACL_NOTIFY_DEFAULT, ACL_NOTIFY_DEVICE_USE_ONLY}) {
    aclrtNotify notify = nullptr;
    EXPECT_EQ(aclrtCreateNotify(&notify, flag), ACL_SUCCESS) << flag;
    EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS) << flag;
  }
}

TEST_F(Notify, UseChecksInOrder) {
  aclrtNotify stale = StaleNotify();
  aclrtStream stale_stream = StaleStream();
  ForeignContext foreign;
  TestNotify notify;
  uint32_t id = 77;
  auto no_context = [](auto call) { return [call] { return WithoutContext(call); }; };
  ExpectAll({
      {"destroy: null", ACL_ERROR_INVALID_PARAM, [] { return aclrtDestroyNotify(nullptr); }},
      {"destroy: stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtDestroyNotify(stale); }},
      {"record: null, stale stream", ACL_ERROR_INVALID_PARAM, [&] { return aclrtRecordNotify(nullptr, stale_stream); }},
      {"record: stale, no context", ACL_ERROR_RT_INVALID_HANDLE, no_context([&] { return aclrtRecordNotify(stale, stream_); })},
      {"record: stale stream", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtRecordNotify(notify.get(), stale_stream); }},
      {"record: no context", ACL_ERROR_RT_CONTEXT_NULL, no_context([&] { return aclrtRecordNotify(notify.get(), stream_); })},
      {"record: other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return aclrtRecordNotify(notify.get(), foreign.stream()); }},
      {"wait: null, stale stream", ACL_ERROR_INVALID_PARAM, [&] { return aclrtWaitAndResetNotify(nullptr, stale_stream, 0); }},
      {"wait: stale, no context", ACL_ERROR_RT_INVALID_HANDLE, no_context([&] { return aclrtWaitAndResetNotify(stale, stream_, 0); })},
      {"wait: stale stream", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtWaitAndResetNotify(notify.get(), stale_stream, 0); }},
      {"wait: no context", ACL_ERROR_RT_CONTEXT_NULL, no_context([&] { return aclrtWaitAndResetNotify(notify.get(), stream_, 0); })},
      {"wait: other context", ACL_ERROR_RT_STREAM_CONTEXT, [&] { return aclrtWaitAndResetNotify(notify.get(), foreign.stream(), 0); }},
      {"id: null notify", ACL_ERROR_INVALID_PARAM, [&] { return aclrtGetNotifyId(nullptr, &id); }},
      {"id: null output, stale", ACL_ERROR_INVALID_PARAM, [&] { return aclrtGetNotifyId(stale, nullptr); }},
      {"id: stale", ACL_ERROR_RT_INVALID_HANDLE, [&] { return aclrtGetNotifyId(stale, &id); }},
  });
  EXPECT_EQ(id, 77u);
}

TEST_F(Notify, IdsDiffer) {
  std::set<uint32_t> ids;
  TestNotify notifies[8];
  for (auto& notify : notifies) {
    uint32_t id = UINT_MAX;
    EXPECT_EQ(aclrtGetNotifyId(notify.get(), &id), ACL_SUCCESS);
    EXPECT_TRUE(ids.insert(id).second) << id;
  }
}

TEST_F(Notify, WaitBeforeRecordIsTheNormalUse) {
  TestNotify notify;
  TestStream recorder;
  int count = 0;
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream_, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(aclrtRecordNotify(notify.get(), recorder.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(Notify, OneRecordReleasesOneWait) {
  TestNotify notify;
  TestStream recorder;
  ASSERT_EQ(aclrtRecordNotify(notify.get(), recorder.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(recorder.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(aclrtRecordNotify(notify.get(), recorder.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(Notify, TwoRecordsBeforeAWaitCountAsOne) {
  TestNotify notify;
  TestStream recorder;
  ASSERT_EQ(aclrtRecordNotify(notify.get(), recorder.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(notify.get(), recorder.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(recorder.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
}

TEST_F(Notify, OneRecordReleasesOneOfSeveralStreams) {
  TestNotify notify;
  TestStream one, two, recorder;
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), one.get(), 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), two.get(), 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordNotify(notify.get(), recorder.get()), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(recorder.get()), ACL_SUCCESS);
  auto done = [](const TestStream& stream) { return StatusOf(stream.get()) == ACL_STREAM_STATUS_COMPLETE; };
  while (!done(one) && !done(two)) std::this_thread::yield();
  EXPECT_NE(done(one), done(two)) << "which one is unspecified, but not both";
  ASSERT_EQ(aclrtRecordNotify(notify.get(), recorder.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(Notify, OrdersDataBetweenStreams) {
  TestNotify notify;
  TestStream producer;
  DeviceBuffer block(4096);
  PinnedBuffer in(4096), out(4096);
  for (uint32_t round = 0; round < 20; ++round) {
    auto bytes = Pattern(4096, round);
    std::memcpy(in.get(), bytes.data(), 4096);
    ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream_, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(out.get(), 4096, block.get(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(block.get(), 4096, in.get(), 4096, ACL_MEMCPY_HOST_TO_DEVICE, producer.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordNotify(notify.get(), producer.get()), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    ASSERT_EQ(std::memcmp(out.get(), bytes.data(), 4096), 0) << "round " << round;
  }
}

TEST_F(Notify, ExceededTimeLimitIsATaskError) {
  TestNotify notify;
  int count = 0;
  ASSERT_EQ(aclrtWaitAndResetNotify(notify.get(), stream_, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, &CountUp, &count), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_TASK_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST_F(Notify, DestroyDoesNotWait) {
  auto notify = std::make_unique<TestNotify>();
  ASSERT_EQ(aclrtWaitAndResetNotify(notify->get(), stream_, 0), ACL_SUCCESS);
  notify.reset();
  EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(Notify, BatchResetChecksAndClears) {
  TestNotify one, two;
  aclrtNotify both[] = {one.get(), two.get()};
  EXPECT_EQ(aclrtNotifyBatchReset(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtNotifyBatchReset(both, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(WithoutContext([&] { return aclrtNotifyBatchReset(both, 2); }), ACL_ERROR_RT_CONTEXT_NULL);
  for (auto notify : both) ASSERT_EQ(aclrtRecordNotify(notify, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtNotifyBatchReset(both, 2), ACL_SUCCESS) << "queues on, and waits for, the default stream";
  for (auto notify : both) {
    ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
  }
}

TEST_F(Notify, BatchResetRefusesStaleOnes) {
  TestNotify good;
  aclrtNotify mixed[] = {good.get(), StaleNotify()};
  EXPECT_EQ(aclrtNotifyBatchReset(mixed, 2), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(Notify, RunOut) {
  std::vector<aclrtNotify> notifies;
  aclError result = ACL_SUCCESS;
  while (notifies.size() <= 8192) {
    aclrtNotify notify = nullptr;
    result = aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT);
    if (result != ACL_SUCCESS) break;
    notifies.push_back(notify);
  }
  EXPECT_EQ(result, ACL_ERROR_RT_NO_NOTIFY_RESOURCE);
  EXPECT_EQ(notifies.size(), 8192u);
  for (auto notify : notifies) ASSERT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  TestNotify again;
}

TEST_F(Notify, ManyThreadsPassABaton) {
  constexpr size_t kThreads = 8;
  constexpr int kRounds = 10;
  std::vector<std::unique_ptr<TestNotify>> notifies;
  for (size_t i = 0; i < kThreads; ++i) notifies.push_back(std::make_unique<TestNotify>());
  int count = 0;  // only ever touched by the one stream that has the baton
  std::vector<std::thread> threads;
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      TestStream stream;
      for (int round = 0; round < kRounds; ++round) {
        ASSERT_EQ(aclrtWaitAndResetNotify(notifies[i]->get(), stream.get(), 0), ACL_SUCCESS);
        ASSERT_EQ(aclrtLaunchHostFunc(stream.get(), &CountUp, &count), ACL_SUCCESS);
        ASSERT_EQ(aclrtRecordNotify(notifies[(i + 1) % kThreads]->get(), stream.get()), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
    });
  }
  ASSERT_EQ(aclrtRecordNotify(notifies[0]->get(), stream_), ACL_SUCCESS);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(count, static_cast<int>(kThreads) * kRounds);
}

using CntNotify = StreamTest;

TEST_F(CntNotify, IsOfAnotherProduct) {
  aclrtCntNotify notify = nullptr;
  EXPECT_EQ(aclrtCntNotifyCreate(&notify, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
}

}  // namespace notify_test
}  // namespace ropeway_test
