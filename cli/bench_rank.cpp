// See bench_rank.h. Every rank measures the same workloads in the same order; the slowest rank's time counts.
#include "cli/bench_rank.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "cli/acl_objects.h"
#include "cli/mpi_peer.h"
#include "cli/table.h"
#include "cli/tree.h"
#include "hccl/hccl.h"
#include "hccl/hccl_comm.h"

namespace ropeway::cli {
namespace {

enum Collective { kAllReduce, kAllGather, kAllToAll };
constexpr size_t kQuickBytes = 32 << 20;  // the most with --quick
constexpr const char* kNames[] = {"all_reduce", "all_gather", "all_to_all"};

// Between hosts the network is what is measured.
constexpr Goal kGoalOneHost = {Goal::kAtLeast, Unit::kRatio, 1.0, 1.5};
constexpr Goal kGoalHosts = {Goal::kAtLeast, Unit::kRatio, 0.9, 1.0};

// Opened and not linked: no other command needs it.
struct Hccl {
  decltype(&HcclGetRootInfo) GetRootInfo;
  decltype(&HcclCommInitRootInfo) CommInitRootInfo;
  decltype(&HcclCommInitClusterInfo) CommInitClusterInfo;
  decltype(&HcclCommDestroy) CommDestroy;
  decltype(&HcclAllReduce) AllReduce;
  decltype(&HcclAllGather) AllGather;
  decltype(&HcclAlltoAll) AlltoAll;
  decltype(&HcclBarrier) Barrier;

  static Hccl Open() {
    const std::string path = FindTree().library_folder + "/libhccl.so";
    void* const library = dlopen(path.c_str(), RTLD_NOW);
    if (library == nullptr) throw std::runtime_error("no collectives without " + path);
    const auto load = [&](auto& call, const char* name) { call = reinterpret_cast<std::decay_t<decltype(call)>>(dlsym(library, name)); };
    Hccl hccl = {};
    load(hccl.GetRootInfo, "HcclGetRootInfo");
    load(hccl.CommInitRootInfo, "HcclCommInitRootInfo");
    load(hccl.CommInitClusterInfo, "HcclCommInitClusterInfo");
    load(hccl.CommDestroy, "HcclCommDestroy");
    load(hccl.AllReduce, "HcclAllReduce");
    load(hccl.AllGather, "HcclAllGather");
    load(hccl.AlltoAll, "HcclAlltoAll");
    load(hccl.Barrier, "HcclBarrier");
    return hccl;
  }
};

#define RW_HCCL(call) ::ropeway::cli::Check(static_cast<aclError>(call), #call)

std::optional<uint32_t> NumberIn(const char* variable) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? std::nullopt : std::optional<uint32_t>(static_cast<uint32_t>(std::atoi(text)));
}

class RankBench {
 public:
  RankBench(const RankOfJob& job, const BenchOptions& options, BenchReport* report)
      : job_(job), options_(options), report_(report), mpi_(MpiPeer::Open()), hccl_(Hccl::Open()) {
    Join();
  }
  ~RankBench() { hccl_.CommDestroy(comm_); }
  RankBench(const RankBench&) = delete;
  RankBench& operator=(const RankBench&) = delete;

  void Run() {
    for (const size_t bytes : kBenchedBytes) {
      if (options_.quick && bytes > kQuickBytes) continue;
      for (const Collective what : {kAllReduce, kAllGather, kAllToAll}) {
        const std::string name = Format("%s_%ux%s", kNames[what], job_.size, SizeName(bytes).c_str());
        if (name.find(options_.filter) == std::string::npos) continue;
        if (report_ != nullptr) report_->Begin(name);
        Measure(name, what, bytes);
      }
    }
  }

 private:
  // Over mpirun the ranks hand the root's address round. Without it they are on one host, and a table is enough.
  void Join() {
    if (mpi_ == nullptr) return JoinByTable();
    HcclRootInfo root;
    if (job_.rank == 0) RW_HCCL(hccl_.GetRootInfo(&root));
    mpi_->Broadcast(&root, sizeof root);
    RW_HCCL(hccl_.CommInitRootInfo(job_.size, &root, job_.rank, &comm_));
  }
  void JoinByTable() {
    const char* const port = std::getenv("MASTER_PORT");
    std::string table = Format("{\"version\":\"1.0\",\"status\":\"completed\",\"server_list\":[{\"server_id\":\"bench-%s\",\"device\":[",
                               port == nullptr ? "" : port);
    for (uint32_t rank = 0; rank < job_.size; ++rank)
      table += Format("%s{\"device_id\":\"%u\",\"device_ip\":\"127.0.0.1\",\"rank_id\":\"%u\"}", rank == 0 ? "" : ",", rank, rank);
    char path[] = "/tmp/ropeway-bench-XXXXXX";
    const int descriptor = mkstemp(path);
    if (descriptor < 0) throw std::runtime_error("cannot write a table of ranks into /tmp");
    close(descriptor);
    std::ofstream(path) << table << "]}]}";
    const HcclResult joined = hccl_.CommInitClusterInfo(path, job_.rank, &comm_);
    unlink(path);
    RW_HCCL(joined);
  }

  struct Buffers {
    explicit Buffers(size_t bytes, bool beside) : in(bytes), out(bytes), other_in(beside ? bytes / 4 : 0), other_out(other_in.size()) {}
    DeviceBlock in, out;
    std::vector<float> other_in, other_out;
  };
  // Small whole numbers: sums are exact in any order.
  static float Value(uint32_t rank, size_t i) { return static_cast<float>((i + 3 * rank) % 17); }

