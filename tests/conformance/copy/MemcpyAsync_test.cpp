// aclrtMemcpyAsync and aclrtMemcpyAsyncWithCondition, which share one contract: checks and their order, the direction
// table, and what is refused. How the copy behaves in time is tested in MemcpyAsyncOrder_test.cpp.
#include "tests/conformance/copy/places.h"

namespace ropeway_test::bytes {
namespace memcpy_async_test {

using CopyFunction = decltype(&aclrtMemcpyAsync);

struct Entry {
  const char* name;
  CopyFunction call;
};

class MemcpyAsync : public StreamTest, public ::testing::WithParamInterface<Entry> {
 protected:
  aclError Copy(void* dst, size_t dest_max, const void* src, size_t count, int kind, aclrtStream stream) {
    return GetParam().call(dst, dest_max, src, count, static_cast<aclrtMemcpyKind>(kind), stream);
  }
};

INSTANTIATE_TEST_SUITE_P(Copy, MemcpyAsync,
                         ::testing::Values(Entry{"aclrtMemcpyAsync", &aclrtMemcpyAsync},
                                           Entry{"aclrtMemcpyAsyncWithCondition", &aclrtMemcpyAsyncWithCondition}),
                         [](const auto& tested) { return std::string(tested.param.name); });

struct Args : CallArgs {
  void* dst;
  size_t dest_max;
  const void* src;
  size_t count;
  int kind = ACL_MEMCPY_HOST_TO_DEVICE;
  aclrtStream stream;
};

TEST_P(MemcpyAsync, EarlierCheckWins) {
  DeviceBuffer device(256);
  PinnedBuffer pinned(256);
  std::vector<uint8_t> pageable = Pattern(8192, 1);
  BadStreams bad;
  ForeignStream foreign;
  const auto before = Pattern(256, 2);
  const auto after = Pattern(256, 3);
  device.Write(before);
  Fill(pinned, after);

  Args valid;
  valid.dst = device.get();
  valid.dest_max = valid.count = 256;
  valid.src = pinned.get();
  valid.stream = stream_;
  const std::vector<Check<Args>> checks = {
      {"count 0", ACL_SUCCESS, [](Args& a) { a.count = 0; }},
      {"dst NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.dst = nullptr; }},
      {"src NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.src = nullptr; }},
      {"kind 6", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.kind = 6; }},
      {"destroyed stream", ACL_ERROR_RT_INVALID_HANDLE, [&](Args& a) { a.stream = bad.destroyed(); }},
      {"count above destMax", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.dest_max = a.count - 1; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"kind host to host", ACL_ERROR_RT_FEATURE_NOT_SUPPORT, [](Args& a) { a.kind = ACL_MEMCPY_HOST_TO_HOST; }},
      {"direction against the pointers", ACL_ERROR_RT_PARAM_INVALID,
       [&](Args& a) {
         a.dst = device.get();
         a.src = pageable.data();
         a.kind = ACL_MEMCPY_DEVICE_TO_HOST;
       }},
      {"dst equal to src", ACL_SUCCESS, [](Args& a) { a.src = a.dst; }},
      {"foreign stream", ACL_ERROR_RT_STREAM_CONTEXT, [&](Args& a) { a.stream = foreign.get(); }},
      {"past the block", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.count = a.dest_max = 4096; }},
  };
  auto call = [&](const Args& a) { return Copy(a.dst, a.dest_max, a.src, a.count, a.kind, a.stream); };
  ExpectCheckOrder(GetParam().name, valid, checks, call, [&] {
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(foreign.get()), ACL_SUCCESS);
    EXPECT_EQ(device.Read(256), before);
  });
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(device.Read(256), after);
}

TEST_P(MemcpyAsync, DestMaxZeroIsRejected) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  EXPECT_EQ(Copy(device.get(), 0, pinned.get(), 1, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_P(MemcpyAsync, KindOutsideZeroToFiveIsRejected) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  for (int kind : {-1, 6, 7, 8, 1000}) {
    EXPECT_EQ(Copy(device.get(), 64, pinned.get(), 64, kind, stream_), ACL_ERROR_INVALID_PARAM) << kind;
  }
}

TEST_P(MemcpyAsync, HandleThatIsNoStreamIsRejected) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  std::vector<uint8_t> pageable(64);
  BadStreams bad;
  for (const auto& stream : bad.list()) {
    SCOPED_TRACE(stream.what);
    EXPECT_EQ(Copy(device.get(), 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(Copy(device.get(), 64, pageable.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle), ACL_ERROR_RT_INVALID_HANDLE);
    EXPECT_EQ(Copy(device.get(), 64, pinned.get(), 0, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle), ACL_SUCCESS);
  }
}

TEST_P(MemcpyAsync, ZeroCountLooksAtNothing) {
  auto* bogus = reinterpret_cast<aclrtStream>(uintptr_t{0x10});
  EXPECT_EQ(Copy(nullptr, 0, nullptr, 0, 99, bogus), ACL_SUCCESS);
  EXPECT_EQ(OnFreshThread([&] { return Copy(nullptr, 0, nullptr, 0, 99, bogus); }), ACL_SUCCESS);
}

TEST_P(MemcpyAsync, NullStreamIsTheDefaultStreamAndNeedsAContext) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  Fill(pinned, Pattern(64, 4));
  ASSERT_EQ(Copy(device.get(), 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(device.Read(64), Pattern(64, 4));
  EXPECT_EQ(OnFreshThread([&] { return Copy(device.get(), 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, nullptr); }),
            ACL_ERROR_RT_CONTEXT_NULL);
}

// The table of rules/places.md 2, every row and every kind: what the call answers, and what the next synchronise answers.
TEST_P(MemcpyAsync, KindIsReconciledWithThePointers) {
  constexpr aclError kRefused = ACL_ERROR_RT_PARAM_INVALID;
  constexpr aclError kNoHostCopy = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
  constexpr aclError kFailsLater = ACL_ERROR_RT_SYS_DMA;  // accepted by the call, reported by the synchronise
  const std::vector<PlacePair> rows = {
      {kPinned, kDevice, {kNoHostCopy, kMoved, kMoved, kMoved, kMoved}},
      {kDevice, kPinned, {kNoHostCopy, kMoved, kMoved, kMoved, kMoved}},
      {kPinned, kPinned, {kNoHostCopy, kNoHostCopy, kNoHostCopy, kNoHostCopy, kNoHostCopy}},
      {kDevice, kDevice, {kNoHostCopy, kMoved, kMoved, kMoved, kMoved}},
      {kPageable, kDevice, {kNoHostCopy, kMoved, kRefused, kFailsLater, kMoved}},
      {kDevice, kPageable, {kNoHostCopy, kRefused, kMoved, kFailsLater, kMoved}},
      {kPinned, kPageable, {kNoHostCopy, kMoved, kRefused, kRefused, kNoHostCopy}},
      {kPageable, kPinned, {kNoHostCopy, kRefused, kMoved, kRefused, kNoHostCopy}},
      {kPageable, kPageable, {kNoHostCopy, kMoved, kMoved, kFailsLater, kNoHostCopy}},
  };
  constexpr size_t kSize = 1000;
  ExpectByKind(rows, kSize, [&](void* dst, void* src, int kind, aclError answer) {
    EXPECT_EQ(Copy(dst, kSize, src, kSize, kind, stream_), answer == kFailsLater ? ACL_SUCCESS : answer);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), answer == kFailsLater ? answer : ACL_SUCCESS);
  });
}

TEST_P(MemcpyAsync, RegisteredMemoryCountsAsPinned) {
  DeviceBuffer device(4096);
  std::vector<uint8_t> host = Pattern(4096, 7);
  ASSERT_EQ(aclrtHostRegisterV2(host.data(), host.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  // Device-to-host from pageable memory would be refused; from pinned memory it is corrected.
  EXPECT_EQ(Copy(device.get(), 4096, host.data(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(device.Read(4096), host);
  ASSERT_EQ(aclrtHostUnregister(host.data()), ACL_SUCCESS);
  EXPECT_EQ(Copy(device.get(), 4096, host.data(), 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_P(MemcpyAsync, SelfCopyIsDecidedAfterTheDirection) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  std::vector<uint8_t> pageable(64);
  EXPECT_EQ(Copy(device.get(), 64, device.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(Copy(device.get(), 64, device.get(), 64, ACL_MEMCPY_HOST_TO_HOST, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(Copy(pinned.get(), 64, pinned.get(), 64, ACL_MEMCPY_DEFAULT, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(Copy(pageable.data(), 64, pageable.data(), 64, ACL_MEMCPY_DEFAULT, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(Copy(pageable.data(), 64, pageable.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(Copy(pageable.data(), 64, pageable.data(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "a self copy was queued";
}

TEST_P(MemcpyAsync, FreedMemoryIsRejected) {
  DeviceBuffer device(64);
  PinnedBuffer pinned(64);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  for (int kind = 1; kind <= 4; ++kind) {
    EXPECT_EQ(Copy(freed, 64, pinned.get(), 64, kind, stream_), ACL_ERROR_RT_PARAM_INVALID) << kind;
    EXPECT_EQ(Copy(pinned.get(), 64, freed, 64, kind, stream_), ACL_ERROR_RT_PARAM_INVALID) << kind;
    EXPECT_EQ(Copy(device.get(), 64, freed, 64, kind, stream_), ACL_ERROR_RT_PARAM_INVALID) << kind;
  }
}

// rules/errors.md 3: the failing task moves nothing, later tasks run, and the error is handed out once.
TEST_P(MemcpyAsync, DeviceCopyWithPageableSideFailsOnceAtSynchronise) {
  DeviceBuffer device(256);
  DeviceBuffer other(256);
  PinnedBuffer pinned(256);
  Fill(pinned, Pattern(256, 8));
  device.Write(Pattern(256, 9));
  std::vector<uint8_t> pageable = Pattern(256, 10);
  auto* nowhere = reinterpret_cast<void*>(~uintptr_t{4095});
  for (void* source : {static_cast<void*>(pageable.data()), nowhere}) {
    EXPECT_EQ(Copy(device.get(), 256, source, 256, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
    EXPECT_EQ(Copy(source, 256, device.get(), 256, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
    EXPECT_EQ(Copy(other.get(), 256, pinned.get(), 256, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(device.Read(256), Pattern(256, 9));
    EXPECT_EQ(other.Read(256), Pattern(256, 8));
    EXPECT_EQ(pageable, Pattern(256, 10));
  }
}

TEST_P(MemcpyAsync, TextNamesCallArgumentAndValue) {
  DeviceBuffer device(4096);
  PinnedBuffer pinned(4096);
  const std::string name = GetParam().name;
  ExpectText(ACL_ERROR_INVALID_PARAM, {name, "dst"}, [&] { return Copy(nullptr, 1, pinned.get(), 1, ACL_MEMCPY_DEFAULT, stream_); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {name, "src"}, [&] { return Copy(device.get(), 1, nullptr, 1, ACL_MEMCPY_DEFAULT, stream_); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {name, "kind", "77"}, [&] { return Copy(device.get(), 1, pinned.get(), 1, 77, stream_); });
  ExpectText(ACL_ERROR_RT_INVALID_HANDLE, {name, "stream"},
             [&] { return Copy(device.get(), 1, pinned.get(), 1, ACL_MEMCPY_DEFAULT, device.get()); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {name, "count", "4096", "destMax", "1024"},
             [&] { return Copy(device.get(), 1024, pinned.get(), 4096, ACL_MEMCPY_DEFAULT, stream_); });
}

}  // namespace memcpy_async_test
}  // namespace ropeway_test::bytes
