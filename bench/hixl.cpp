// hixl RANK 2 FOLDER NAME local|link: transfers of 4096 x 16 KiB, scattered, from an engine to the one of rank 1, which is called NAME.
// `local`: beside the same copies inside this process; `link`: beside puts and gets of as many bytes over the link of ranks. In turns in
// one run; bench/hixl.sh starts both ranks. Rank 0 prints "what bytes ours plain ratio": medians of MB/s.
#include "hixl/hixl.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "tests/hccl_hosts/rank_program.h"

using namespace hccl_hosts;

namespace {

constexpr size_t kBlock = 16 << 10, kCount = 4096, kBytes = kBlock * kCount;
constexpr int kRounds = 15;

double Seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

template <typename Function>
double Rate(Function function) {
  constexpr int kRepeats = 3;
  const double begin = Seconds();
  for (int i = 0; i < kRepeats; ++i) function();
  return static_cast<double>(kBytes) * kRepeats / (Seconds() - begin) / 1e6;
}

void Compare(const char* what, const std::function<void()>& ours, const std::function<void()>& plain) {
  std::vector<double> our_rates, plain_rates, ratios;
  for (int round = 0; round <= kRounds; ++round) {
    const double mine = Rate(ours), other = Rate(plain);
    if (round == 0) continue;  // warms up
    our_rates.push_back(mine);
    plain_rates.push_back(other);
    ratios.push_back(mine / other);
  }
  printf("%s %zu %.0f %.0f %.2f\n", what, kBytes, Median(our_rates), Median(plain_rates), Median(ratios));
  fflush(stdout);
}

// Block i there is block (i * 7 + 1) % kCount: no two neighbours here are neighbours there.
size_t Elsewhere(size_t i) { return (i * 7 + 1) % kCount * kBlock; }

struct Bench {
  Rank& self;
  hixl::Hixl& engine;
  const std::string name;

  void Transfer(hixl::TransferOp operation, const void* here, uintptr_t there) const {
    std::vector<hixl::TransferOpDesc> descriptors;
    descriptors.reserve(kCount);
    for (size_t i = 0; i < kCount; ++i)
      descriptors.push_back({reinterpret_cast<uintptr_t>(here) + i * kBlock, there + Elsewhere(i), kBlock});
    RW_MUST(engine.TransferSync(name.c_str(), operation, descriptors, 20000));
  }

  // The same blocks between two of this process, one call for each.
  void CopyOneByOne(char* here, char* there, bool write) const {
    for (size_t i = 0; i < kCount; ++i) {
      char *const near = here + i * kBlock, *const far = there + Elsewhere(i);
      RW_MUST(aclrtMemcpyAsync(write ? far : near, kBlock, write ? near : far, kBlock, ACL_MEMCPY_DEVICE_TO_DEVICE, self.stream));
    }
    RW_MUST(aclrtSynchronizeStream(self.stream));
  }

  // Between host and device, in one call.
  void CopyBatch(char* host, char* device, bool to_device) const {
    std::vector<void*> to, from;
    std::vector<size_t> sizes(kCount, kBlock);
    for (size_t i = 0; i < kCount; ++i) {
      to.push_back(to_device ? device + Elsewhere(i) : host + i * kBlock);
      from.push_back(to_device ? host + i * kBlock : device + Elsewhere(i));
    }
    aclrtMemcpyBatchAttr attribute{};
    (to_device ? attribute.dstLoc : attribute.srcLoc).type = ACL_MEM_LOCATION_TYPE_DEVICE;
    size_t first = 0, failed = 0;
    RW_MUST(aclrtMemcpyBatchAsync(to.data(), sizes.data(), from.data(), sizes.data(), kCount, &attribute, &first, 1, &failed, self.stream));
    RW_MUST(aclrtSynchronizeStream(self.stream));
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Folder folder(argv[3]);
  const std::string name = argv[4];
  Rank self(static_cast<uint32_t>(atoi(argv[1])), 2, folder);
  char* const device = static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, kBytes));
  char* const host = static_cast<char*>(Allocate(COMM_MEM_TYPE_HOST, kBytes));
  hixl::Hixl engine;
  RW_MUST(engine.Initialize(self.rank == 1 ? name.c_str() : "127.0.0.1", {}));
  hixl::MemHandle handle = nullptr;
  RW_MUST(engine.RegisterMem({reinterpret_cast<uintptr_t>(device), kBytes, {}}, hixl::MEM_DEVICE, handle));
  RW_MUST(engine.RegisterMem({reinterpret_cast<uintptr_t>(host), kBytes, {}}, hixl::MEM_HOST, handle));
  if (self.rank == 1) {
    const uintptr_t addresses[] = {reinterpret_cast<uintptr_t>(device), reinterpret_cast<uintptr_t>(host)};
    folder.Write("addresses", std::string(reinterpret_cast<const char*>(addresses), sizeof addresses));
  }
  char* const target = static_cast<char*>(Allocate(COMM_MEM_TYPE_DEVICE, kBytes));  // of puts, and the other block of local copies
  const bool link = strcmp(argv[5], "link") == 0;
  CommMem there{};
  if (link) there = Open(self, 1 - self.rank, {{COMM_MEM_TYPE_DEVICE, target, kBytes}});
  if (self.rank == 0) {
    uintptr_t addresses[2];
    memcpy(addresses, folder.Await("addresses").data(), sizeof addresses);
    RW_MUST(engine.Connect(name.c_str(), 20000));
    const Bench bench{self, engine, name};
    const auto put = [&](const auto& call) {
      HcclOneSideOpDesc item{target, there.addr, kBytes, HCCL_DATA_TYPE_UINT8};
      RW_MUST(call(self.comm, 1, &item, 1, self.stream));
      RW_MUST(aclrtSynchronizeStream(self.stream));
    };
    const auto write = [&](const void* here, int kind) {
      return [&bench, here, at = addresses[kind]] { bench.Transfer(hixl::WRITE, here, at); };
    };
    const auto read = [&](const void* here, int kind) {
      return [&bench, here, at = addresses[kind]] { bench.Transfer(hixl::READ, here, at); };
    };
    if (link) {
      Compare("write", write(device, 0), [&] { put(HcclBatchPut); });
      Compare("read", read(device, 0), [&] { put(HcclBatchGet); });

    } else {
      Compare("device-write", write(device, 0), [&] { bench.CopyOneByOne(device, target, true); });
      Compare("device-read", read(device, 0), [&] { bench.CopyOneByOne(device, target, false); });
      Compare("host-write", write(host, 0), [&] { bench.CopyBatch(host, target, true); });
      Compare("host-read", read(host, 0), [&] { bench.CopyBatch(host, target, false); });
      Compare("to-host", write(device, 1), [&] { bench.CopyBatch(host, target, false); });
      Compare("from-host", read(device, 1), [&] { bench.CopyBatch(host, target, true); });
    }
    RW_MUST(engine.Disconnect(name.c_str()));
  }
  self.Barrier();
  engine.Finalize();
  self.Leave();
}
