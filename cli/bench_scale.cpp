// `ropeway bench --scale`: what a call costs when there is much of everything. Each curve is one operation at a small and at a large end,
// and what is judged is how much more it costs there.
#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/measure.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kSmall = 4096;
constexpr size_t kPairs = 1000;
constexpr uint32_t kAtLeast = 0;  // of aclrtValueWait

// Of this thread: what is measured are calls that do their work inside, and not what else the machine does.
double CpuSeconds() {
  timespec used = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

template <typename Body>
double CpuSecondsOf(size_t times, Body body) {
  const double start = CpuSeconds();
  for (size_t i = 0; i < times; ++i) body(i);
  return (CpuSeconds() - start) / static_cast<double>(times);
}

void* Malloc(size_t size) {
  void* block = nullptr;
  RW_ACL(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
  return block;
}

double MallocAndFree() {
  return CpuSecondsOf(kPairs, [](size_t) { RW_ACL(aclrtFree(Malloc(kSmall))); });
}

std::vector<size_t> Shuffled(size_t count) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  return order;
}

// Streams whose work waits until this goes.
class BlockedStreams {
 public:
  explicit BlockedStreams(size_t count) : streams_(count) {
    for (const Stream& stream : streams_) RW_ACL(aclrtStreamWaitEvent(stream.get(), event_.get()));
  }
  ~BlockedStreams() {
    aclrtRecordEvent(event_.get(), opener_.get());
    aclrtSynchronizeDevice();
  }

 private:
  Event event_{ACL_EVENT_SYNC};
  Stream opener_;
  std::vector<Stream> streams_;
};

double BesidePendingFrees(size_t frees, size_t blocked) {
  const BlockedStreams streams(blocked);
  std::vector<void*> blocks(frees);
  for (void*& block : blocks) block = Malloc(kSmall);
  for (void* block : blocks) RW_ACL(aclrtFree(block));
  return MallocAndFree();
}

double BesideIdleStreams(size_t count) {
  const DeviceBlock block(64 * count);
  const std::vector<Stream> streams(count);
  for (size_t i = 0; i < count; ++i) RW_ACL(aclrtMemsetAsync(block.at(64 * i), 64, 1, 64, streams[i].get()));
  RW_ACL(aclrtSynchronizeDevice());
  return MallocAndFree();
}

double FreeInRandomOrder(size_t count) {
  std::vector<void*> blocks(count);
  for (void*& block : blocks) block = Malloc(512);
  const std::vector<size_t> order = Shuffled(count);
  return CpuSecondsOf(count, [&](size_t i) { RW_ACL(aclrtFree(blocks[order[i]])); });
}

// One more range among `count` others.
double Register(size_t count) {
  constexpr size_t kStep = 2 * kSmall;
  const size_t size = (count + kPairs) * kStep;
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory to register");
  const std::vector<size_t> order = Shuffled(count + kPairs);
  const auto range = [&](size_t i) { return static_cast<char*>(memory) + order[i] * kStep; };
  const auto add = [&](size_t i) { RW_ACL(aclrtHostRegisterV2(range(i), kSmall, ACL_HOST_REG_PINNED)); };
  for (size_t i = 0; i < count; ++i) add(i);
  const double cost = CpuSecondsOf(kPairs, [&](size_t i) { add(count + i); });
  for (size_t i = 0; i < count + kPairs; ++i) RW_ACL(aclrtHostUnregister(range(i)));
  munmap(memory, size);
  return cost;
}

// The same copies on more and more branches that begin behind the first one and end in it.
double ReplayBranches(size_t branches) {
  constexpr size_t kCopies = 16000;
  constexpr size_t kBytes = 64;
  const DeviceBlock from(kCopies * kBytes), to(kCopies * kBytes);
  const Stream origin;
  const std::vector<Stream> others(branches);
  const Event begun(ACL_EVENT_SYNC);
  std::vector<std::unique_ptr<Event>> ended;
  for (size_t i = 0; i < branches; ++i) ended.push_back(std::make_unique<Event>(ACL_EVENT_SYNC));
  const Graph graph(origin, [&] {
    RW_ACL(aclrtRecordEvent(begun.get(), origin.get()));
    for (const Stream& stream : others) RW_ACL(aclrtStreamWaitEvent(stream.get(), begun.get()));
    for (size_t i = 0; i < kCopies; ++i)
      RW_ACL(aclrtMemcpyAsync(to.at(i * kBytes), kBytes, from.at(i * kBytes), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                              others[i % branches].get()));
    for (size_t i = 0; i < branches; ++i) {
      RW_ACL(aclrtRecordEvent(ended[i]->get(), others[i].get()));
      RW_ACL(aclrtStreamWaitEvent(origin.get(), ended[i]->get()));
    }
  });
  graph.Replay(origin);
  origin.Synchronize();
  constexpr int kReplays = 10;
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < kReplays; ++i) graph.Replay(origin);
  origin.Synchronize();
  return SecondsSince(start) / (kReplays * kCopies);
}

