// Many threads with streams of their own on one small pool: blocks go from stream to stream by every rule there is, and each
// user finds in its block what it wrote there, and nothing of anybody else.
#include <algorithm>
#include <atomic>

#include "acl/acl_rt_memory_soma.h"
#include "tests/stress/stress_util.h"
#include "tests/support/sanitized.h"

namespace ropeway_test {
namespace pool_storm_test {

constexpr size_t kBlock = 16384;  // of the 2 MiB that a block has
constexpr size_t kGrain = size_t{2} << 20;

// One thread's program: every step takes a block, writes a value, reads it back to a place of its own, and frees it.
class Program {
 public:
  Program(int number, aclrtMemPool pool, int steps) : random_(static_cast<uint32_t>(number)), pool_(pool) {
    for (aclrtStream& stream : streams_) EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtMallocHost(&results_, kBlock * static_cast<size_t>(steps)), ACL_SUCCESS);
  }
  ~Program() {
    for (aclrtStream stream : streams_) EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(results_), ACL_SUCCESS);
  }

  void Step() {
    aclrtStream stream = streams_[random_.Below(std::size(streams_))];
    void* block = nullptr;
    const size_t size = (1 + random_.Below(2)) * kGrain;
    // A pool that has nothing left says so; then this step is left out.
    const aclError code = aclrtMemPoolMallocAsync(&block, size, pool_, stream);
    if (code != ACL_SUCCESS) {
      ASSERT_EQ(code, ACL_ERROR_RT_INTERNAL_ERROR);
      aclGetRecentErrMsg();
      if (random_.OneIn(4)) ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
      return;
    }
    const uint8_t value = random_.Byte();
    char* const place = static_cast<char*>(block);  // where everybody else writes, too
    uint8_t* const result = static_cast<uint8_t*>(results_) + kBlock * written_.size();
    ASSERT_EQ(aclrtMemsetAsync(place, kBlock, value, kBlock, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(result, kBlock, place, kBlock, ACL_MEMCPY_DEVICE_TO_HOST, stream), ACL_SUCCESS);
    written_.push_back(value);
    GiveBack(block, stream);
  }

  void Verify() {
    for (aclrtStream stream : streams_) ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    for (size_t i = 0; i < written_.size(); ++i) {
      const uint8_t* result = static_cast<const uint8_t*>(results_) + kBlock * i;
      const auto wrong = std::find_if(result, result + kBlock, [&](uint8_t byte) { return byte != written_[i]; });
      ASSERT_EQ(wrong, result + kBlock) << "step " << i << " byte " << wrong - result;
    }
  }
  size_t users() const { return written_.size(); }

 private:
  void GiveBack(void* block, aclrtStream stream) {
    if (random_.OneIn(8)) {
      ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
      return;
    }
    aclrtStream freeing = stream;
    if (random_.OneIn(3)) {
      freeing = streams_[random_.Below(std::size(streams_))];
      aclrtEvent event = nullptr;
      ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
      ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtStreamWaitEvent(freeing, event), ACL_SUCCESS);
      ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    }
    ASSERT_EQ(aclrtMemPoolFreeAsync(block, freeing), ACL_SUCCESS);
    if (random_.OneIn(16)) ASSERT_EQ(aclrtSynchronizeStream(freeing), ACL_SUCCESS);
    if (random_.OneIn(32)) ASSERT_EQ(aclrtMemPoolTrimTo(pool_, random_.Below(8) * kGrain), ACL_SUCCESS);
  }

  Random random_;
  aclrtMemPool pool_;
  aclrtStream streams_[3] = {};
  void* results_ = nullptr;
  std::vector<uint8_t> written_;
};

using PoolStorm = DeviceTest;

TEST_F(PoolStorm, EverybodyFindsItsOwnBytes) {
  const int steps = Rounds(kSanitized ? 60 : 400);
  for (uint32_t switches = 0; switches < 8; ++switches) {
    SCOPED_TRACE("switches " + std::to_string(switches));
    aclrtMemPoolProps props = {};
    props.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
    props.maxSize = 12 * kGrain;
    aclrtMemPool pool = nullptr;
    ASSERT_EQ(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
    for (uint32_t bit = 0; bit < 3; ++bit) {
      uint32_t on = switches >> bit & 1;
      ASSERT_EQ(aclrtMemPoolSetAttr(pool, static_cast<aclrtMemPoolAttr>(bit + 1), &on), ACL_SUCCESS);
    }
    uint64_t threshold = switches % 2 == 0 ? 0 : 6 * kGrain;
    ASSERT_EQ(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold), ACL_SUCCESS);
    std::atomic<size_t> users{0};
    OnThreads(4, [&](int number) {
      Program program(number + static_cast<int>(switches) * 4, pool, steps);
      for (int i = 0; i < steps; ++i) program.Step();
      program.Verify();
      users += program.users();
    });
    EXPECT_GT(users, 12u) << "a block that was freed was never used again";
    uint64_t used = 77, high = 0;
    ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &used), ACL_SUCCESS);
    EXPECT_EQ(used, 0u);
    ASSERT_EQ(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH, &high), ACL_SUCCESS);
    EXPECT_LE(high, props.maxSize);
    ASSERT_EQ(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
  }
}

}  // namespace pool_storm_test
}  // namespace ropeway_test
