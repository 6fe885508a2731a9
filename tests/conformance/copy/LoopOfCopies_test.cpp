// Copies that follow each other in one stream: whatever the engine makes of a loop of them, everything that can be seen from outside has
// happened in the order of the calls. Blocks of 4 KiB and more, and enough of them, so that an engine has reason to look for shortcuts.
#include <algorithm>
#include <atomic>
#include <random>
#include <string>

#include "ropeway/ropeway.h"
#include "tests/conformance/copy/batch_args.h"
#include "tests/conformance/copy/host_pages.h"

namespace ropeway_test::bytes {
namespace loop_of_copies_test {

constexpr size_t kBlock = 4 * kKiB;

class LoopOfCopies : public StreamTest {
 protected:
  void Copy(void* dst, const void* src, size_t size) {
    ASSERT_EQ(aclrtMemcpyAsync(dst, size, src, size, ACL_MEMCPY_DEFAULT, stream_), ACL_SUCCESS);
  }
  void Sync() { ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS); }
};

// --- Random loops against a model that runs them in order -------------------------------------------------------------------------------

class RandomLoop {
 public:
  RandomLoop(uint32_t seed, aclrtStream stream) : random_(seed), stream_(stream), device_(kArena), source_(kArena) {
    const std::vector<uint8_t> bytes = Pattern(kBlock + 1, seed);
    for (size_t i = 0; i + bytes.size() <= kArena; i += bytes.size()) std::memcpy(source_.get() + i, bytes.data(), bytes.size());
    EXPECT_EQ(aclrtMemset(device_.get(), kArena, 1, kArena), ACL_SUCCESS);
    model_.assign(kArena, 1);
    // Some programs walk, some jump; some touch what they touched before all the time.
    walks_ = random_() % 2 == 0;
    reach_ = random_() % 2 == 0 ? kArena : 64 * kBlock;
  }

