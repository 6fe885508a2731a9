// One large copy, cold: beside the best raw copy of one thread, beside libc, beside two raw threads, beside PoCL.
#include <cstring>
#include <optional>
#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/cold_pool.h"
#include "cli/machine.h"
#include "cli/measure.h"
#include "cli/raw_copy.h"
#include "cli/raw_pair.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kPoolBytes = 256 * kMiB;
constexpr size_t kSampleBytes = 64 * kMiB;  // each sample moves as much, in copies of the size under test
constexpr size_t kPeerBytes = 512 * kMiB;

// All samples return seconds per byte.
class LargeCopy {
 public:
  LargeCopy(ColdPool& pool, size_t size) : pool_(pool), size_(size), count_(kSampleBytes / size) {
    pool_.WalkInOrder(size);
    pool_.Verify("single copy", count_, size, [this] { Ropeway(); });
  }

  double Ropeway() {
    return PerByte([this](size_t offset) {
      RW_ACL(aclrtMemcpyAsync(pool_.device(offset), size_, pool_.host(offset), size_, ACL_MEMCPY_HOST_TO_DEVICE, stream_.get()));
      stream_.Synchronize();
    });
  }
  double Streaming() {
    return PerByte([this](size_t offset) { StreamingCopy(pool_.view(offset), pool_.host(offset), size_); });
  }
  double Libc() {
    return PerByte([this](size_t offset) { std::memcpy(pool_.view(offset), pool_.host(offset), size_); });
  }
  double TwoThreads(RawPair& pair) {
    pair.Begin();
    const double cost = PerByte([&](size_t offset) { pair.Copy(pool_.view(offset), pool_.host(offset), size_); });
    pair.End();
    return cost;
  }

 private:
  template <typename CopyOne>
  double PerByte(CopyOne copy_one) {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < count_; ++i) copy_one(pool_.Next());
    return SecondsSince(start) / static_cast<double>(count_ * size_);
  }

  ColdPool& pool_;
  size_t size_;
  size_t count_;
  Stream stream_;
};

// Made when the first workload that the filter lets through needs it.
using LazyPool = std::optional<ColdPool>;

ColdPool& Ready(LazyPool& pool) { return pool ? *pool : pool.emplace(kPoolBytes); }

void BenchSingle(BenchReport& report, LazyPool& pool, size_t size) {
  const std::string name = "single_" + SizeName(size);
  if (!report.Begin(name)) return;
  LargeCopy copy(Ready(pool), size);
  const Rounds rounds = RunShuffled({{"ropeway", [&] { return copy.Ropeway(); }},
                                     {"raw streaming", [&] { return copy.Streaming(); }},
                                     {"libc memcpy", [&] { return copy.Libc(); }}},
                                    report.rounds());
  const std::string what = FormatBytes(size) + " cold, one copy, ";
  report.Add({name, what + "over raw streaming", 1 / rounds.MedianCost(0), Unit::kBytesPerSecond, "raw streaming", 1 / rounds.MedianCost(1),
              rounds.SpeedRatio(0, 1), Goal{Goal::kAtLeast, Unit::kRatio, 0.85, 0.95}});
  report.Add({name + "_over_libc", what + "over libc", 1 / rounds.MedianCost(0), Unit::kBytesPerSecond, "libc memcpy",
              1 / rounds.MedianCost(2), rounds.SpeedRatio(0, 2), Goal{Goal::kAtLeast, Unit::kRatio, 1.35, 1.5}});
}

void BenchTwoThreads(BenchReport& report, LazyPool& pool, size_t size) {
  const std::string name = "two_threads_" + SizeName(size);
  if (!report.Begin(name)) return;
  if (CoresAllowed() < 2) {
    report.Skip(name, "one core only");
    return;
  }
  LargeCopy copy(Ready(pool), size);
  RawPair pair;
  const Rounds rounds = RunShuffled(
      {{"ropeway", [&] { return copy.Ropeway(); }}, {"two raw threads", [&] { return copy.TwoThreads(pair); }}}, report.rounds());
  report.Add({name, FormatBytes(size) + " cold, one copy, over two raw threads", 1 / rounds.MedianCost(0), Unit::kBytesPerSecond,
              "two raw threads", 1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), Goal{Goal::kAtLeast, Unit::kRatio, 0.80, 0.90}});
}

// Large enough for libc to change its method, and PoCL copies with libc. How far two raw threads get over PoCL is
// measured, too: where that is less than the goal, the machine is at its limit.
void BenchAgainstPeer(BenchReport& report) {
  if (!report.Begin("pocl_512m")) return;
  OpenClPeer* peer = report.Peer();
  if (peer == nullptr) {
    report.Skip("pocl_512m", report.why_no_peer());
    return;
  }
  if (MemoryInfo("MemAvailable").value_or(0) < 5 * kPeerBytes) {
    report.Skip("pocl_512m", "less than 2.5 GiB of memory available");
    return;
  }
  ColdPool pool(kPeerBytes);
  Stream stream;
  peer->Allocate(kPeerBytes);
  auto ropeway = [&] {
    const Clock::time_point start = Clock::now();
    RW_ACL(aclrtMemcpyAsync(pool.device(0), kPeerBytes, pool.host(0), kPeerBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
    stream.Synchronize();
    return SecondsSince(start) / kPeerBytes;
  };
  auto pocl = [&] {
    const Clock::time_point start = Clock::now();
    peer->Write(0, pool.host(0), kPeerBytes);
    peer->Finish();
    return SecondsSince(start) / kPeerBytes;
  };
  RawPair pair;
  auto raw = [&] {
    pair.Begin();
    const Clock::time_point start = Clock::now();
    pair.Copy(pool.view(0), pool.host(0), kPeerBytes);
    const double seconds = SecondsSince(start);
    pair.End();
    return seconds / kPeerBytes;
  };
  pool.WalkInOrder(kPeerBytes);
  pool.Verify("pocl_512m", 1, kPeerBytes, ropeway);
  const Rounds rounds = RunShuffled({{"ropeway", ropeway}, {"PoCL", pocl}, {"two raw threads", raw}}, report.options().quick ? 9 : 15);
  report.Add({"pocl_512m", "512 MiB, one copy, over PoCL", 1 / rounds.MedianCost(0), Unit::kBytesPerSecond, "PoCL",
              1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), Goal{Goal::kAtLeast, Unit::kRatio, 3.0, 3.5}});
  report.Add({"pocl_512m_raw",
              "512 MiB, two raw threads, over PoCL",
              1 / rounds.MedianCost(2),
              Unit::kBytesPerSecond,
              "PoCL",
              1 / rounds.MedianCost(1),
              rounds.SpeedRatio(2, 1),
              {}});
  peer->Allocate(1);
}

}  // namespace

void BenchLargeCopies(BenchReport& report) {
  {
    LazyPool pool;
    for (size_t size : {kMiB / 4, kMiB, 4 * kMiB, 16 * kMiB, 64 * kMiB}) BenchSingle(report, pool, size);
    for (size_t size : {4 * kMiB, 16 * kMiB, 64 * kMiB}) BenchTwoThreads(report, pool, size);
  }
  BenchAgainstPeer(report);
}

}  // namespace ropeway::cli
