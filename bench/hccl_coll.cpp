// hccl_coll RANK SIZE FOLDER: microseconds of collectives of one host or several, by size; rank 0 prints. The median of rounds, each of
// them several calls in a row on one stream; the slowest rank counts, because a barrier stands behind each round.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMost = 64 << 20;

struct Bench {
  Rank& self;
  char* in;
  char* out;

  void Call(int what, size_t bytes) const {
    const size_t floats = bytes / 4;
    if (what == 0) RW_MUST(HcclAllReduce(in, out, floats, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, self.comm, self.stream));
    if (what == 1) RW_MUST(HcclAllGather(in, out, floats / self.size, HCCL_DATA_TYPE_FP32, self.comm, self.stream));
    if (what == 2) {
      const size_t each = floats / self.size;
      RW_MUST(HcclAlltoAll(in, each, HCCL_DATA_TYPE_FP32, out, each, HCCL_DATA_TYPE_FP32, self.comm, self.stream));
    }
  }
  double Microseconds(int what, size_t bytes) const {
    const int calls = static_cast<int>(std::clamp<size_t>((16 << 20) / bytes, 1, 50));
    std::vector<double> rounds;
    for (int round = 0; round < 9; ++round) {
      const Clock::time_point begin = Clock::now();
      for (int i = 0; i < calls; ++i) {
        Call(what, bytes);
        RW_MUST(aclrtSynchronizeStream(self.stream));
      }
      rounds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / calls);
      self.Barrier();
    }
    std::nth_element(rounds.begin(), rounds.begin() + 4, rounds.end());
    return rounds[4];
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), static_cast<uint32_t>(atoi(argv[2])), folder);
  const auto device = [] { return static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, kMost)); };
  const Bench bench{self, device(), device()};
  if (self.rank == 0) printf("%u ranks, microseconds\n%12s %12s %12s %12s\n", self.size, "bytes", "all-reduce", "all-gather", "all-to-all");
  for (size_t bytes = 1024; bytes <= kMost; bytes *= 4) {
    double times[3];
    for (int what = 0; what < 3; ++what) times[what] = bench.Microseconds(what, bytes);
    if (self.rank == 0) printf("%12zu %12.1f %12.1f %12.1f\n", bytes, times[0], times[1], times[2]);
  }
  self.LeaveInPeace();
}
