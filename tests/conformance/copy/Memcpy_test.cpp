// aclrtMemcpy: the blocking copy. Direction comes from the addresses, nothing is ordered with any stream.
#include <algorithm>
#include <random>

#include "tests/conformance/copy/places.h"

namespace ropeway_test::bytes {
namespace memcpy_test {

using Memcpy = StreamTest;

struct Args : CallArgs {
  void* dst;
  size_t dest_max;
  const void* src;
  size_t count;
  int kind = ACL_MEMCPY_HOST_TO_DEVICE;
};

aclError Call(const Args& a) { return aclrtMemcpy(a.dst, a.dest_max, a.src, a.count, static_cast<aclrtMemcpyKind>(a.kind)); }

TEST_F(Memcpy, EarlierCheckWins) {
  DeviceBuffer device(256);
  const auto before = Pattern(256, 1);
  const auto after = Pattern(256, 2);
  device.Write(before);

  Args valid;
  valid.dst = device.get();
  valid.dest_max = 256;
  valid.src = after.data();
  valid.count = 256;
  const std::vector<Check<Args>> checks = {
      {"count 0", ACL_SUCCESS, [](Args& a) { a.count = 0; }},
      {"dst NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.dst = nullptr; }},
      {"src NULL", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.src = nullptr; }},
      {"kind 6", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.kind = 6; }},
      {"destMax 0", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.dest_max = 0; }},
      {"count above destMax", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.dest_max = a.count - 1; }},
      {"dst equal to src", ACL_SUCCESS, [](Args& a) { a.src = a.dst; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"past the block", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.count = a.dest_max = 4096; }},
  };
  ExpectCheckOrder("aclrtMemcpy", valid, checks, Call, [&] { EXPECT_EQ(device.Read(256), before); });
  EXPECT_EQ(device.Read(256), after);
}

TEST_F(Memcpy, KindOutsideZeroToFiveIsRejected) {
  DeviceBuffer device(64);
  uint8_t host[64] = {};
  for (int kind : {-1, 6, 7, 8, 1000}) {
    EXPECT_EQ(aclrtMemcpy(device.get(), 64, host, 64, static_cast<aclrtMemcpyKind>(kind)), ACL_ERROR_INVALID_PARAM) << kind;
  }
}

TEST_F(Memcpy, ZeroCountLooksAtNothing) {
  EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, static_cast<aclrtMemcpyKind>(99)), ACL_SUCCESS);
  EXPECT_EQ(OnFreshThread([] { return aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_DEFAULT); }), ACL_SUCCESS);
}

// The call derives the direction from the addresses: every kind it accepts copies between every pair of places.
TEST_F(Memcpy, EveryKindCopiesBetweenEveryPairOfPlaces) {
  constexpr size_t kSize = 1000;
  Blocks sources(kSize), targets(kSize);
  uint32_t seed = 0;
  for (Place src : {kDevice, kPinned, kPageable}) {
    for (Place dst : {kDevice, kPinned, kPageable}) {
      for (int kind = 0; kind <= 5; ++kind) {
        SCOPED_TRACE(std::string(kPlaceNames[src]) + " to " + kPlaceNames[dst] + " as kind " + std::to_string(kind));
        const auto bytes = Pattern(kSize, ++seed);
        sources.Write(src, bytes);
        ASSERT_EQ(aclrtMemcpy(targets.at(dst), kSize, sources.at(src), kSize, static_cast<aclrtMemcpyKind>(kind)), ACL_SUCCESS);
        EXPECT_EQ(targets.Read(dst), bytes);
      }
    }
  }
}

