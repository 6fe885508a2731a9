// Marks and ranges of mstx, as mspti tells of them: on the host, in streams, captured and replayed.
#include <unistd.h>

#include "tests/conformance/graph/graph_test_util.h"
#include "tests/conformance/profile/profile_test_util.h"

namespace ropeway_test::profile {
namespace mstx_test {

class Mstx : public MsptiTest {
 protected:
  void SetUp() override {
    MsptiTest::SetUp();
    Enable({MSPTI_ACTIVITY_KIND_MARKER});
  }
  static std::vector<msptiActivityMarker> Told() {
    Flush();
    return Marks();
  }
};

void ExpectHost(const msptiActivityMarker& mark, int flag, const char* name, const char* domain = "default") {
  EXPECT_EQ(mark.flag, flag);
  EXPECT_EQ(mark.sourceKind, MSPTI_ACTIVITY_SOURCE_KIND_HOST);
  EXPECT_EQ(mark.objectId.pt.processId, static_cast<uint32_t>(getpid()));
  EXPECT_STREQ(mark.name, name);
  EXPECT_STREQ(mark.domain, domain);
}
void ExpectDevice(const msptiActivityMarker& mark, int flag, const char* name, uint32_t stream) {
  EXPECT_EQ(mark.flag, flag);
  EXPECT_EQ(mark.sourceKind, MSPTI_ACTIVITY_SOURCE_KIND_DEVICE);
  EXPECT_EQ(mark.objectId.ds.deviceId, 0u);
  EXPECT_EQ(mark.objectId.ds.streamId, stream);
  EXPECT_STREQ(mark.name, name);
}

TEST_F(Mstx, AMarkAndARangeOfAThread) {
  const uint64_t before = RealNow();
  mstxMarkA("here", nullptr);
  const mstxRangeId range = mstxRangeStartA("range", nullptr);
  EXPECT_NE(range, 0u);
  OnFreshThread([&] { mstxRangeEnd(range); });
  mstxRangeEnd(range);  // once
  const uint64_t after = RealNow();
  const std::vector<msptiActivityMarker> marks = Told();
  ASSERT_EQ(marks.size(), 3u);
  ExpectHost(marks[0], MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, "here");
  ExpectHost(marks[1], MSPTI_ACTIVITY_FLAG_MARKER_START, "range");
  ExpectHost(marks[2], MSPTI_ACTIVITY_FLAG_MARKER_END, "");
  EXPECT_EQ(marks[1].objectId.pt.threadId, static_cast<uint32_t>(gettid()));
  EXPECT_NE(marks[2].objectId.pt.threadId, marks[1].objectId.pt.threadId);
  EXPECT_EQ(marks[1].id, range);
  EXPECT_EQ(marks[2].id, range);
  EXPECT_NE(marks[0].id, range);
  EXPECT_LE(before, marks[0].timestamp);
  EXPECT_LE(marks[0].timestamp, marks[1].timestamp);
  EXPECT_LE(marks[1].timestamp, marks[2].timestamp);
  EXPECT_LE(marks[2].timestamp, after);
}

TEST_F(Mstx, AStreamComesToItsMarksInItsOrder) {
  StreamGate gate;
  ASSERT_EQ(gate.Close(stream_), ACL_SUCCESS);
  const mstxRangeId range = mstxRangeStartA("range", stream_);
  mstxMarkA("mark", stream_);
  mstxRangeEnd(range);
  const uint64_t held = RealNow();
  ASSERT_EQ(Told().size(), 3u) << "the host's halves";
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  const uint64_t after = RealNow();
  const std::vector<msptiActivityMarker> marks = Told();
  ASSERT_EQ(marks.size(), 6u);
  ExpectHost(marks[0], MSPTI_ACTIVITY_FLAG_MARKER_START_WITH_DEVICE, "range");
  ExpectHost(marks[1], MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS_WITH_DEVICE, "mark");
  ExpectHost(marks[2], MSPTI_ACTIVITY_FLAG_MARKER_END_WITH_DEVICE, "");
  ExpectDevice(marks[3], MSPTI_ACTIVITY_FLAG_MARKER_START_WITH_DEVICE, "range", StreamNumber());
  ExpectDevice(marks[4], MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS_WITH_DEVICE, "mark", StreamNumber());
  ExpectDevice(marks[5], MSPTI_ACTIVITY_FLAG_MARKER_END_WITH_DEVICE, "", StreamNumber());
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(marks[i].id, marks[i + 3].id) << i;
    EXPECT_LE(marks[i].timestamp, held) << i;
    EXPECT_GE(marks[i + 3].timestamp, held) << i;
    EXPECT_LE(marks[i + 3].timestamp, after) << i;
  }
}

TEST_F(Mstx, AreCapturedAndReplayed) {
  graph::Begin(stream_);
  const mstxRangeId range = mstxRangeStartA("range", stream_);
  mstxRangeEnd(range);
  {
    const graph::Model model = graph::End(stream_);
    EXPECT_EQ(Told().size(), 2u) << "nothing runs while it is captured";
    for (int i = 0; i < 3; ++i) ASSERT_EQ(graph::Replay(model, stream_), ACL_SUCCESS);
    ASSERT_EQ(msptiActivityDisable(MSPTI_ACTIVITY_KIND_MARKER), MSPTI_SUCCESS);
    ASSERT_EQ(graph::Replay(model, stream_), ACL_SUCCESS);
  }
  const std::vector<msptiActivityMarker> marks = Told();
  ASSERT_EQ(marks.size(), 8u);
  for (size_t i = 2; i < 8; ++i) {
    const bool start = i % 2 == 0;
    ExpectDevice(marks[i], start ? MSPTI_ACTIVITY_FLAG_MARKER_START_WITH_DEVICE : MSPTI_ACTIVITY_FLAG_MARKER_END_WITH_DEVICE,
                 start ? "range" : "", StreamNumber());
    EXPECT_EQ(marks[i].id, range);
    EXPECT_LE(marks[i - 1].timestamp, marks[i].timestamp);
  }
}

TEST_F(Mstx, WhatIsWrongIsIgnored) {
  aclrtStream destroyed = nullptr;
  ASSERT_EQ(aclrtCreateStream(&destroyed), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(destroyed), ACL_SUCCESS);
  for (const char* text : {static_cast<const char*>(nullptr), "", "=a", "+a", "-a", "@a"}) {
    mstxMarkA(text, nullptr);
    EXPECT_EQ(mstxRangeStartA(text, nullptr), 0u);
  }
  mstxRangeEnd(0);
  mstxRangeEnd(UINT64_MAX);
  EXPECT_TRUE(Told().empty());
  mstxMarkA("without its stream", destroyed);
  EXPECT_EQ(Told().size(), 1u);
}

TEST_F(Mstx, DomainsAreTheSameByName) {
  for (const char* name : {static_cast<const char*>(nullptr), "", "=a", "@a", "default"}) EXPECT_EQ(mstxDomainCreateA(name), nullptr);
  EXPECT_EQ(mstxDomainCreateA(std::string(1024, 'x').c_str()), nullptr);
  EXPECT_NE(mstxDomainCreateA(std::string(1023, 'x').c_str()), nullptr);
  const mstxDomainHandle_t a = mstxDomainCreateA("a"), b = mstxDomainCreateA("b");
  ASSERT_NE(a, nullptr);
  EXPECT_NE(a, b);
  EXPECT_EQ(mstxDomainCreateA("a"), a);
  mstxDomainMarkA(a, "mark", nullptr);
  const mstxRangeId range = mstxDomainRangeStartA(a, "range", nullptr);
  mstxDomainRangeEnd(b, range);
  mstxRangeEnd(range);
  EXPECT_EQ(Told().size(), 2u) << "a range ends in its own domain";
  mstxDomainRangeEnd(a, range);
  mstxDomainDestroy(b);
  mstxDomainMarkA(b, "gone", nullptr);
  EXPECT_EQ(mstxDomainRangeStartA(b, "gone", nullptr), 0u);
  mstxDomainDestroy(nullptr);
  mstxDomainMarkA(reinterpret_cast<mstxDomainHandle_t>(uintptr_t{16}), "none", nullptr);
  const std::vector<msptiActivityMarker> marks = Told();
  ASSERT_EQ(marks.size(), 3u);
  ExpectHost(marks[0], MSPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS, "mark", "a");
  ExpectHost(marks[1], MSPTI_ACTIVITY_FLAG_MARKER_START, "range", "a");
  ExpectHost(marks[2], MSPTI_ACTIVITY_FLAG_MARKER_END, "", "a");
  mstxDomainDestroy(a);
}

TEST_F(Mstx, WithoutACollectorNothingHappens) {
  ASSERT_EQ(msptiActivityDisable(MSPTI_ACTIVITY_KIND_MARKER), MSPTI_SUCCESS);
  mstxMarkA("mark", stream_);
  EXPECT_EQ(mstxRangeStartA("range", stream_), 0u);
  EXPECT_NE(mstxDomainCreateA("test"), nullptr) << "programs take null for a library without domains";
  ASSERT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_MARKER), MSPTI_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(Told().empty());
}

TEST_F(Mstx, MemoryOfSubAllocatorsHasNoReader) {
  mstxMemHeapDesc_t heap;  // as programs do: uninitialised
  std::memset(&heap, 0xff, sizeof(heap));
  EXPECT_EQ(mstxMemHeapRegister(nullptr, &heap), nullptr);
  mstxMemHeapUnregister(nullptr, nullptr);
  mstxMemRegionsRegister(nullptr, nullptr);
  mstxMemRegionsUnregister(nullptr, nullptr);
}

}  // namespace mstx_test
}  // namespace ropeway_test::profile