  void Step() {
    switch (random_() % 64) {
      case 0: return Look();
      case 1: return Small();
      case 2: return Call();
      case 3: return Store();
      default: break;
    }
    const size_t size = Size();
    const size_t to = Offset(size);
    switch (random_() % 4) {
      case 0: {
        const auto value = static_cast<uint8_t>(random_());
        ASSERT_EQ(aclrtMemsetAsync(device_.at(to), size, value, size, stream_), ACL_SUCCESS);
        std::memset(&model_[to], value, size);
        return;
      }
      case 1: {
        const size_t from = Offset(size);
        if (from < to + size && to < from + size) return;  // what an overlap leaves behind is not specified
        ASSERT_EQ(aclrtMemcpyAsync(device_.at(to), size, device_.at(from), size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_), ACL_SUCCESS);
        std::memcpy(&model_[to], &model_[from], size);
        return;
      }
      default: {
        const size_t from = random_() % (kArena - size);
        ASSERT_EQ(aclrtMemcpyAsync(device_.at(to), size, source_.get() + from, size, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
        std::memcpy(&model_[to], source_.get() + from, size);
      }
    }
  }
  void Check() {
    Look();
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    for (size_t i = 0; i < looks_.size(); ++i) {
      const Sight& look = *looks_[i];
      ASSERT_EQ(std::memcmp(look.seen.get(), look.expected.data(), look.expected.size()), 0)
          << "look " << i << " of " << looks_.size() << ", " << look.expected.size() << " bytes at " << look.offset;
    }
  }

 private:
  static constexpr size_t kArena = 3 * kMiB;
  struct Sight {
    size_t offset;
    std::vector<uint8_t> expected;
    PinnedBuffer seen;
  };

  size_t Size() { return random_() % 16 == 0 ? kBlock + random_() % (100 * kKiB) : kBlock * (1 + random_() % 3); }
  size_t Offset(size_t size) {
    if (walks_ && random_() % 8 != 0) {
      at_ = at_ + 2 * size > kArena ? 0 : at_ + size;
      return at_;
    }
    return random_() % (std::min(reach_, kArena) - size + 1);
  }
  // What the stream sees of device memory here.
  void Look() {
    const size_t size = 1 + random_() % kArena, offset = random_() % (kArena - size + 1);
    const auto begin = model_.begin() + static_cast<std::ptrdiff_t>(offset);
    looks_.push_back(std::unique_ptr<Sight>(new Sight{offset, {begin, begin + static_cast<std::ptrdiff_t>(size)}, PinnedBuffer(size)}));
    ASSERT_EQ(aclrtMemcpyAsync(looks_.back()->seen.get(), size, device_.at(offset), size, ACL_MEMCPY_DEVICE_TO_HOST, stream_), ACL_SUCCESS);
  }
  void Small() {
    const size_t size = 1 + random_() % 100, to = random_() % (kArena - size);
    ASSERT_EQ(aclrtMemcpyAsync(device_.at(to), size, source_.get(), size, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
    std::memcpy(&model_[to], source_.get(), size);
  }
  void Store() {
    const uint64_t word = random_();
    ASSERT_EQ(aclrtValueWrite(device_.get(), word, 0, stream_), ACL_SUCCESS);
    std::memcpy(model_.data(), &word, sizeof(word));
  }
  void Call() {
    const auto count = [](void* calls) { ++*static_cast<std::atomic<int>*>(calls); };
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, count, &calls_), ACL_SUCCESS);
  }

  std::mt19937 random_;
  aclrtStream stream_;
  DeviceBuffer device_;
  PinnedBuffer source_;
  std::vector<uint8_t> model_;
  std::vector<std::unique_ptr<Sight>> looks_;
  bool walks_ = false;
  size_t reach_ = 0;
  size_t at_ = 0;
  std::atomic<int> calls_{0};
};

TEST_F(LoopOfCopies, EveryLookFindsWhatTheOrderSays) {
  for (uint32_t seed = 0; seed < Large(24, 5); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomLoop loop(seed, stream_);
    for (int step = 0; step < 600; ++step) loop.Step();
    loop.Check();
  }
}

// The same in a graph, which is replayed again: a replay begins with what the one before left, and may know what that found out.
TEST_F(LoopOfCopies, AGraphReplaysItInOrder) {
  constexpr size_t kCopies = 600;
  DeviceBuffer device((kCopies + 1) * kBlock);
  PinnedBuffer source(kBlock);
  std::fill_n(source.get(), kBlock, uint8_t{9});
  ASSERT_EQ(aclrtMemset(device.get(), device.size(), 1, device.size()), ACL_SUCCESS);
  aclmdlRI graph = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  for (size_t i = 0; i < kCopies; ++i) Copy(device.at(i * kBlock), source.get(), kBlock);
  for (size_t i = kCopies; i > 0; --i) Copy(device.at(i * kBlock), device.at((i - 1) * kBlock), kBlock);  // each needs what is behind it
  ASSERT_EQ(aclrtMemsetAsync(device.get(), kBlock, 3, kBlock, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_SUCCESS);
  for (int replay = 0; replay < 4; ++replay) {
    ASSERT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_SUCCESS);
    Sync();
    std::vector<uint8_t> expected(device.size(), 9);
    std::fill_n(expected.begin(), kBlock, uint8_t{3});
    ASSERT_TRUE(device.Read(device.size()) == expected) << "replay " << replay;
  }
  ASSERT_EQ(aclmdlRIDestroy(graph), ACL_SUCCESS);
}

// Memory that is freed between two replays is missed, whatever the first one knew of it.
TEST_F(LoopOfCopies, AGraphMissesWhatIsFreedBetweenItsReplays) {
  constexpr size_t kCopies = 600;
  DeviceBuffer device(kCopies * kBlock);
  PinnedBuffer source(kBlock);
  void* other = nullptr;
  ASSERT_EQ(aclrtMalloc(&other, kBlock, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  aclmdlRI graph = nullptr;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  for (size_t i = 0; i < kCopies; ++i) Copy(i == 500 ? other : device.at(i * kBlock), source.get(), kBlock);
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_SUCCESS);
  for (const int expected : {ACL_SUCCESS, ACL_SUCCESS, ACL_ERROR_RT_SYS_DMA}) {
    if (expected != ACL_SUCCESS) ASSERT_EQ(aclrtFree(other), ACL_SUCCESS);
    std::fill_n(source.get(), kBlock, static_cast<uint8_t>(7 + expected % 100));
    ASSERT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), expected);
    EXPECT_EQ(device.Read(device.size()).back(), source.get()[0]) << "those behind it run";
  }
  ASSERT_EQ(aclmdlRIDestroy(graph), ACL_SUCCESS);
}

// What was found out about a graph goes with it: the next one may have its place.
TEST_F(LoopOfCopies, AGraphInThePlaceOfAnotherRunsInItsOwnOrder) {
  constexpr size_t kCopies = 600;
  DeviceBuffer device((kCopies + 1) * kBlock);
  PinnedBuffer source(kCopies * kBlock);
  const auto replay = [&](bool chain) {
    aclmdlRI graph = nullptr;
    ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
    for (size_t i = 0; i < kCopies; ++i)
      Copy(device.at((i + 1) * kBlock), chain ? device.at(i * kBlock) : static_cast<const void*>(source.get() + i * kBlock), kBlock);
    ASSERT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_SUCCESS);
    for (int times = 0; times < 3; ++times) ASSERT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_SUCCESS);
    Sync();
    ASSERT_EQ(aclmdlRIDestroy(graph), ACL_SUCCESS);
  };
  for (int round = 0; round < 4; ++round) {
    std::fill_n(source.get(), source.size(), uint8_t{9});
    replay(false);
    ASSERT_EQ(aclrtMemset(device.get(), kBlock, round + 1, kBlock), ACL_SUCCESS);
    replay(true);
    ASSERT_TRUE(device.Read(device.size()) == std::vector<uint8_t>(device.size(), static_cast<uint8_t>(round + 1))) << "round " << round;
  }
}