TEST_F(Memcpy, OddAddressesAndLengthsCopyExactly) {
  constexpr size_t kSize = 4096;
  DeviceBuffer device(kSize);
  const auto source = Pattern(kSize, 3);
  for (size_t offset : {1, 3, 31, 63}) {
    for (size_t count : {1, 2, 7, 63, 65, 255, 1021, 4096 - 63}) {
      SCOPED_TRACE("offset " + std::to_string(offset) + " count " + std::to_string(count));
      auto expected = Pattern(kSize, 4);
      device.Write(expected);
      std::memcpy(expected.data() + offset, source.data() + (63 - offset), count);
      ASSERT_EQ(aclrtMemcpy(device.at(offset), count, source.data() + (63 - offset), count, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      EXPECT_EQ(device.Read(kSize), expected);
    }
  }
}

TEST_F(Memcpy, LargeCopyCrossesEveryPiece) {
  constexpr size_t kSize = Large(33 * kMiB + 13, 5 * kMiB + 13);
  DeviceBuffer device(kSize);
  const auto bytes = Pattern(kSize, 5);
  device.Write(bytes);
  EXPECT_TRUE(device.Read(kSize) == bytes);
}

TEST_F(Memcpy, SelfCopyNeedsNoContextAndNoBlock) {
  int word = 42;
  EXPECT_EQ(OnFreshThread([&] { return aclrtMemcpy(&word, 4, &word, 4, ACL_MEMCPY_HOST_TO_HOST); }), ACL_SUCCESS);
  EXPECT_EQ(word, 42);
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(freed, 64, freed, 64, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
}

TEST_F(Memcpy, OverlapSucceedsAndLeavesTheRestAlone) {
  constexpr size_t kSize = 4096;
  constexpr size_t kCount = 1000;
  DeviceBuffer device(kSize);
  const auto before = Pattern(kSize, 6);
  for (auto [dst, src] : {std::pair<size_t, size_t>{600, 500}, {500, 600}}) {
    device.Write(before);
    ASSERT_EQ(aclrtMemcpy(device.at(dst), kCount, device.at(src), kCount, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    const auto after = device.Read(kSize);
    EXPECT_TRUE(std::equal(after.begin(), after.begin() + dst, before.begin()));
    EXPECT_TRUE(std::equal(after.begin() + dst + kCount, after.end(), before.begin() + dst + kCount));
  }
}

TEST_F(Memcpy, IsNotOrderedWithAnyStream) {
  DeviceBuffer device(256);
  PinnedBuffer late(256);
  Fill(late, Pattern(256, 7));
  const auto early = Pattern(256, 8);
  for (aclrtStream stream : {stream_, aclrtStream{nullptr}}) {
    HeldStream held(stream);
    ASSERT_EQ(aclrtMemcpyAsync(device.get(), 256, late.get(), 256, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
    device.Write(early);  // would never return if it waited for the stream
    EXPECT_EQ(device.Read(256), early);
    EXPECT_EQ(held.Release(), ACL_SUCCESS);
    EXPECT_EQ(device.Read(256), Pattern(256, 7));
  }
}

TEST_F(Memcpy, DoesNotDeliverTheErrorOfAStream) {
  DeviceBuffer device(64);
  QueueFailingCopy(stream_, device);
  device.Write(Pattern(64, 9));
  EXPECT_EQ(device.Read(64), Pattern(64, 9));
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
}

TEST_F(Memcpy, WorksWithMemoryOfAnotherContextOfTheDevice) {
  ForeignStream other;
  DeviceBuffer device(128);
  aclrtContext home = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&home), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(other.context()), ACL_SUCCESS);
  device.Write(Pattern(128, 10));
  ASSERT_EQ(aclrtSetCurrentContext(home), ACL_SUCCESS);
  EXPECT_EQ(device.Read(128), Pattern(128, 10));
}

TEST_F(Memcpy, TextNamesCallArgumentAndValue) {
  DeviceBuffer device(4096);
  std::vector<uint8_t> host(4097);
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtMemcpy", "dst"}, [&] { return aclrtMemcpy(nullptr, 1, host.data(), 1, ACL_MEMCPY_DEFAULT); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtMemcpy", "src"}, [&] { return aclrtMemcpy(device.get(), 1, nullptr, 1, ACL_MEMCPY_DEFAULT); });
  ExpectText(ACL_ERROR_INVALID_PARAM, {"aclrtMemcpy", "kind", "77"},
             [&] { return aclrtMemcpy(device.get(), 1, host.data(), 1, static_cast<aclrtMemcpyKind>(77)); });
  ExpectText(ACL_ERROR_RT_PARAM_INVALID, {"aclrtMemcpy", "count", "4097", "destMax", "4096"},
             [&] { return aclrtMemcpy(device.get(), 4096, host.data(), 4097, ACL_MEMCPY_DEFAULT); });
}

TEST_F(Memcpy, SuccessKeepsAnOlderLastError) {
  DeviceBuffer device(64);
  uint8_t host[64] = {};
  ASSERT_EQ(aclrtMemcpy(device.get(), 1, host, 2, ACL_MEMCPY_DEFAULT), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtMemcpy(device.get(), 64, host, 64, ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpy(nullptr, 64, host, 64, ACL_MEMCPY_DEFAULT), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(Memcpy, ManyThreadsOnOneBlock) {
  constexpr int kThreads = 16;
  constexpr size_t kShare = 4096;
  DeviceBuffer device(kThreads * kShare);
  OnDeviceThreads(kThreads, [&](int thread) {
    std::mt19937 random(1000 + static_cast<uint32_t>(thread));
    const size_t base = static_cast<size_t>(thread) * kShare;
    std::vector<uint8_t> shadow(kShare);
    ASSERT_EQ(aclrtMemcpy(device.at(base), kShare, shadow.data(), kShare, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    for (int i = 0; i < 200; ++i) {
      const size_t offset = random() % kShare;
      const size_t count = 1 + random() % (kShare - offset);
      const auto bytes = Pattern(count, random());
      ASSERT_EQ(aclrtMemcpy(device.at(base + offset), count, bytes.data(), count, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
      std::copy(bytes.begin(), bytes.end(), shadow.begin() + static_cast<ptrdiff_t>(offset));
      std::vector<uint8_t> seen(kShare);
      ASSERT_EQ(aclrtMemcpy(seen.data(), kShare, device.at(base), kShare, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
      ASSERT_EQ(seen, shadow) << "thread " << thread << " operation " << i;
    }
  });
}

}  // namespace memcpy_test
}  // namespace ropeway_test::bytes
