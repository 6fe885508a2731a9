// HcclD2DMemcpyAsync: its own size rule, and what a virtual dispatcher makes of it.
#include <algorithm>

#include "dispatcher_test_util.h"

namespace hccl_d2d_memcpy_async_test {

using namespace dispatcher_test;
using hccl::DeviceMem;

class HcclD2DMemcpyAsync_ : public DispatcherTest {
 protected:
  DeviceBuffer& Make(size_t size, uint32_t seed) {
    buffers_.push_back(std::make_unique<DeviceBuffer>(size));
    buffers_.back()->Write(Pattern(size, seed));
    return *buffers_.back();
  }
  void TearDown() override {
    buffers_.clear();
    DispatcherTest::TearDown();
  }
  std::vector<std::unique_ptr<DeviceBuffer>> buffers_;
};

DeviceMem View(const DeviceBuffer& buffer) { return DeviceMem::create(buffer.get(), buffer.size()); }

TEST_F(HcclD2DMemcpyAsync_, CopiesAsManyBytesAsTheSourceHas) {
  DeviceMem dst = View(Make(100, 1));
  const DeviceMem src = View(Make(60, 2));
  TaskLog log(dispatcher_);
  EXPECT_EQ(HcclD2DMemcpyAsync(dispatcher_, dst, src, wrapped_), HCCL_SUCCESS);
  Sync();
  auto wanted = Pattern(100, 1);
  const auto head = Pattern(60, 2);
  std::copy(head.begin(), head.end(), wanted.begin());
  EXPECT_EQ(buffers_[0]->Read(100), wanted);
  ASSERT_EQ(log.tasks.size(), 1u);
  EXPECT_EQ(log.tasks[0].dma.remoteUserRank, INVALID_VALUE_RANKID);
  EXPECT_EQ(log.tasks[0].dma.linkType, kOnChip);
  EXPECT_FALSE(log.tasks[0].isFftsDispatcher);
}

TEST_F(HcclD2DMemcpyAsync_, EveryRefusalIsThePointerCode) {
  DeviceMem dst = View(Make(60, 1));
  const DeviceMem src = View(Make(61, 2));
  DeviceMem none;
  EXPECT_EQ(HcclD2DMemcpyAsync(nullptr, dst, src, wrapped_), HCCL_E_PTR);
  EXPECT_EQ(HcclD2DMemcpyAsync(dispatcher_, none, src, wrapped_), HCCL_E_PTR);
  EXPECT_EQ(HcclD2DMemcpyAsync(dispatcher_, dst, none, wrapped_), HCCL_E_PTR);
  EXPECT_EQ(HcclD2DMemcpyAsync(dispatcher_, none, none, wrapped_), HCCL_E_PTR) << "zero size, and still NULL";
  TakeErrorText();
  EXPECT_EQ(HcclD2DMemcpyAsync(dispatcher_, dst, src, wrapped_), HCCL_E_PTR) << "too small, and not HCCL_E_PARA";
  EXPECT_NE(TakeErrorText().find("dst has 60 bytes, src has 61"), std::string::npos);
  EXPECT_EQ(HcclD2DMemcpyAsync(virtual_, dst, src, wrapped_), HCCL_E_PTR);
  Sync();
  EXPECT_EQ(buffers_[0]->Read(60), Pattern(60, 1));
  TakeErrorText();
}

TEST_F(HcclD2DMemcpyAsync_, NothingToDoSucceeds) {
  DeviceMem dst = View(Make(60, 1));
  const DeviceMem nothing = DeviceMem::create(dst.ptr(), 0);
  TaskLog log(dispatcher_);
  EXPECT_EQ(HcclD2DMemcpyAsync(dispatcher_, dst, nothing, wrapped_), HCCL_SUCCESS);
  EXPECT_EQ(HcclD2DMemcpyAsync(dispatcher_, dst, dst, wrapped_), HCCL_SUCCESS);
  EXPECT_TRUE(log.tasks.empty());
}

TEST_F(HcclD2DMemcpyAsync_, WithoutAStreamItIsTheHostCopy) {
  DeviceMem dst = View(Make(60, 1));
  const DeviceMem src = View(Make(60, 2));
  EXPECT_EQ(HcclD2DMemcpyAsync(dispatcher_, dst, src, empty_), HCCL_SUCCESS);
  EXPECT_EQ(buffers_[0]->Read(60), Pattern(60, 2));
}

TEST_F(HcclD2DMemcpyAsync_, AVirtualDispatcherNotesInOrderAndCopiesNothing) {
  DeviceMem dst = View(Make(60, 1));
  const DeviceMem src = View(Make(60, 2));
  const DeviceMem part = src.range(10, 20);
  EXPECT_EQ(HcclD2DMemcpyAsync(virtual_, dst, src, wrapped_, 4, hccl::LinkType::LINK_HCCS), HCCL_SUCCESS);
  EXPECT_EQ(HcclD2DMemcpyAsync(virtual_, dst, part, wrapped_), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(buffers_[0]->Read(60), Pattern(60, 1));
  hccl::TaskLogicInfo note;
  ASSERT_EQ(wrapped_.PopTaskLogicInfo(note), HCCL_SUCCESS);
  EXPECT_EQ(note.dst, dst.ptr());
  EXPECT_EQ(note.src, src.ptr());
  EXPECT_EQ(note.destMax, 60u);
  EXPECT_EQ(note.count, 60u);
  ASSERT_EQ(wrapped_.PopTaskLogicInfo(note), HCCL_SUCCESS);
  EXPECT_EQ(note.src, part.ptr());
  EXPECT_EQ(note.count, 20u);
  EXPECT_EQ(wrapped_.PopTaskLogicInfo(note), HCCL_E_NOT_FOUND);
}

}  // namespace hccl_d2d_memcpy_async_test