// A chain: each copy reads what the one in front of it wrote.
TEST_F(LoopOfCopies, AChainCarriesTheFirstBytesToItsEnd) {
  constexpr size_t kLinks = 600;
  DeviceBuffer device((kLinks + 1) * kBlock);
  ASSERT_EQ(aclrtMemset(device.get(), device.size(), 1, device.size()), ACL_SUCCESS);
  const auto bytes = Pattern(kBlock, 5);
  ASSERT_EQ(aclrtMemcpy(device.get(), kBlock, bytes.data(), kBlock, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  for (size_t i = 0; i < kLinks; ++i) Copy(device.at((i + 1) * kBlock), device.at(i * kBlock), kBlock);
  Sync();
  std::vector<uint8_t> last(kBlock);
  ASSERT_EQ(aclrtMemcpy(last.data(), kBlock, device.at(kLinks * kBlock), kBlock, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_TRUE(last == bytes);
}

// --- In the middle ----------------------------------------------------------------------------------------------------------------------

// Block i gets the value i % 250 + 1; what was not written is 0.
class Ladder {
 public:
  explicit Ladder(size_t rungs) : rungs_(rungs), device(rungs * kBlock), source(rungs * kBlock) {
    for (size_t i = 0; i < rungs; ++i) std::memset(source.get() + i * kBlock, ValueOf(i), kBlock);
    EXPECT_EQ(aclrtMemset(device.get(), device.size(), 0, device.size()), ACL_SUCCESS);
  }
  void Climb(aclrtStream stream, size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      ASSERT_EQ(aclrtMemcpyAsync(device.at(i * kBlock), kBlock, source.get() + i * kBlock, kBlock, ACL_MEMCPY_HOST_TO_DEVICE, stream), 0);
  }
  // How many of the first blocks are whole; those behind them must be untouched.
  size_t Height() const {
    const std::vector<uint8_t> bytes = device.Read(device.size());
    size_t height = 0;
    const auto all = [&](size_t rung, uint8_t value) {
      const uint8_t* block = &bytes[rung * kBlock];
      return block[0] == value && std::memcmp(block, block + 1, kBlock - 1) == 0;
    };
    while (height < rungs_ && all(height, ValueOf(height))) ++height;
    for (size_t i = height; i < rungs_; ++i) EXPECT_TRUE(all(i, 0)) << "block " << i << " came before block " << height;
    return height;
  }

 private:
  static uint8_t ValueOf(size_t rung) { return static_cast<uint8_t>(rung % 250 + 1); }
  const size_t rungs_;

 public:
  DeviceBuffer device;
  PinnedBuffer source;
};

TEST_F(LoopOfCopies, AnAbortLeavesTheBeginning) {
  for (int round = 0; round < 10; ++round) {
    Ladder ladder(1500);
    ladder.Climb(stream_, 0, 1500);
    ASSERT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
    EXPECT_LE(ladder.Height(), 1500u);
  }
}

TEST_F(LoopOfCopies, ADestroyedStreamHasRunAllOfThem) {
  Ladder ladder(1500);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ladder.Climb(stream, 0, 1500);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(ladder.Height(), 1500u);
}

TEST_F(LoopOfCopies, MemoryThatIsFreedMeanwhile) {
  for (int round = 0; round < 5; ++round) {
    void *through = nullptr, *again = nullptr;
    constexpr size_t kSize = 500 * kBlock;
    Ladder ladder(500);
    DeviceBuffer end(kSize);
    ASSERT_EQ(aclrtMalloc(&through, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    for (size_t i = 0; i < 500; ++i) Copy(static_cast<char*>(through) + i * kBlock, ladder.source.get() + i * kBlock, kBlock);
    for (size_t i = 0; i < 500; ++i) Copy(ladder.device.at(i * kBlock), static_cast<char*>(through) + i * kBlock, kBlock);
    ASSERT_EQ(aclrtFree(through), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&again, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(again, kSize, 0xEE, kSize), ACL_SUCCESS);
    Sync();
    EXPECT_EQ(ladder.Height(), 500u);
    ASSERT_EQ(aclrtFree(again), ACL_SUCCESS);
  }
}

// Registered memory that is gone when the copy runs. In the usual mode the stream goes on behind it; where it stops, nothing behind it has
// run.
TEST_F(LoopOfCopies, AFailureInTheMiddle) {
  if (std::string(ropewayGetEngineName()) != "cpu") GTEST_SKIP() << "this engine has the pages pinned";
  for (const bool stops : {false, true}) {
    Ladder ladder(1000);
    HostPages host(2 * kBlock);
    aclrtStream stream = stream_;
    aclrtContext context = nullptr;
    if (stops) {
      ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
      ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
      ASSERT_EQ(aclrtSetStreamFailureMode(stream, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
    }
    void* mapped = nullptr;
    ASSERT_EQ(aclrtHostRegister(host.at(0), 2 * kBlock, ACL_HOST_REGISTER_MAPPED, &mapped), ACL_SUCCESS);
    DeviceBuffer bad(2 * kBlock);
    StreamGate gate;
    ASSERT_EQ(gate.Close(stream), ACL_SUCCESS);
    ladder.Climb(stream, 0, 500);
    ASSERT_EQ(aclrtMemcpyAsync(bad.get(), kBlock, host.at(0), kBlock, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
    ladder.Climb(stream, 500, 1000);
    host.Protect(0, PROT_NONE);
    gate.Open();
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_ERROR_RT_COPY_DATA);
    if (stops) {
      EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
      EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    }
    EXPECT_EQ(ladder.Height(), stops ? 500u : 1000u);
    host.Protect(0, PROT_READ | PROT_WRITE);
    ASSERT_EQ(aclrtHostUnregister(host.at(0)), ACL_SUCCESS);
  }
}

// Somebody else may look while the stream runs: at memory that the host sees, blocks come one behind the other.
#if !defined(ROPEWAY_TEST_VENDOR) && !defined(ROPEWAY_TSAN)  // to which looking is a race
TEST_F(LoopOfCopies, AViewOfTheHostSeesThemInOrder) {
  if (!EngineHasHostViews()) GTEST_SKIP() << "this engine's memory has no view";
  constexpr size_t kRungs = 1000;
  Ladder ladder(kRungs);
  void* view = nullptr;
  ASSERT_EQ(ropewayHostView(ladder.device.get(), ladder.device.size(), &view), ACL_SUCCESS);
  const auto last_of = [&](size_t rung) {
    return __atomic_load_n(static_cast<const uint8_t*>(view) + (rung + 1) * kBlock - 1, __ATOMIC_ACQUIRE);
  };
  ladder.Climb(stream_, 0, kRungs);
  for (aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY; status != ACL_STREAM_STATUS_COMPLETE;) {
    ASSERT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
    size_t high = kRungs;
    while (high > 0 && last_of(high - 1) == 0) --high;
    for (size_t low = 0; low + 1 < high; ++low) ASSERT_NE(last_of(low), 0) << "block " << high - 1 << " came before block " << low;
  }
}
#endif

}  // namespace loop_of_copies_test
}  // namespace ropeway_test::bytes
