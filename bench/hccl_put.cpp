// hccl_put RANK 2 FOLDER [SIZE...]: puts from rank 0 to device memory of rank 1, beside copies inside the device in the same run.
// bench/hccl_put.sh starts both ranks; rank 0 prints "size put-MB/s copy-MB/s ratio" per line: medians of rounds in turns.
#include <algorithm>
#include <chrono>
#include <vector>

#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kMost = 256 << 20;
constexpr size_t kBatch = 16 << 20;  // bytes of a batch of small puts; as with any queue pair, one at a time waits for the network
constexpr int kRounds = 15;

// MB/s of one round, long enough to be measured.
template <typename Submit>
double Round(const Rank& self, size_t bytes, Submit submit) {
  const int repeats = static_cast<int>(std::max<size_t>(2, (64 << 20) / bytes));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) submit();
  RW_MUST(aclrtSynchronizeStream(self.stream));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(bytes) * repeats / took.count() / 1e6;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

void Measure(const Rank& self, size_t size, char* own, const CommMem& there) {
  const size_t count = std::clamp<size_t>(kBatch / size, 1, 256);
  std::vector<HcclOneSideOpDesc> items;
  for (size_t i = 0; i < count; ++i)
    items.push_back({own + i * size, static_cast<char*>(there.addr) + i * size, size, HCCL_DATA_TYPE_UINT8});
  const auto put = [&] { RW_MUST(HcclBatchPut(self.comm, 1, items.data(), static_cast<u32>(items.size()), self.stream)); };
  const auto copy = [&] {
    for (size_t i = 0; i < count; ++i)
      RW_MUST(aclrtMemcpyAsync(own + kMost + i * size, size, own + i * size, size, ACL_MEMCPY_DEVICE_TO_DEVICE, self.stream));
  };
  // In turns, so that whatever else the machine does meets both; the first round only warms up.
  std::vector<double> puts, copies, ratios;
  for (int round = 0; round <= kRounds; ++round) {
    const double put_rate = Round(self, size * count, put);
    const double copy_rate = Round(self, size * count, copy);
    if (round == 0) continue;
    puts.push_back(put_rate);
    copies.push_back(copy_rate);
    ratios.push_back(put_rate / copy_rate);
  }
  printf("%zu %.0f %.0f %.2f\n", size, Median(puts), Median(copies), Median(ratios));
  fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const Folder folder(argv[3]);
  Rank self(static_cast<uint32_t>(atoi(argv[1])), 2, folder);
  char* const own = static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, 2 * kMost));
  const CommMem there = Open(self, 1 - self.rank, {{COMM_MEM_TYPE_DEVICE, own, kMost}});
  if (self.rank == 0)
    for (int i = 4; i < argc; ++i) Measure(self, std::min<size_t>(strtoull(argv[i], nullptr, 10), kMost), own, there);
  self.Barrier();
  self.Leave();
}