double MemsetBesideValueWaits(size_t waits) {
  const DeviceBlock words(waits * sizeof(uint64_t)), target(kSmall);
  RW_ACL(aclrtMemset(words.data(), words.size(), 0, words.size()));
  const std::vector<Stream> streams(waits);
  for (size_t i = 0; i < waits; ++i) RW_ACL(aclrtValueWait(words.at(i * sizeof(uint64_t)), 1, kAtLeast, streams[i].get()));
  const Stream stream;
  const auto set = [&](size_t) { RW_ACL(aclrtMemsetAsync(target.data(), 64, 1, 64, stream.get())); };
  set(0);
  stream.Synchronize();
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < kPairs; ++i) set(i);
  stream.Synchronize();
  const double cost = SecondsSince(start) / kPairs;
  RW_ACL(aclrtMemset(words.data(), words.size(), 1, words.size()));
  RW_ACL(aclrtSynchronizeDevice());
  return cost;
}

struct Curve {
  const char* name;
  const char* what;           // with the number of whatever there is much of
  std::vector<size_t> sizes;  // the first is the small end, the last the large one
  double must;
  std::function<double(size_t)> sample;
};

void Bench(BenchReport& report, const Curve& curve) {
  if (!report.Begin(curve.name)) return;
  std::vector<Contestant> contestants;
  for (const size_t size : curve.sizes) contestants.push_back({std::to_string(size), [&curve, size] { return curve.sample(size); }});
  const Rounds rounds = RunShuffled(contestants, report.rounds());
  for (size_t i = 1; i < curve.sizes.size(); ++i) {
    const bool large_end = i + 1 == curve.sizes.size();
    BenchRow row{Format("%s_%zu", curve.name, curve.sizes[i]),
                 Format(curve.what, curve.sizes[i]),
                 rounds.MedianCost(i),
                 Unit::kSeconds,
                 Format("%zu", curve.sizes[0]),
                 rounds.MedianCost(0),
                 rounds.CostRatio(i, 0),
                 std::nullopt};
    if (large_end) row.goal = Goal{Goal::kAtMost, Unit::kRatio, curve.must, 1.25};
    report.Add(std::move(row));
  }
}

}  // namespace

void BenchScale(BenchReport& report) {
  const Curve curves[] = {
      {"pending_frees",
       "malloc and free beside %zu pending frees",
       {1000, 4000, 16000},
       2,
       [](size_t n) { return BesidePendingFrees(n, 1); }},
      {"blocked_streams",
       "malloc and free beside 1000 pending frees and %zu blocked streams",
       {1, 8, 64},
       2,
       [](size_t n) { return BesidePendingFrees(1000, n); }},
      {"idle_streams", "malloc and free beside %zu idle streams", {1, 100, 1600}, 2, BesideIdleStreams},
      {"random_frees", "free in random order, %zu blocks", {10000, 100000, 1000000}, 4, FreeInRandomOrder},
      {"registrations", "register host memory beside %zu ranges", {1000, 8000, 32000}, 2, Register},
      {"replay_branches", "replay 16000 copies on %zu branches, per copy", {10, 100, 1600}, 2, ReplayBranches},
      {"value_waits", "memset beside %zu waits for values", {1, 100, 1900}, 2, MemsetBesideValueWaits},
  };
  for (const Curve& curve : curves) Bench(report, curve);
}

}  // namespace ropeway::cli
