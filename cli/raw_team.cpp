#include "cli/raw_team.h"

#include <pthread.h>
#include <sched.h>

#include <memory>

#include "cli/machine.h"
#include "cli/measure.h"

namespace ropeway::cli {
namespace {

constexpr size_t kSmallestSlice = 64 << 10;
constexpr size_t kSlicesPerThread = 4;  // so that a thread that was held up does not keep all the others waiting

}  // namespace

RawTeam::RawTeam(int threads) {
  for (int i = 1; i < threads; ++i) helpers_.emplace_back([this] { Help(); });
}

RawTeam::~RawTeam() {
  phase_.store(kQuit);
  phase_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void RawTeam::Begin() {
  KeepAwayFrom(sched_getcpu());
  phase_.store(kAwake);
  phase_.notify_all();
  while (ready_.load() != static_cast<int>(helpers_.size())) sched_yield();
}

void RawTeam::End() {
  phase_.store(kAsleep);
  while (ready_.load() != 0) sched_yield();
}

// A freshly woken thread mostly lands on its waker's core; the raw limit should not depend on that.
void RawTeam::KeepAwayFrom(int busy_core) {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0 || busy_core < 0) return;
  CPU_CLR(static_cast<size_t>(busy_core), &cores);
  int core = 0;
  for (std::thread& helper : helpers_) {
    while (core < CPU_SETSIZE && !CPU_ISSET(static_cast<size_t>(core), &cores)) ++core;
    if (core == CPU_SETSIZE) return;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<size_t>(core++), &one);
    pthread_setaffinity_np(helper.native_handle(), sizeof(one), &one);
  }
}

void RawTeam::TakeParts() {
  for (size_t i = next_.fetch_add(1); i < parts_; i = next_.fetch_add(1)) (*part_)(i);
}

void RawTeam::Run(size_t parts, const std::function<void(size_t)>& part) {
  parts_ = parts;
  part_ = &part;
  next_.store(0);
  busy_.store(static_cast<int>(helpers_.size()));
  job_.fetch_add(1);
  TakeParts();
  while (busy_.load() != 0) sched_yield();
}

void RawTeam::Help() {
  for (;;) {
    phase_.wait(kAsleep);
    if (phase_.load() == kQuit) return;
    uint64_t done = job_.load();
    ready_.fetch_add(1);
    while (phase_.load() == kAwake) {
      if (job_.load() == done) {
        sched_yield();
        continue;
      }
      TakeParts();
      ++done;
      busy_.fetch_sub(1);
    }
    ready_.fetch_sub(1);
  }
}

void RawTeam::Copy(const RawMethod& method, void* dst, const void* src, size_t size_bytes) {
  const size_t wanted = size_bytes / (static_cast<size_t>(threads()) * kSlicesPerThread);
  const size_t slice = std::max((wanted + 4095) & ~size_t{4095}, kSmallestSlice);
  Run((size_bytes + slice - 1) / slice, [&](size_t i) {
    const size_t begin = i * slice;
    method.copy(static_cast<char*>(dst) + begin, static_cast<const char*>(src) + begin, std::min(slice, size_bytes - begin));
  });
}

std::vector<int> TeamSizes() {
  const int cores = CoresAllowed();
  std::vector<int> sizes;
  for (int power = 1; power < cores; power *= 2) {
    sizes.push_back(power);
    if (power >= 2 && power * 3 / 2 < cores) sizes.push_back(power * 3 / 2);
  }
  sizes.push_back(cores);
  return sizes;
}

int BestTeamSize(const std::function<double(RawTeam&)>& cost) {
  const std::vector<int> sizes = TeamSizes();
  std::vector<std::unique_ptr<RawTeam>> teams;
  std::vector<Contestant> contestants;
  for (int size : sizes) {
    RawTeam* team = teams.emplace_back(std::make_unique<RawTeam>(size)).get();
    contestants.push_back({std::to_string(size), [team, &cost] {
                             team->Begin();
                             const double seconds = cost(*team);
                             team->End();
                             return seconds;
                           }});
  }
  return sizes[Fastest(contestants)];
}

}  // namespace ropeway::cli
