// Every kind of copy and set, captured and replayed twice with other bytes each time. Waits, notifies, words and host
// functions are in CapturedSync_test.cpp.
#include <algorithm>

#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace captured_work_test {

constexpr size_t kSize = 256;

// `from` and `to` in pinned and in device memory. A test captures work between them; bytes go in and come out here.
class CapturedWork : public CaptureTest {
 protected:
  struct Memory {
    PinnedBuffer host_from{kSize}, host_to{kSize};
    DeviceBuffer from{kSize}, to{kSize};
  };

  // Captures `submit`, which must not run, and replays it twice: `expected(seed)` must be in `to` each time, where
  // Pattern(kSize, seed) was put in `from` before.
  void ExpectReplays(Memory& m, const Callable<aclError()>& submit, const Callable<std::vector<uint8_t>(uint32_t)>& expected) {
    Put(m, 90);
    Begin(stream_);
    EXPECT_EQ(submit(), ACL_SUCCESS);
    Model model = End(stream_);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(m.to.Read(kSize), Pattern(kSize, 99));
    EXPECT_EQ(BytesAt(m.host_to.get(), kSize), Pattern(kSize, 99));
    for (uint32_t seed : {91, 92}) {
      Put(m, seed);
      EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
      ExpectTo(m, expected(seed));
    }
  }
  void ExpectReplays(Memory& m, const Callable<aclError()>& submit) {
    ExpectReplays(m, submit, [](uint32_t seed) { return Pattern(kSize, seed); });
  }

  static void Put(Memory& m, uint32_t seed) {
    Fill(m.host_from, Pattern(kSize, seed));
    m.from.Write(Pattern(kSize, seed));
    Fill(m.host_to, Pattern(kSize, 99));
    m.to.Write(Pattern(kSize, 99));
  }
  // One of the two targets has the bytes, and the other is as it was.
  static void ExpectTo(Memory& m, const std::vector<uint8_t>& bytes) {
    const auto host = BytesAt(m.host_to.get(), kSize), device = m.to.Read(kSize);
    const auto old_bytes = Pattern(kSize, 99);
    EXPECT_TRUE((host == bytes && device == old_bytes) || (host == old_bytes && device == bytes));
  }
};

TEST_F(CapturedWork, CopyToTheDevice) {
  Memory m;
  ExpectReplays(m, [&] { return Copy(m.to.get(), m.host_from.get(), kSize, stream_); });
}

TEST_F(CapturedWork, CopyToTheHost) {
  Memory m;
  ExpectReplays(m, [&] { return Copy(m.host_to.get(), m.from.get(), kSize, stream_); });
}

TEST_F(CapturedWork, CopyOnTheDevice) {
  Memory m;
  ExpectReplays(m, [&] { return Copy(m.to.get(), m.from.get(), kSize, stream_); });
}

