// Buffers of mspti: asked for when a record needs room, given back exactly once, and never under a lock.
#include <condition_variable>

#include "tests/conformance/profile/profile_test_util.h"

namespace ropeway_test::profile {
namespace mspti_buffers_test {

class MsptiBuffers : public MsptiTest {
 protected:
  void SetUp() override {
    MsptiTest::SetUp();
    Enable({MSPTI_ACTIVITY_KIND_MEMCPY});
  }
};

TEST_F(MsptiBuffers, NothingHappenedNothingIsAskedFor) {
  Flush();
  EXPECT_EQ(Buffers::Get().requested(), 0u);
}

TEST_F(MsptiBuffers, SmallOnesAreGivenBackAsTheyFill) {
  Buffers::Get().SetSize(200);
  MakeCopies(stream_, 300);
  Flush();
  EXPECT_EQ(Copies().size(), 300u);
  EXPECT_GE(Buffers::Get().completed(), 100u) << "three records each at most";
}

TEST_F(MsptiBuffers, HoldAsManyRecordsAsTheProgramSays) {
  Buffers::Get().Reset(kBuffer, 4);  // Complete looks at each
  MakeCopies(stream_, 30);
  Flush();
  EXPECT_EQ(Copies().size(), 30u);
  EXPECT_EQ(Buffers::Get().completed(), 8u);
}

TEST_F(MsptiBuffers, WithoutOneRecordsAreDropped) {
  Buffers::Get().SetSize(0);
  MakeCopies(stream_, 3);
  Flush();
  EXPECT_EQ(Buffers::Get().completed(), 0u);
  Buffers::Get().SetSize(kBuffer);
  MakeCopies(stream_, 2);
  Flush();
  EXPECT_EQ(Copies().size(), 2u);
}

TEST_F(MsptiBuffers, OneThatIsTooSmallComesBackEmpty) {
  Buffers::Get().SetSize(16);
  MakeCopies(stream_, 3);
  Flush();
  EXPECT_EQ(Copies().size(), 0u);
  EXPECT_EQ(Buffers::Get().requested(), Buffers::Get().completed());
  EXPECT_GT(Buffers::Get().requested(), 0u);
}

TEST_F(MsptiBuffers, WhoTakesOneBackMayUseAllOfIt) {
  Buffers::Get().SetSize(400);
  Buffers::Get().OnComplete([] {
    EXPECT_EQ(msptiActivityFlushAll(0), MSPTI_SUCCESS);
    EXPECT_EQ(msptiActivityIsEnabled(MSPTI_ACTIVITY_KIND_MEMCPY), 1);
    EXPECT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_MEMSET), MSPTI_SUCCESS);
    size_t free = 0, total = 0;
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  });
  MakeCopies(stream_, 20);
  Flush();
  EXPECT_EQ(Copies().size(), 20u);
}

// A position is no state of the thread: two buffers are read in turns.
TEST_F(MsptiBuffers, TheNextRecordIsFoundFromTheOneBefore) {
  alignas(8) uint8_t a[2 * sizeof(msptiActivityApi)] = {}, b[2 * sizeof(msptiActivityExternalCorrelation)] = {};
  const auto put = [](uint8_t* at, uint32_t kind) { std::memcpy(at, &kind, sizeof(kind)); };
  for (size_t i = 0; i < 2; ++i) {
    put(a + i * sizeof(msptiActivityApi), MSPTI_ACTIVITY_KIND_API);
    put(b + i * sizeof(msptiActivityExternalCorrelation), MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
  }
  msptiActivity *in_a = nullptr, *in_b = nullptr;
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(msptiActivityGetNextRecord(a, sizeof(a), &in_a), MSPTI_SUCCESS);
    ASSERT_EQ(msptiActivityGetNextRecord(b, sizeof(b), &in_b), MSPTI_SUCCESS);
    EXPECT_EQ(reinterpret_cast<uint8_t*>(in_a), a + i * sizeof(msptiActivityApi));
    EXPECT_EQ(reinterpret_cast<uint8_t*>(in_b), b + i * sizeof(msptiActivityExternalCorrelation));
  }
  EXPECT_EQ(msptiActivityGetNextRecord(a, sizeof(a), &in_a), MSPTI_ERROR_MAX_LIMIT_REACHED);
  in_a = nullptr;
  EXPECT_EQ(msptiActivityGetNextRecord(nullptr, sizeof(a), &in_a), MSPTI_ERROR_INVALID_PARAMETER);
  EXPECT_EQ(msptiActivityGetNextRecord(a, 0, &in_a), MSPTI_ERROR_MAX_LIMIT_REACHED);
  put(a, 77);
  EXPECT_EQ(msptiActivityGetNextRecord(a, sizeof(a), &in_a), MSPTI_ERROR_INNER);
}

std::mutex g_mutex;
std::condition_variable g_came;
bool g_came_back = false;

TEST_F(MsptiBuffers, ComeBackByThemselvesAfterATime) {
  g_came_back = false;
  Buffers::Get().OnComplete([] {
    std::lock_guard<std::mutex> lock(g_mutex);
    g_came_back = true;
    g_came.notify_all();
  });
  ASSERT_EQ(msptiActivityFlushPeriod(1), MSPTI_SUCCESS);
  MakeCopies(stream_, 1);
  {
    std::unique_lock<std::mutex> lock(g_mutex);
    g_came.wait(lock, [] { return g_came_back; });
  }
  ASSERT_EQ(msptiActivityFlushPeriod(0), MSPTI_SUCCESS);
  Flush();
  EXPECT_EQ(Copies().size(), 1u);
}

TEST_F(MsptiBuffers, ManyThreadsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kCopies = static_cast<int>(Large(2000, 200));
  Buffers::Get().SetSize(4096);
  std::atomic<bool> done{false};
  std::thread flusher([&] {
    while (!done) EXPECT_EQ(msptiActivityFlushAll(0), MSPTI_SUCCESS);
  });
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      aclrtStream own = nullptr;
      ASSERT_EQ(aclrtCreateStream(&own), ACL_SUCCESS);
      MakeCopies(own, kCopies);
      ASSERT_EQ(aclrtDestroyStream(own), ACL_SUCCESS);
      ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  done = true;
  flusher.join();
  Flush();
  EXPECT_EQ(Copies().size(), static_cast<size_t>(kThreads) * kCopies);
}

// Streams tell, or do not, while somebody switches it on and off.
TEST_F(MsptiBuffers, SwitchingWhileWorkRunsHurtsNobody) {
  std::atomic<bool> done{false};
  std::thread switcher([&] {
    while (!done) {
      EXPECT_EQ(msptiActivityDisable(MSPTI_ACTIVITY_KIND_MEMCPY), MSPTI_SUCCESS);
      EXPECT_EQ(msptiActivityEnable(MSPTI_ACTIVITY_KIND_MEMCPY), MSPTI_SUCCESS);
    }
  });
  const uint64_t after = MakeCopies(stream_, static_cast<int>(Large(5000, 500)));
  done = true;
  switcher.join();
  Flush();
  for (const msptiActivityMemcpy& copy : Copies()) {
    ASSERT_NE(copy.start, 0u);
    ASSERT_LE(copy.start, copy.end);
    ASSERT_LE(copy.end, after);
  }
}

}  // namespace mspti_buffers_test
}  // namespace ropeway_test::profile
