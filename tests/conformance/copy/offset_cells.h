// Two-level pointers for the tests of aclrtMemcpyAsyncWithOffset: cells in device memory, and a source and a
// destination that they point to.
#pragma once

#include <algorithm>
#include <memory>

#include "tests/conformance/copy/descriptor.h"

namespace ropeway_test::bytes {

// Two cells in device memory, one behind the other.
class Cells {
 public:
  void PointTo(const void* dst, const void* src) {
    const uint64_t numbers[] = {Number(dst), Number(src)};
    WriteBytes(block_.get(), numbers, sizeof(numbers));
  }
  void** dst() const { return reinterpret_cast<void**>(block_.at(0)); }
  const void** src() const { return reinterpret_cast<const void**>(block_.at(8)); }

 private:
  DeviceBuffer block_{16};
};

// The cells point to `src` and `dst` when a test begins.
class OffsetTest : public StreamTest {
 protected:
  static constexpr size_t kSize = 256;
  static constexpr size_t kReserved = kSize + 32;  // what aclrtMalloc reserves for it: the end of the block
  static constexpr size_t kFarthest = 0xFFFFFFFFFFFF;

  struct Memory {
    Cells cells;
    DeviceBuffer src{kSize}, dst{kSize};
    PinnedBuffer pinned{kSize};
    std::vector<uint8_t> pageable = Pattern(kSize, 4);
  };

  void SetUp() override {
    StreamTest::SetUp();
    memory_ = std::make_unique<Memory>();
    memory_->src.Write(Pattern(kSize, 1));
    memory_->dst.Write(Pattern(kSize, 2));
    Fill(memory_->pinned, Pattern(kSize, 3));
    memory_->cells.PointTo(memory_->dst.get(), memory_->src.get());
  }
  void TearDown() override {
    memory_.reset();
    StreamTest::TearDown();
  }

  aclError Copy(size_t dest_max, size_t dst_offset, size_t count, size_t src_offset) {
    return aclrtMemcpyAsyncWithOffset(memory_->cells.dst(), dest_max, dst_offset, memory_->cells.src(), count, src_offset, kInner, stream_);
  }
  // What the destination holds once `count` bytes of the source were copied into it.
  std::vector<uint8_t> Moved(size_t dst_offset, size_t count, size_t src_offset) {
    auto bytes = Pattern(kSize, 2);
    std::copy_n(Pattern(kSize, 1).begin() + static_cast<ptrdiff_t>(src_offset), count, bytes.begin() + static_cast<ptrdiff_t>(dst_offset));
    return bytes;
  }
  void ExpectNothingMoved() {
    EXPECT_EQ(memory_->src.Read(kSize), Pattern(kSize, 1));
    EXPECT_EQ(memory_->dst.Read(kSize), Pattern(kSize, 2));
    EXPECT_EQ(BytesAt(memory_->pinned.get(), kSize), Pattern(kSize, 3));
    EXPECT_EQ(memory_->pageable, Pattern(kSize, 4));
  }
  // The task that `submit` queues fails when it runs.
  void ExpectFailsLater(const std::string& what, const Callable<aclError()>& submit) {
    SCOPED_TRACE(what);
    EXPECT_EQ(submit(), ACL_SUCCESS);
    ExpectFailsOnce("aclrtMemcpyAsyncWithOffset", stream_);
    ExpectNothingMoved();
  }

  std::unique_ptr<Memory> memory_;
};

}  // namespace ropeway_test::bytes
