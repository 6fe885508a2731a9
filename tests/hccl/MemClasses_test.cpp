// hccl::DeviceMem and hccl::HostMem: who owns, who frees, and the sizes that stay.
#include "dispatcher_test_util.h"

namespace hccl_mem_classes_test {

using namespace dispatcher_test;
using hccl::DeviceMem;
using hccl::HostMem;

class HcclMem_ : public ropeway_test::DeviceTest {
 protected:
  static ropewayLiveCounts Live() {
    ropewayLiveCounts counts;
    EXPECT_EQ(ropewayGetLiveCounts(&counts), ACL_SUCCESS);
    return counts;
  }
  static constexpr u64 kHuge = u64{1} << 50;
};

TEST_F(HcclMem_, DeviceOwnersFree) {
  {
    DeviceMem mem = DeviceMem::alloc(100);
    ASSERT_TRUE(mem);
    EXPECT_EQ(mem.size(), 100u);
    EXPECT_EQ(mem.ptr(), mem.ptr_);
    EXPECT_EQ(Live().deviceBlocks, 1u);
    const DeviceMem copy(mem);
    EXPECT_TRUE(copy == mem);
    DeviceMem moved(std::move(mem));
    EXPECT_FALSE(mem);
    EXPECT_EQ(mem.size(), 0u);
    EXPECT_TRUE(copy != mem);
    EXPECT_EQ(Live().deviceBlocks, 1u);
  }
  EXPECT_EQ(Live().deviceBlocks, 0u);
}

TEST_F(HcclMem_, DeviceViewsDoNotFree) {
  DeviceMem owner = DeviceMem::alloc(100);
  {
    DeviceMem view = DeviceMem::create(owner.ptr(), 100);
    DeviceMem second(owner.ptr(), 100);
    DeviceMem assigned;
    assigned = owner;
    view.free();
    EXPECT_FALSE(view);
    EXPECT_EQ(view.size(), 100u) << "the size stays";
  }
  EXPECT_EQ(Live().deviceBlocks, 1u);
  owner.free();
  EXPECT_FALSE(owner);
  EXPECT_EQ(owner.size(), 100u);
  EXPECT_EQ(Live().deviceBlocks, 0u);
  owner.free();
}

TEST_F(HcclMem_, DeviceMoveAssignmentTakesOverAndFreesNothing) {
  DeviceMem a = DeviceMem::alloc(100);
  void* const leaked = a.ptr();
  DeviceMem b = DeviceMem::alloc(200);
  void* const kept = b.ptr();
  const DeviceMem returned = (a = std::move(b));
  EXPECT_EQ(a.ptr(), kept);
  EXPECT_EQ(returned.ptr(), kept);
  EXPECT_FALSE(b);
  EXPECT_EQ(Live().deviceBlocks, 2u);
  EXPECT_EQ(aclrtFree(leaked), ACL_SUCCESS);
}

TEST_F(HcclMem_, DeviceAllocationThatFails) {
  const DeviceMem none = DeviceMem::alloc(kHuge);
  EXPECT_FALSE(none);
  EXPECT_EQ(none.size(), kHuge) << "the size that was asked for";
  DeviceMem mem = DeviceMem::create(&mem, 5);
  EXPECT_EQ(DeviceMem::alloc(mem, kHuge), HCCL_E_OOM);
  EXPECT_EQ(DeviceMem::alloc(mem, 0), HCCL_E_RUNTIME);
  EXPECT_EQ(mem.ptr(), &mem) << "left alone";
  EXPECT_EQ(mem.size(), 5u);
  EXPECT_EQ(DeviceMem::alloc(mem, 100), HCCL_SUCCESS);
  EXPECT_EQ(mem.size(), 100u);
  TakeErrorText();
}

template <typename Mem>
void ExpectRanges(Mem& mem) {
  auto* base = static_cast<u8*>(mem.ptr());
  EXPECT_EQ(mem.range(10, 20).ptr(), base + 10);
  EXPECT_EQ(mem.range(10, 20).size(), 20u);
  EXPECT_EQ(mem.range(0, 100).ptr(), base);
  EXPECT_EQ(mem.range(100, 0).ptr(), base + 100);
  for (const auto& bad : {std::pair<u64, u64>{0, 101}, {1, 100}, {101, 0}, {UINT64_MAX, 2}}) {
    EXPECT_EQ(mem.range(bad.first, bad.second).ptr(), nullptr) << bad.first;
    EXPECT_EQ(mem.range(bad.first, bad.second).size(), 0u) << bad.first;
  }
  EXPECT_EQ(Mem().range(0, 0).ptr(), nullptr);
}

TEST_F(HcclMem_, RangesAreViewsOrEmpty) {
  DeviceMem device = DeviceMem::alloc(100);
  ExpectRanges(device);
  HostMem host = HostMem::alloc(100);
  ExpectRanges(host);
  HostMem part = host.range(10, 20);
  part.free();
  EXPECT_EQ(Live().hostBlocks, 1u);
}

TEST_F(HcclMem_, HostMemoryIsPinnedOrFromTheHeap) {
  {
    HostMem pinned = HostMem::alloc(100);
    ASSERT_TRUE(pinned);
    EXPECT_EQ(Live().hostBlocks, 1u);
    HostMem heap = HostMem::alloc(100, false);
    ASSERT_TRUE(heap);
    memset(heap.ptr(), 1, 100);
    EXPECT_EQ(Live().hostBlocks, 1u);
    const HostMem copy(pinned);
    EXPECT_TRUE(copy == pinned);
    EXPECT_TRUE(copy != heap);
    HostMem moved(std::move(heap));
    EXPECT_FALSE(heap);
  }
  EXPECT_EQ(Live().hostBlocks, 0u);
}

// rules/hccl-copy.md 6: free() does not ask who owns.
TEST_F(HcclMem_, HostFreeThroughACopyFrees) {
  HostMem pinned = HostMem::alloc(100);
  HostMem copy(pinned);
  copy.free();
  EXPECT_FALSE(copy);
  EXPECT_EQ(copy.size(), 100u);
  EXPECT_EQ(Live().hostBlocks, 0u);
  HostMem heap = HostMem::alloc(100, false);
  HostMem second(heap);
  second.free();  // and the owner's end does not free again
  int word = 0;
  HostMem view = HostMem::create(&word, sizeof(word));
  view.free();  // nothing that alloc made
  EXPECT_FALSE(view);
  TakeErrorText();
}

TEST_F(HcclMem_, HostAllocationThatFailsKeepsTheSize) {
  const HostMem none = HostMem::alloc(kHuge);
  EXPECT_FALSE(none);
  EXPECT_EQ(none.size(), kHuge);
  TakeErrorText();
}

}  // namespace hccl_mem_classes_test
