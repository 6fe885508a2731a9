// aclrtMemcpyAsyncWithOffset, what is only known when the task runs: cells that cannot be read, addresses in them that
// are no device memory, ranges that leave their block. The task moves nothing and fails with 507013.
#include "tests/conformance/copy/offset_cells.h"

namespace ropeway_test::bytes {
namespace offset_at_run_time_test {

using OffsetAtRunTime = OffsetTest;

// The largest legal numbers pass the call; no block is so large.
TEST_F(OffsetAtRunTime, LargestNumbersAreJudgedWhenTheTaskRuns) {
  ExpectFailsLater("4 GiB", [&] { return Copy(SIZE_MAX, 0, 4 * kGiB, 0); });
  ExpectFailsLater("srcDataOffset", [&] { return Copy(SIZE_MAX, 0, 1, kFarthest); });
  ExpectFailsLater("dstDataOffset", [&] { return Copy(SIZE_MAX, kFarthest, 1, 0); });
  EXPECT_EQ(Copy(SIZE_MAX, 0, 4 * kGiB + 1, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Copy(SIZE_MAX, 0, 1, kFarthest + 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(Copy(SIZE_MAX, kFarthest + 1, 1, 0), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(OffsetAtRunTime, RangeThatLeavesItsBlockFailsWhenTheTaskRuns) {
  DeviceBuffer large(8192);
  Memory& m = *memory_;
  m.cells.PointTo(large.get(), m.src.get());
  ExpectFailsLater("source", [&] { return Copy(8192, 0, kReserved + 1, 0); });
  ExpectFailsLater("source behind its offset", [&] { return Copy(8192, 0, 2, kReserved - 1); });
  m.cells.PointTo(m.dst.get(), large.get());
  ExpectFailsLater("destination", [&] { return Copy(8192, 0, kReserved + 1, 0); });
  ExpectFailsLater("destination behind its offset", [&] { return Copy(8192, kReserved - 1, 2, 0); });
  EXPECT_EQ(Copy(8192, kReserved - 1, 1, 0), ACL_SUCCESS) << "destMax is only a claim";
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(OffsetAtRunTime, CellContentsThatAreNoDeviceMemoryFailWhenTheTaskRuns) {
  Memory& m = *memory_;
  struct Row {
    const char* what;
    const void* address;
  };
  const Row rows[] = {
      {"null", nullptr},
      {"freed", FreedBlock()},
      {"pinned", m.pinned.get()},
      {"pageable", m.pageable.data()},
      {"behind the block", m.src.at(kReserved)},
      {"the last address", reinterpret_cast<void*>(~uintptr_t{0})},
  };
  for (const Row& row : rows) {
    m.cells.PointTo(m.dst.get(), row.address);
    ExpectFailsLater(std::string("source: ") + row.what, [&] { return Copy(kSize, 8, 16, 8); });
    m.cells.PointTo(row.address, m.src.get());
    ExpectFailsLater(std::string("destination: ") + row.what, [&] { return Copy(kSize, 8, 16, 8); });
  }
  m.cells.PointTo(m.dst.get(), m.src.get());
  EXPECT_EQ(Copy(kSize, 0, kSize, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(m.dst.Read(kSize), Pattern(kSize, 1)) << "the stream is healthy";
}

// The list of checks says nothing of where the cells are, so the task finds out.
TEST_F(OffsetAtRunTime, CellsThatAreNoDeviceMemoryFailWhenTheTaskRuns) {
  Memory& m = *memory_;
  // Good contents in the wrong place: whoever reads them without looking where they are gets caught.
  uint64_t good = Number(m.dst.get());
  PinnedBuffer host(8);
  std::memcpy(host.get(), &good, sizeof(good));
  void* freed = nullptr;
  ASSERT_EQ(aclrtMalloc(&freed, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  WriteBytes(freed, &good, sizeof(good));
  DeviceBuffer edge(32);
  ASSERT_EQ(aclrtFree(freed), ACL_SUCCESS);
  struct Row {
    const char* what;
    void* cell;
  };
  const Row rows[] = {
      {"freed", freed},
      {"pinned", host.get()},
      {"pageable", &good},
      {"leaves its block", edge.at(64 - 4)},
      {"behind its block", edge.at(64)},
      {"a small number", reinterpret_cast<void*>(uintptr_t{0x10})},
      {"the last address", reinterpret_cast<void*>(~uintptr_t{7})},
  };
  for (const Row& row : rows) {
    auto** cell = static_cast<void**>(row.cell);
    ExpectFailsLater(std::string("dst: ") + row.what,
                     [&] { return aclrtMemcpyAsyncWithOffset(cell, kSize, 0, m.cells.src(), 16, 0, kInner, stream_); });
    auto** const_cell = static_cast<const void**>(row.cell);
    ExpectFailsLater(std::string("src: ") + row.what,
                     [&] { return aclrtMemcpyAsyncWithOffset(m.cells.dst(), kSize, 0, const_cell, 16, 0, kInner, stream_); });
  }
}

TEST_F(OffsetAtRunTime, StaysOnOneDevice) {
  if (!SecondDevice::Exists()) GTEST_SKIP() << "needs two devices";
  Memory& m = *memory_;
  SecondDevice other;
  m.cells.PointTo(m.dst.get(), other.block(0));
  ExpectFailsLater("source on the other device", [&] { return Copy(kSize, 0, 16, 0); });
  m.cells.PointTo(other.block(0), m.src.get());
  ExpectFailsLater("destination on the other device", [&] { return Copy(kSize, 0, 16, 0); });
}

TEST_F(OffsetAtRunTime, OtherDeviceWantsAccess) {
  if (!SecondDevice::Exists()) GTEST_SKIP() << "needs two devices";
  Memory& m = *memory_;
  SecondDevice other;
  const auto there = Pattern(16, 8);
  other.Run([&] { WriteBytes(other.block(0), there.data(), there.size()); });
  m.cells.PointTo(other.block(1), other.block(0));
  ExpectFailsLater("no access", [&] { return Copy(kSize, 0, 16, 0); });
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(Copy(kSize, 0, 16, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
  other.Run([&] { EXPECT_EQ(ReadBytes(other.block(1), 16), there); });
}

TEST_F(OffsetAtRunTime, CellsFreedUnderTheQueuedCopyAreReadAllTheSame) {
  Memory& m = *memory_;
  void* cells = nullptr;
  ASSERT_EQ(aclrtMalloc(&cells, 16, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const uint64_t numbers[] = {Number(m.dst.get()), Number(m.src.get())};
  WriteBytes(cells, numbers, sizeof(numbers));
  HeldStream held(stream_);
  auto** dst_cell = static_cast<void**>(cells);
  auto** src_cell = static_cast<const void**>(cells) + 1;
  ASSERT_EQ(aclrtMemcpyAsyncWithOffset(dst_cell, kSize, 0, src_cell, kSize, 0, kInner, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(cells), ACL_SUCCESS);
  EXPECT_EQ(held.Release(), ACL_SUCCESS);
  EXPECT_EQ(m.dst.Read(kSize), Pattern(kSize, 1));
}

}  // namespace offset_at_run_time_test
}  // namespace ropeway_test::bytes
