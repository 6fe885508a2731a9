// Memory that is freed behind a queued replay: its bytes stay until the replay has run (rules/copies.md 7).
#include <algorithm>

#include "tests/conformance/copy/offset_cells.h"
#include "tests/conformance/graph/graph_test_util.h"

namespace ropeway_test::graph {
namespace free_after_execute_test {

class FreeAfterExecute : public CaptureTest {
 protected:
  static constexpr size_t kSize = 256;

  // Replays `model` behind a gate, calls `free` while it waits, takes what was freed for something else, and lets the replay run.
  void ReplayAcross(const Model& model, const Callable<void()>& free) {
    StreamGate gate;
    ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    free();
    DeviceBuffer next(kSize);
    PinnedBuffer next_pinned(kSize);
    next.Write(Pattern(kSize, 99));
    std::memset(next_pinned.get(), 99, kSize);
    gate.Open();
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(next.Read(kSize), Pattern(kSize, 99)) << "the replay wrote into memory of somebody else";
  }
};

TEST_F(FreeAfterExecute, SourcesOfEveryKindOfWorkAreReadAllTheSame) {
  DeviceBuffer target(kSize);
  void* source = nullptr;
  struct Kind {
    const char* what;
    Callable<aclError()> submit;
  };
  const Kind kinds[] = {
      {"copy", [&] { return Copy(target.get(), source, kSize, stream_); }},
      {"rows", [&] { return aclrtMemcpy2dAsync(target.get(), 16, source, 16, 16, 16, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_); }},
      {"reduction",
       [&] { return aclrtReduceAsync(target.get(), source, kSize, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT8, stream_, nullptr); }},
  };
  for (const Kind& kind : kinds) {
    SCOPED_TRACE(kind.what);
    target.Write(std::vector<uint8_t>(kSize, 0));
    ASSERT_EQ(aclrtMalloc(&source, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    const auto bytes = Pattern(kSize, 5);
    ASSERT_EQ(aclrtMemcpy(source, kSize, bytes.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    Begin(stream_);
    ASSERT_EQ(kind.submit(), ACL_SUCCESS);
    Model model = End(stream_);
    ReplayAcross(model, [&] { EXPECT_EQ(aclrtFree(source), ACL_SUCCESS); });
    EXPECT_EQ(target.Read(kSize), bytes);
    // The next replay comes behind the free.
    ASSERT_EQ(aclmdlRIExecuteAsync(model.get(), stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_SYS_DMA);
  }
}

TEST_F(FreeAfterExecute, PinnedSourcesToo) {
  DeviceBuffer target(kSize);
  void* source = nullptr;
  ASSERT_EQ(aclrtMallocHost(&source, kSize), ACL_SUCCESS);
  const auto bytes = Pattern(kSize, 6);
  std::memcpy(source, bytes.data(), kSize);
  Begin(stream_);
  ASSERT_EQ(Copy(target.get(), source, kSize, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  ReplayAcross(model, [&] { EXPECT_EQ(aclrtFreeHost(source), ACL_SUCCESS); });
  EXPECT_EQ(target.Read(kSize), bytes);
}

TEST_F(FreeAfterExecute, TargetsAreWrittenAndNobodyElseSuffers) {
  void* target = nullptr;
  ASSERT_EQ(aclrtMalloc(&target, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  DeviceBuffer source(kSize);
  source.Write(Pattern(kSize, 7));
  PinnedBuffer back(kSize);
  size_t fail = 0;
  Begin(stream_);
  ASSERT_EQ(Copy(target, source.get(), kSize, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(target, 16, 3, 16, stream_), ACL_SUCCESS);
  ASSERT_EQ(Batch(Batch::kToHost).Add(back.get(), target, kSize).Submit(stream_, &fail), ACL_SUCCESS);
  Model model = End(stream_);
  ReplayAcross(model, [&] { EXPECT_EQ(aclrtFree(target), ACL_SUCCESS); });
  auto expected = Pattern(kSize, 7);
  std::fill_n(expected.begin(), 16, uint8_t{3});
  EXPECT_EQ(BytesAt(back.get(), kSize), expected);
}

TEST_F(FreeAfterExecute, CellsAndDescriptorsAreReadAllTheSame) {
  DeviceBuffer source(kSize), by_cells(kSize), by_descriptor(kSize);
  source.Write(Pattern(kSize, 8));
  void *cells = nullptr, *descriptor = nullptr;
  ASSERT_EQ(aclrtMalloc(&cells, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&descriptor, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const uint64_t numbers[] = {bytes::Number(by_cells.get()), bytes::Number(source.get())};
  bytes::WriteBytes(cells, numbers, sizeof(numbers));
  ASSERT_EQ(aclrtSetMemcpyDesc(descriptor, kInner, source.get(), by_descriptor.get(), kSize, nullptr), ACL_SUCCESS);
  Begin(stream_);
  ASSERT_EQ(
      aclrtMemcpyAsyncWithOffset(static_cast<void**>(cells), kSize, 0, static_cast<const void**>(cells) + 1, kSize, 0, kInner, stream_),
      ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsyncWithDesc(descriptor, kInner, stream_), ACL_SUCCESS);
  Model model = End(stream_);
  ReplayAcross(model, [&] {
    EXPECT_EQ(aclrtFree(cells), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(descriptor), ACL_SUCCESS);
  });
  EXPECT_EQ(by_cells.Read(kSize), Pattern(kSize, 8));
  EXPECT_EQ(by_descriptor.Read(kSize), Pattern(kSize, 8));
}

}  // namespace free_after_execute_test
}  // namespace ropeway_test::graph
