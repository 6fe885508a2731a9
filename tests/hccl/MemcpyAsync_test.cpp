// HcclMemcpyAsync on a stream: the order of its checks, its kinds, its order in the stream, and its record.
#include "dispatcher_test_util.h"

namespace hccl_memcpy_async_test {

using namespace dispatcher_test;
using ropeway_test::bytes::ExpectText;

class HcclMemcpyAsync_ : public DispatcherTest {};

struct Args {
  HcclDispatcher dispatcher;
  void* dst;
  uint64_t dest_max;
  const void* src;
  uint64_t count;
  HcclRtMemcpyKind kind;
};

struct Check {
  const char* what;
  HcclResult code;
  void (*violate)(Args&);
};

// In the order of rules/hccl-copy.md 1. A violation that ends in success hides every later one.
const Check kChecks[] = {
    {"dispatcher NULL", HCCL_E_PTR, [](Args& a) { a.dispatcher = nullptr; }},
    {"dst NULL", HCCL_E_PTR, [](Args& a) { a.dst = nullptr; }},
    {"src NULL", HCCL_E_PTR, [](Args& a) { a.src = nullptr; }},
    {"count 0", HCCL_SUCCESS, [](Args& a) { a.count = 0; }},
    {"src is dst", HCCL_SUCCESS, [](Args& a) { a.src = a.dst; }},
    {"destMax too small", HCCL_E_PARA, [](Args& a) { a.dest_max = a.count == 0 ? 0 : a.count - 1; }},
    {"kind without a direction", HCCL_E_PARA, [](Args& a) { a.kind = HCCL_RT_MEMCPY_ADDR_DEVICE_TO_DEVICE; }},
    {"the runtime refuses", HCCL_E_RUNTIME, [](Args& a) { a.kind = HCCL_RT_MEMCPY_KIND_HOST_TO_HOST; }},
};

TEST_F(HcclMemcpyAsync_, ChecksComeInOrderAndRefusalsTouchNothing) {
  PinnedBuffer from(64);
  PinnedBuffer to(64);
  memset(from.get(), 1, 64);
  memset(to.get(), 2, 64);
  TaskLog log(dispatcher_);
  const Args valid{dispatcher_, to.get(), 64, from.get(), 64, HCCL_RT_MEMCPY_KIND_HOST_TO_HOST};
  constexpr size_t kCount = sizeof(kChecks) / sizeof(kChecks[0]);
  for (size_t first = 0; first < kCount; ++first) {
    for (size_t second = first; second < kCount; ++second) {
      SCOPED_TRACE(std::string(kChecks[first].what) + " before " + kChecks[second].what);
      Args args = valid;
      kChecks[second].violate(args);
      kChecks[first].violate(args);
      EXPECT_EQ(HcclMemcpyAsync(args.dispatcher, args.dst, args.dest_max, args.src, args.count, args.kind, wrapped_, kNoRank, kOnChip),
                kChecks[first].code);
    }
  }
  Sync();
  EXPECT_EQ(to.get()[0], 2);
  EXPECT_TRUE(log.tasks.empty());
  TakeErrorText();
}

TEST_F(HcclMemcpyAsync_, EveryMessageNamesTheCallAndTheValue) {
  DeviceBuffer device(64);
  PinnedBuffer host(64);
  ExpectText(HCCL_E_PARA, {"HcclMemcpyAsync", "HCCL_E_PARA", "count 64", "destMax 63"},
             [&] { return Copy(device.get(), 63, host.get(), 64, kH2D); });
  ExpectText(HCCL_E_PARA, {"HcclMemcpyAsync", "kind 5"},
             [&] { return Copy(device.get(), 64, host.get(), 64, HCCL_RT_MEMCPY_KIND_RESERVED); });
  ExpectText(HCCL_E_PTR, {"HcclMemcpyAsync", "src is NULL"}, [&] { return Copy(device.get(), 64, nullptr, 64, kH2D); });
  ExpectText(HCCL_E_RUNTIME, {"HcclMemcpyAsync", "aclrtMemcpyAsync answered 107000", "aclrtMemcpyAsync: "},
             [&] { return Copy(device.get(), 1u << 30, host.get(), 1u << 30, kH2D); });
}

TEST_F(HcclMemcpyAsync_, UntranslatableKinds) {
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  for (int kind : {-1, 4, 5, 6, 77}) {
    EXPECT_EQ(Copy(a.get(), 64, b.get(), 64, static_cast<HcclRtMemcpyKind>(kind)), HCCL_E_PARA) << kind;
  }
  TakeErrorText();
}

TEST_F(HcclMemcpyAsync_, EveryDirectionMovesTheBytes) {
  const auto bytes = Pattern(1000, 1);
  PinnedBuffer there(1000);
  PinnedBuffer back(1000);
  DeviceBuffer a(1000);
  DeviceBuffer b(1000);
  memcpy(there.get(), bytes.data(), 1000);
  EXPECT_EQ(Copy(a.get(), 1000, there.get(), 1000, kH2D), HCCL_SUCCESS);
  EXPECT_EQ(Copy(b.get(), 1000, a.get(), 1000, kD2D), HCCL_SUCCESS);
  EXPECT_EQ(Copy(back.get(), 1000, b.get(), 1000, kD2H), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(memcmp(back.get(), bytes.data(), 1000), 0);
}

TEST_F(HcclMemcpyAsync_, SuccessMeansQueued) {
  PinnedBuffer from(64);
  PinnedBuffer back(64);
  DeviceBuffer device(64);
  memset(from.get(), 7, 64);
  memset(back.get(), 0, 64);
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  EXPECT_EQ(Copy(device.get(), 64, from.get(), 64, kH2D), HCCL_SUCCESS);
  EXPECT_EQ(Copy(back.get(), 64, device.get(), 64, kD2H), HCCL_SUCCESS);
  EXPECT_EQ(back.get()[0], 0);
  memset(from.get(), 9, 64);  // not copied yet: the source is the caller's until the stream has passed
  gate.Open();
  Sync();
  EXPECT_EQ(back.get()[63], 9);
}

TEST_F(HcclMemcpyAsync_, AnExecutionFaultComesOutAtSynchronise) {
  DeviceBuffer device(64);
  static const uint8_t pageable[64] = {};
  EXPECT_EQ(Copy(device.get(), 64, pageable, 64, kD2D), HCCL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(HcclMemcpyAsync_, AStreamOfAnotherContextIsTheRuntimesToRefuse) {
  ropeway_test::bytes::ForeignStream foreign;
  hccl::Stream stream(foreign.get());
  PinnedBuffer host(64);
  DeviceBuffer device(64);
  EXPECT_EQ(HcclMemcpyAsync(dispatcher_, device.get(), 64, host.get(), 64, kH2D, stream, kNoRank, kOnChip), HCCL_E_RUNTIME);
  TakeErrorText();
}

TEST_F(HcclMemcpyAsync_, RankAndLinkAreLabelsOnly) {
  const auto bytes = Pattern(64, 2);
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  a.Write(bytes);
  TaskLog log(dispatcher_);
  const int links[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 255, -1};
  for (int link : links) {
    b.Write(Pattern(64, 3));
    EXPECT_EQ(HcclMemcpyAsync(dispatcher_, b.get(), 64, a.get(), 64, kD2D, wrapped_, 123456, static_cast<hccl::LinkType>(link)),
              HCCL_SUCCESS);
    Sync();
    EXPECT_EQ(b.Read(64), bytes) << "link " << link;
    EXPECT_EQ(static_cast<int>(log.tasks.back().dma.linkType), link);
    EXPECT_EQ(log.tasks.back().dma.remoteUserRank, 123456u);
  }
  EXPECT_EQ(log.tasks.size(), sizeof(links) / sizeof(links[0]));
}

TEST_F(HcclMemcpyAsync_, TheRecordSaysWhatWasQueued) {
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  TaskLog log(dispatcher_);
  EXPECT_EQ(HcclMemcpyAsync(dispatcher_, a.get(), 64, b.get(), 48, kD2D, wrapped_, 5, hccl::LinkType::LINK_HCCS), HCCL_SUCCESS);
  ASSERT_EQ(log.tasks.size(), 1u);
  const hccl::TaskPara& task = log.tasks[0];
  EXPECT_EQ(task.type, hccl::TaskType::TASK_SDMA);
  EXPECT_EQ(task.profilerType, hccl::ProfilerType::TASK_ALL);
  EXPECT_EQ(task.stream, stream_);
  EXPECT_TRUE(task.isMainStream);
  EXPECT_FALSE(task.isFftsDispatcher);
  EXPECT_EQ(task.beginTime, 0u);
  EXPECT_EQ(task.dma.src, b.get());
  EXPECT_EQ(task.dma.dst, a.get());
  EXPECT_EQ(task.dma.size, 48u);
  EXPECT_EQ(task.dma.notifyID, INVALID_U64);
  EXPECT_EQ(task.dma.linkType, hccl::LinkType::LINK_HCCS);
  EXPECT_EQ(task.dma.remoteUserRank, 5u);
  EXPECT_EQ(task.dma.rdmaType, hccl::RdmaType::RDMA_TYPE_RESERVED);
  EXPECT_EQ(task.dma.ctxId, INVALID_UINT);
}

TEST_F(HcclMemcpyAsync_, BeginTimeIsThereWhenProfilingIsForced) {
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  TaskLog log(dispatcher_);
  EXPECT_EQ(ForceProfOn(dispatcher_, true), HCCL_SUCCESS);
  EXPECT_EQ(Copy(a.get(), 64, b.get(), 64, kD2D), HCCL_SUCCESS);
  EXPECT_EQ(ForceProfOn(dispatcher_, false), HCCL_SUCCESS);
  EXPECT_EQ(Copy(a.get(), 64, b.get(), 64, kD2D), HCCL_SUCCESS);
  ASSERT_EQ(log.tasks.size(), 2u);
  EXPECT_NE(log.tasks[0].beginTime, 0u);
  EXPECT_EQ(log.tasks[1].beginTime, 0u);
}

TEST_F(HcclMemcpyAsync_, ASubStreamIsALabel) {
  SubStream sub;
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  TaskLog log(dispatcher_);
  EXPECT_EQ(HcclMemcpyAsync(dispatcher_, a.get(), 64, b.get(), 64, kD2D, sub.wrapped, kNoRank, kOnChip), HCCL_SUCCESS);
  ASSERT_EQ(log.tasks.size(), 1u);
  EXPECT_FALSE(log.tasks[0].isMainStream);
  EXPECT_EQ(log.tasks[0].stream, sub.handle);
}

TEST_F(HcclMemcpyAsync_, AVirtualDispatcherReallyCopies) {
  const auto bytes = Pattern(64, 4);
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  a.Write(bytes);
  EXPECT_EQ(HcclMemcpyAsync(virtual_, b.get(), 64, a.get(), 64, kD2D, wrapped_, kNoRank, kOnChip), HCCL_SUCCESS);
  Sync();
  EXPECT_EQ(b.Read(64), bytes);
  hccl::TaskLogicInfo note;
  EXPECT_EQ(wrapped_.PopTaskLogicInfo(note), HCCL_E_NOT_FOUND);
}

TEST_F(HcclMemcpyAsync_, ACapturedCopyRunsAtEveryReplay) {
  DeviceBuffer a(64);
  DeviceBuffer b(64);
  a.Write(Pattern(64, 5));
  b.Write(Pattern(64, 6));
  aclmdlRI model = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  EXPECT_EQ(Copy(b.get(), 64, a.get(), 64, kD2D), HCCL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
  EXPECT_EQ(b.Read(64), Pattern(64, 6));
  for (uint32_t seed : {7u, 8u}) {
    a.Write(Pattern(64, seed));
    ASSERT_EQ(aclmdlRIExecuteAsync(model, stream_), ACL_SUCCESS);
    Sync();
    EXPECT_EQ(b.Read(64), Pattern(64, seed));
  }
  EXPECT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

}  // namespace hccl_memcpy_async_test
