// Contexts: create, destroy, the two slots of a thread, the default stream of the current context, the primary state.
#include <climits>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace context_test {

void* const kUntouched = reinterpret_cast<void*>(0x77);

aclrtContext Current() {
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  return context;
}

void ExpectNoContext() {
  int32_t device = 77;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
}

int32_t PastLast() {
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  return static_cast<int32_t>(count);
}

using CreateContext = BareTest;

TEST_F(CreateContext, NullThenBadId) {
  aclrtContext context = kUntouched;
  EXPECT_EQ(aclrtCreateContext(nullptr, -1), ACL_ERROR_INVALID_PARAM);
  for (int32_t id : {-1, PastLast(), INT_MAX, INT_MIN}) {
    EXPECT_EQ(aclrtCreateContext(&context, id), ACL_ERROR_RT_INVALID_DEVICEID) << id;
  }
  EXPECT_EQ(context, kUntouched);
  ExpectNoContext();
}

TEST_F(CreateContext, NeedsNoSetDeviceAndBecomesCurrent) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
  EXPECT_EQ(Current(), context);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 1);
  int32_t active = -1;
  EXPECT_EQ(aclrtGetPrimaryCtxState(1, nullptr, &active), ACL_SUCCESS);
  EXPECT_EQ(active, 0) << "an explicit context does not count as SetDevice";
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(CreateContext, HasItsOwnDefaultStream) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream primary = DefaultStream();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_NE(DefaultStream(), primary);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(CreateContext, ManyThreadsMakeWorkInAndDestroyTheirOwn) {
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 16; ++i) {
    threads.emplace_back([i] {
      for (uint32_t round = 0; round < 10; ++round) {
        aclrtContext context = nullptr;
        ASSERT_EQ(aclrtCreateContext(&context, static_cast<int32_t>(i % 2)), ACL_SUCCESS);
        {
          DeviceBuffer block(1000);
          TestStream stream;
          auto value = static_cast<uint8_t>(i * 10 + round);
          ASSERT_EQ(aclrtMemsetAsync(block.get(), 1000, value, 1000, stream.get()), ACL_SUCCESS);
          ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
          EXPECT_EQ(block.Read(1000), std::vector<uint8_t>(1000, value));
        }
        ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

using DestroyContext = DeviceTest;

TEST_F(DestroyContext, NullIsRejected) { EXPECT_EQ(aclrtDestroyContext(nullptr), ACL_ERROR_INVALID_PARAM); }

TEST_F(DestroyContext, DefaultUnknownOrDestroyedOneIsRejected) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext primary = Current();
  int something = 0;
  ExpectAll({
      {"default context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return aclrtDestroyContext(primary); }},
      {"destroyed", ACL_ERROR_RT_CONTEXT_NULL, [&] { return aclrtDestroyContext(context); }},
      {"not a context", ACL_ERROR_RT_CONTEXT_NULL, [&] { return aclrtDestroyContext(&something); }},
      {"a stream", ACL_ERROR_RT_CONTEXT_NULL, [&] { return aclrtDestroyContext(DefaultStream()); }},
  });
  EXPECT_EQ(Current(), primary);
}

TEST_F(DestroyContext, CurrentOneLeavesTheThreadWithNothing) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ExpectNoContext();
}

TEST_F(DestroyContext, OtherThreadsLoseItAtTheirNextCall) {
  Worker worker;
  ForeignContext* foreign = new ForeignContext;
  worker.Do([&] {
    EXPECT_EQ(aclrtSetCurrentContext(foreign->context()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  });
  delete foreign;
  worker.Do([] { ExpectNoContext(); });
}

TEST_F(DestroyContext, ItsStreamsGoStaleAndItsEventsStayDestroyable) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  aclrtStream stream = nullptr, by_default = DefaultStream();
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  {
    TestEvent event(EventKind::kEx);
    ASSERT_EQ(aclrtRecordEvent(event.get(), stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeEvent(event.get()), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtSynchronizeStream(by_default), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(DestroyContext, FinishesWhatCanRunAndDropsWhatCannot) {
  PinnedBuffer host(4096);
  std::memset(host.get(), 0, 4096);
  DeviceBuffer block(4096);
  auto bytes = Pattern(4096, 3);
  block.Write(bytes);
  NeverRecorded forever;
  {
    ForeignContext foreign;
    foreign.Run([&] {
      aclrtStream blocked = nullptr;
      ASSERT_EQ(aclrtCreateStream(&blocked), ACL_SUCCESS);
      ASSERT_EQ(forever.Block(blocked), ACL_SUCCESS);
      ASSERT_EQ(aclrtMemcpyAsync(host.get(), 4096, block.get(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, foreign.stream()), ACL_SUCCESS);
    });
  }
  EXPECT_EQ(std::memcmp(host.get(), bytes.data(), 4096), 0);
}

using SetCurrentContext = DeviceTest;

TEST_F(SetCurrentContext, NullUnknownOrDestroyedIsRejectedAndTheCurrentOneStays) {
  aclrtContext primary = Current();
  aclrtContext destroyed = nullptr;
  OnFreshThread([&] {
    ASSERT_EQ(aclrtCreateContext(&destroyed, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyContext(destroyed), ACL_SUCCESS);
  });
  int something = 0;
  EXPECT_EQ(aclrtSetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetCurrentContext(destroyed), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetCurrentContext(&something), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetCurrentContext(DefaultStream()), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Current(), primary);
}

TEST_F(SetCurrentContext, DefaultContextOfAResetDeviceIsRejected) {
  aclrtContext primary = nullptr;
  OnFreshThread([&] {
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    primary = Current();
    ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(SetCurrentContext, AcceptsADefaultContext) {
  aclrtContext primary = Current();
  OnFreshThread([&] {
    EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
    EXPECT_EQ(Current(), primary);
    TestStream stream;
    EXPECT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  });
}

TEST_F(SetCurrentContext, SwitchesTheDeviceToo) {
  ForeignContext other(1);
  aclrtContext primary = Current();
  ASSERT_EQ(aclrtSetCurrentContext(other.context()), ACL_SUCCESS);
  int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 1);
  ASSERT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(device, 0);
}

TEST_F(SetCurrentContext, EmptiesTheDefaultSlot) {
  aclrtContext context = nullptr;
  OnFreshThread([&] { ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS); });
  ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ExpectNoContext();
}

TEST_F(SetCurrentContext, OneContextServesManyThreads) {
  ForeignContext shared;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] {
      ASSERT_EQ(aclrtSetCurrentContext(shared.context()), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemsetAsync(nullptr, 0, 0, 0, shared.stream()), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(shared.stream()), ACL_SUCCESS);
      EXPECT_EQ(Current(), shared.context());
    });
  }
  for (auto& thread : threads) thread.join();
}

using GetCurrentContext = DeviceTest;

TEST_F(GetCurrentContext, NullIsRejectedBeforeTheContext) {
  EXPECT_EQ(aclrtGetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(WithoutContext([] { return aclrtGetCurrentContext(nullptr); }), ACL_ERROR_INVALID_PARAM);
}

TEST_F(GetCurrentContext, NoneIsAnErrorAndNullForCallersThatDoNotLook) {
  aclrtContext context = kUntouched;
  EXPECT_EQ(WithoutContext([&] { return aclrtGetCurrentContext(&context); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(context, nullptr);
}

using CurrentDefaultStream = DeviceTest;

TEST_F(CurrentDefaultStream, NullThenNoContext) {
  aclrtStream stream = kUntouched;
  EXPECT_EQ(WithoutContext([] { return aclrtCtxGetCurrentDefaultStream(nullptr); }), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(WithoutContext([&] { return aclrtCtxGetCurrentDefaultStream(&stream); }), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(stream, kUntouched);
}

TEST_F(CurrentDefaultStream, IsWhatANullStreamMeans) {
  int32_t by_handle = -1, by_null = -2;
  EXPECT_EQ(aclrtStreamGetId(DefaultStream(), &by_handle), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetId(nullptr, &by_null), ACL_SUCCESS);
  EXPECT_EQ(by_handle, by_null);
  Hold hold(nullptr);
  EXPECT_EQ(StatusOf(DefaultStream()), ACL_STREAM_STATUS_NOT_READY);
}

TEST_F(CurrentDefaultStream, CannotBeDestroyed) {
  aclrtStream stream = DefaultStream();
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

using PrimaryCtxState = BareTest;

TEST_F(PrimaryCtxState, ChecksInOrder) {
  int32_t active = 77;
  uint32_t flags = 77;
  EXPECT_EQ(aclrtGetPrimaryCtxState(-1, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetPrimaryCtxState(-1, &flags, &active), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetPrimaryCtxState(-1, nullptr, &active), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetPrimaryCtxState(PastLast(), nullptr, &active), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(active, 77);
  EXPECT_EQ(flags, 77u);
}

TEST_F(PrimaryCtxState, FollowsTheCount) {
  int32_t active = -1;
  auto state = [&] {
    EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, &active), ACL_SUCCESS);
    return active;
  };
  EXPECT_EQ(state(), 0);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(state(), 1);
  EXPECT_EQ(WithoutContext([&] { return aclrtGetPrimaryCtxState(0, nullptr, &active); }), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(state(), 0);
}

}  // namespace context_test
}  // namespace ropeway_test