  void Ours(Collective what, size_t count, const Buffers& buffers) const {
    void *in = buffers.in.data(), *out = buffers.out.data();
    const size_t each = count / job_.size;
    const HcclDataType type = HCCL_DATA_TYPE_FP32;
    if (what == kAllReduce) RW_HCCL(hccl_.AllReduce(in, out, count, type, HCCL_REDUCE_SUM, comm_, stream_.get()));
    if (what == kAllGather) RW_HCCL(hccl_.AllGather(in, out, each, type, comm_, stream_.get()));
    if (what == kAllToAll) RW_HCCL(hccl_.AlltoAll(in, each, type, out, each, type, comm_, stream_.get()));
    stream_.Synchronize();
  }
  void Theirs(Collective what, size_t count, Buffers& buffers) const {
    const size_t each = count / job_.size;
    if (what == kAllReduce) mpi_->AllReduce(buffers.other_in.data(), buffers.other_out.data(), count);
    if (what == kAllGather) mpi_->AllGather(buffers.other_in.data(), buffers.other_out.data(), each);
    if (what == kAllToAll) mpi_->AllToAll(buffers.other_in.data(), buffers.other_out.data(), each);
  }
  float Expected(Collective what, size_t count, size_t i) const {
    const size_t each = count / job_.size;
    if (what == kAllGather) return Value(static_cast<uint32_t>(i / each), i % each);
    if (what == kAllToAll) return Value(static_cast<uint32_t>(i / each), job_.rank * each + i % each);
    float sum = 0;
    for (uint32_t rank = 0; rank < job_.size; ++rank) sum += Value(rank, i);
    return sum;
  }
  void Verify(const std::string& name, Collective what, size_t count, const Buffers& buffers) const {
    auto* const in = reinterpret_cast<float*>(buffers.in.view());
    for (size_t i = 0; i < count; ++i) in[i] = Value(job_.rank, i);
    Ours(what, count, buffers);
    const auto* const out = reinterpret_cast<const float*>(buffers.out.view());
    for (size_t i = 0; i < count; ++i)
      if (out[i] != Expected(what, count, i)) throw std::runtime_error(Format("%s: element %zu is wrong", name.c_str(), i));
  }

  void Barrier() const {
    RW_HCCL(hccl_.Barrier(comm_, stream_.get()));
    stream_.Synchronize();
    if (mpi_ != nullptr) mpi_->Barrier();
  }
  // Of one call, by the slowest rank.
  template <typename Call>
  double Seconds(size_t calls, const Call& call) const {
    Barrier();
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < calls; ++i) call();
    *reinterpret_cast<double*>(slowest_.view()) = SecondsSince(start) / static_cast<double>(calls);
    RW_HCCL(hccl_.AllReduce(slowest_.data(), slowest_.data(), 1, HCCL_DATA_TYPE_FP64, HCCL_REDUCE_MAX, comm_, stream_.get()));
    stream_.Synchronize();
    return *reinterpret_cast<const double*>(slowest_.view());
  }

  void Measure(const std::string& name, Collective what, size_t bytes) {
    Buffers buffers(bytes, mpi_ != nullptr);
    const size_t count = bytes / sizeof(float);
    Verify(name, what, count, buffers);
    const size_t calls = std::clamp<size_t>((size_t{64} << 20) / bytes, 1, 1000);
    std::vector<Contestant> contestants = {
        {"ours", [&] { return Seconds(calls, [&] { Ours(what, count, buffers); }); }},
    };
    if (mpi_ != nullptr) contestants.push_back({"mpi", [&] { return Seconds(calls, [&] { Theirs(what, count, buffers); }); }});
    const Rounds rounds = RunShuffled(contestants, RoundsOf(options_));
    if (report_ == nullptr) return;
    BenchRow row{name,
                 Format("%u ranks, %s of %s", job_.size, kNames[what], SizeName(bytes).c_str()),
                 rounds.MedianCost(0),
                 Unit::kSeconds,
                 "",
                 {},
                 0.0,
                 std::nullopt};
    if (mpi_ != nullptr) {
      row.beside_name = "Open MPI";
      row.beside = rounds.MedianCost(1);
      row.judged = rounds.SpeedRatio(0, 1);
      row.goal = job_.one_host ? kGoalOneHost : kGoalHosts;
    }
    report_->Add(std::move(row));
  }

  const RankOfJob job_;
  const BenchOptions& options_;
  BenchReport* const report_;
  const std::unique_ptr<MpiPeer> mpi_;
  const Hccl hccl_;
  HcclComm comm_ = nullptr;
  const Stream stream_;
  const DeviceBlock slowest_{sizeof(double)};
};

}  // namespace

std::optional<RankOfJob> FindRank() {
  const std::optional<uint32_t> of_mpi = NumberIn("OMPI_COMM_WORLD_RANK"), rank = of_mpi ? of_mpi : NumberIn("RANK");
  const std::optional<uint32_t> size = NumberIn(of_mpi ? "OMPI_COMM_WORLD_SIZE" : "WORLD_SIZE");
  const std::optional<uint32_t> here = NumberIn(of_mpi ? "OMPI_COMM_WORLD_LOCAL_SIZE" : "LOCAL_WORLD_SIZE");
  if (!rank || !size) return std::nullopt;
  return RankOfJob{*rank, *size, here == size};
}

void BenchAsRank(const RankOfJob& job, const BenchOptions& options, BenchReport* report) { RankBench(job, options, report).Run(); }

}  // namespace ropeway::cli
