// See report_limit.h.
#include "cli/report_limit.h"

#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/measure.h"
#include "cli/raw_team.h"

namespace ropeway::cli {
namespace {

constexpr size_t kBytes = 64 << 20;  // more than the caches hold

// Untouched pages of the source would all be the same page of zeros.
struct TwoBuffers {
  std::unique_ptr<char[]> dst = std::make_unique<char[]>(kBytes);
  std::unique_ptr<char[]> src = std::make_unique<char[]>(kBytes);
  TwoBuffers() {
    std::fill_n(dst.get(), kBytes, 1);
    std::fill_n(src.get(), kBytes, 2);
  }
};

template <typename Work>
double SecondsOf(Work work) {
  const Clock::time_point start = Clock::now();
  work();
  return SecondsSince(start);
}

bool IsOfThisMachine(const TraceData& trace) {
  char host[256] = "";
  gethostname(host, sizeof(host) - 1);
  return !trace.processes.empty() && std::all_of(trace.processes.begin(), trace.processes.end(), [&](const TraceProcess& process) {
    return process.engine == "cpu" && process.host == host;
  });
}

}  // namespace

double MeasureLimit(const TraceData& trace) {
  if (!IsOfThisMachine(trace)) return 0;
  const TwoBuffers buffers;
  const RawMethod method =
      BestRawMethod([&](const RawMethod& one) { return SecondsOf([&] { one.copy(buffers.dst.get(), buffers.src.get(), kBytes); }); });
  double best = 0;
  for (const int threads : TeamSizes()) {
    RawTeam team(threads);
    for (int round = 0; round < 3; ++round) {
      team.Begin();
      best = std::max(best, kBytes / SecondsOf([&] { team.Copy(method, buffers.dst.get(), buffers.src.get(), kBytes); }));
      team.End();
    }
  }
  return best;
}

}  // namespace ropeway::cli