TEST_F(CapturedWork, CopyOfRegisteredMemory) {
  Memory m;
  std::vector<uint8_t> registered(4096);
  ASSERT_EQ(aclrtHostRegisterV2(registered.data(), registered.size(), ACL_HOST_REG_PINNED), ACL_SUCCESS);
  Begin(stream_);
  ASSERT_EQ(Copy(m.to.get(), registered.data(), kSize, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  for (uint32_t seed : {1, 2}) {
    const auto bytes = Pattern(kSize, seed);
    std::copy(bytes.begin(), bytes.end(), registered.begin());
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(m.to.Read(kSize), bytes);
  }
  EXPECT_EQ(aclmdlRIDestroy(model.Release()), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(registered.data()), ACL_SUCCESS);
}

TEST_F(CapturedWork, CopyUnderItsOldName) {
  Memory m;
  ExpectReplays(
      m, [&] { return aclrtMemcpyAsyncWithCondition(m.to.get(), kSize, m.host_from.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream_); });
}

// The bytes of kind 5 are taken at the call: a graph could not repeat that.
TEST_F(CapturedWork, StagedCopyIsRefusedAndHarmless) {
  Memory m;
  std::vector<uint8_t> pageable(kSize);
  Put(m, 1);
  Begin(stream_);
  void* const hosts[] = {m.host_from.get(), pageable.data()};
  for (void* host : hosts) {
    ExpectRefused("aclrtMemcpyAsync", ACL_ERROR_RT_PARAM_INVALID,
                  [&] { return aclrtMemcpyAsync(m.to.get(), kSize, host, kSize, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream_); });
  }
  EXPECT_EQ(CaptureStatusOf(stream_), kCapturing);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(m.to.Read(kSize), Pattern(kSize, 99));
}

TEST_F(CapturedWork, RowsInEveryDirection) {
  Memory m;
  struct Way {
    void* dst;
    const void* src;
    aclrtMemcpyKind kind;
  };
  const Way ways[] = {{m.to.get(), m.host_from.get(), ACL_MEMCPY_HOST_TO_DEVICE},
                      {m.host_to.get(), m.from.get(), ACL_MEMCPY_DEVICE_TO_HOST},
                      {m.to.get(), m.from.get(), ACL_MEMCPY_DEVICE_TO_DEVICE}};
  // Eight rows of 10 bytes, 32 apart in the target and 16 apart in the source.
  auto expected = [](uint32_t seed) {
    auto bytes = Pattern(kSize, 99);
    const auto source = Pattern(kSize, seed);
    for (size_t row = 0; row < 8; ++row) std::memcpy(bytes.data() + row * 32, source.data() + row * 16, 10);
    return bytes;
  };
  for (const Way& way : ways) {
    SCOPED_TRACE(way.kind);
    ExpectReplays(
        m, [&] { return aclrtMemcpy2dAsync(way.dst, 32, way.src, 16, 10, 8, way.kind, stream_); }, expected);
  }
}

TEST_F(CapturedWork, SetOfBytes) {
  Memory m;
  auto expected = [](uint32_t) {
    auto bytes = Pattern(kSize, 99);
    std::fill(bytes.begin() + 3, bytes.begin() + 103, uint8_t{0x5A});
    return bytes;
  };
  ExpectReplays(
      m, [&] { return aclrtMemsetAsync(m.to.at(3), 100, 0x15A, 100, stream_); }, expected);
}

TEST_F(CapturedWork, SetOfWords) {
  Memory m;
  auto expected = [](uint32_t) {
    auto bytes = Pattern(kSize, 99);
    for (size_t i = 0; i < 20; ++i) {
      const uint32_t word = 0x01020304;
      std::memcpy(bytes.data() + 8 + 4 * i, &word, 4);
    }
    return bytes;
  };
  ExpectReplays(
      m, [&] { return aclrtMemsetD32Async(m.to.at(8), 80, 0x01020304, 20, stream_); }, expected);
}

TEST_F(CapturedWork, Reduction) {
  Memory m;
  auto expected = [](uint32_t seed) {
    auto bytes = Pattern(kSize, 99);
    const auto source = Pattern(kSize, seed);
    for (size_t i = 0; i < kSize; i += 4) {
      uint32_t a = 0, b = 0;
      std::memcpy(&a, bytes.data() + i, 4);
      std::memcpy(&b, source.data() + i, 4);
      a += b;
      std::memcpy(bytes.data() + i, &a, 4);
    }
    return bytes;
  };
  auto submit = [&] {
    return aclrtReduceAsync(m.to.get(), m.from.get(), kSize, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, stream_, nullptr);
  };
  ExpectReplays(m, submit, expected);
}

// The arrays of a batch are read by the call: they are gone when the model is replayed.
TEST_F(CapturedWork, BatchesInBothDirections) {
  Memory m;
  auto add = [](Batch batch, char* dst, const char* src) {
    return batch.Add(dst, src, 100).Add(dst + 100, src + 100, 1).Add(dst + 101, src + 101, kSize - 101);
  };
  auto* host_to = reinterpret_cast<char*>(m.host_to.get());
  const auto* host_from = reinterpret_cast<char*>(m.host_from.get());
  size_t fail = 77;
  ExpectReplays(m, [&] { return add(Batch(Batch::kToDevice), m.to.at(0), host_from).Submit(stream_, &fail); });
  EXPECT_EQ(fail, SIZE_MAX);
  ExpectReplays(m, [&] { return add(Batch(Batch::kToHost), host_to, m.from.at(0)).Submit(stream_, &fail); });
  ExpectReplays(m, [&] { return add(Batch(Batch::kToDevice), m.to.at(0), host_from).SubmitV2(stream_); });
}

TEST_F(CapturedWork, DescriptorCopy) {
  Memory m;
  DeviceBuffer descriptor(64);
  ASSERT_EQ(aclrtSetMemcpyDesc(descriptor.get(), kInner, m.from.get(), m.to.get(), kSize, nullptr), ACL_SUCCESS);
  ExpectReplays(m, [&] { return aclrtMemcpyAsyncWithDesc(descriptor.get(), kInner, stream_); });
}

// The graph holds the descriptor's address: what it says is read at every replay.
TEST_F(CapturedWork, DescriptorCopyFollowsItsDescriptor) {
  Memory m;
  DeviceBuffer descriptor(64), other_to(kSize), prepared(64);
  ASSERT_EQ(aclrtSetMemcpyDesc(descriptor.get(), kInner, m.from.get(), m.to.get(), kSize, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetMemcpyDesc(prepared.get(), kInner, m.from.at(128), other_to.get(), 64, nullptr), ACL_SUCCESS);
  Put(m, 3);
  other_to.Write(Pattern(kSize, 4));
  Begin(stream_);
  ASSERT_EQ(aclrtMemcpyAsyncWithDesc(descriptor.get(), kInner, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(m.to.Read(kSize), Pattern(kSize, 3));
  // Rewritten by the host.
  ASSERT_EQ(aclrtSetMemcpyDesc(descriptor.get(), kInner, m.from.get(), other_to.get(), 32, nullptr), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(other_to.Read(32), BytesAt(Pattern(kSize, 3).data(), 32));
  EXPECT_EQ(BytesAt(other_to.Read(kSize).data() + 32, 32), BytesAt(Pattern(kSize, 4).data() + 32, 32));
  // Rewritten in stream order, in front of the replay.
  ASSERT_EQ(Copy(descriptor.get(), prepared.get(), 64, stream_), ACL_SUCCESS);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(other_to.Read(64), BytesAt(Pattern(kSize, 3).data() + 128, 64));
}

// So are the two cells of an offset copy.
TEST_F(CapturedWork, OffsetCopyFollowsItsCells) {
  Memory m;
  DeviceBuffer other_from(kSize);
  other_from.Write(Pattern(kSize, 5));
  Cell dst(reinterpret_cast<uint64_t>(m.to.get())), src(reinterpret_cast<uint64_t>(m.from.get()));
  auto submit = [&] {
    return aclrtMemcpyAsyncWithOffset(static_cast<void**>(dst.get()), kSize, 16, static_cast<const void**>(src.get()), 64, 32, kInner,
                                      stream_);
  };
  auto expected = [](uint32_t seed) {
    auto bytes = Pattern(kSize, 99);
    std::memcpy(bytes.data() + 16, Pattern(kSize, seed).data() + 32, 64);
    return bytes;
  };
  ExpectReplays(m, submit, expected);
  Begin(stream_);
  ASSERT_EQ(submit(), ACL_SUCCESS);
  Model model = End(stream_);
  src.Set(reinterpret_cast<uint64_t>(other_from.get()));
  Put(m, 6);
  EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
  EXPECT_EQ(m.to.Read(kSize), expected(5));
}

// Each copy moves the word one place on: it arrives at the end only if all of them run, in their order.
TEST_F(CapturedWork, ThousandCopiesRunInTheirOrder) {
  constexpr size_t kCopies = 1000;
  DeviceBuffer strip((kCopies + 1) * 8);
  Begin(stream_);
  for (size_t i = 0; i < kCopies; ++i) {
    ASSERT_EQ(Copy(strip.at((i + 1) * 8), strip.at(i * 8), 8, stream_), ACL_SUCCESS);
  }
  Model model = End(stream_);
  for (uint32_t seed : {7, 8}) {
    strip.Write(Pattern((kCopies + 1) * 8, seed));
    const auto first = BytesAt(Pattern(8, seed).data(), 8);
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    EXPECT_EQ(BytesAt(strip.Read((kCopies + 1) * 8).data() + kCopies * 8, 8), first);
  }
}

// More than twice what a queue holds (2013).
TEST_F(CapturedWork, FiveThousandCopiesAreNotTooMany) {
  constexpr size_t kCopies = 5000;
  DeviceBuffer from(kCopies * 8), to(kCopies * 8);
  Begin(stream_);
  for (size_t i = 0; i < kCopies; ++i) {
    ASSERT_EQ(Copy(to.at((kCopies - 1 - i) * 8), from.at(i * 8), 8, stream_), ACL_SUCCESS);
  }
  Model model = End(stream_);
  for (uint32_t seed : {9, 10}) {
    const auto bytes = Pattern(kCopies * 8, seed);
    from.Write(bytes);
    EXPECT_EQ(Replay(model, stream_), ACL_SUCCESS);
    auto turned = std::vector<uint8_t>(kCopies * 8);
    for (size_t i = 0; i < kCopies; ++i) std::memcpy(&turned[(kCopies - 1 - i) * 8], &bytes[i * 8], 8);
    EXPECT_TRUE(to.Read(kCopies * 8) == turned);
  }
}

}  // namespace captured_work_test
}  // namespace ropeway_test::graph
