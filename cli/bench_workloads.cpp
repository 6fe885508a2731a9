#include "cli/bench_workloads.h"

#include <algorithm>
#include <sstream>

namespace ropeway::cli {
namespace {

// Workloads that differ in one thing: what stands in braces, once for each.
struct Group {
  BenchSet set;
  const char* names;
  const char* why;
};

constexpr BenchSet kCpu = BenchSet::kCpu, kCuda = BenchSet::kCuda, kScale = BenchSet::kScale, kHccl = BenchSet::kHccl;

constexpr Group kGroups[] = {
    {kCpu, "submit_4k", "the call alone: what aclrtMemcpyAsync keeps from the program's own work; beside it PoCL's enqueue"},
    {kCpu, "burst_1000x4k", "a thousand small copies and one wait: what the queue adds to the bytes, over a loop of memcpy"},
    {kCpu, "round_trip_4k",
     "one small copy and a wait for it, in hand-overs between two spinning threads; again after a pause, for information"},
    {kCpu, "then_read_{4k,16k,64k,128k}",
     "a copy whose bytes the same core reads next: the copy should leave them in the cache, as the best cached raw method does"},
    {kCpu, "single_{256k,1m,4m,16m,64m}", "one cold copy on all lanes, over the best raw method and number of threads of this machine"},
    {kCpu, "pocl_512m", "one large copy over PoCL, and what raw threads reach in the same rounds"},
    {kCpu, "batch_submit_16k", "the call alone, of a batch, per item"},
    {kCpu, "batch_{4k,16k,64k,128k}", "4096 scattered blocks as one batch on all lanes, over raw threads that share the same blocks"},
    {kCpu, "{single_256k,single_1m,single_4m,single_16m,single_64m,batch_4k,batch_16k,batch_64k,batch_128k}_one_lane",
     "the same with one lane, over one raw thread: how good the copy itself is"},
    {kCpu, "loop_h2d_{1m,16k,4k}",
     "a loop of single copies in one stream, over the same bytes as one batch: what not rewriting a program costs"},
    {kCpu, "loop_d2d_{1m,16k,4k}", "the same inside the device"},
    {kCpu, "rows_{1k,4k,64k}", "a 2-D copy, over its rows as one batch"},
    {kCpu, "staged_{256k,1m,16m}", "kind 5, whose source may be reused at once, over a raw copy"},
    {kCpu, "descriptor_{4k,64k,1m}", "a copy by descriptor, set and launched, over a plain copy"},
    {kCpu, "graph_1000x4k", "replay of a thousand captured copies, over the same copies one by one"},
    {kCpu, "hand_over", "from one stream to the next by an event and by a value, in hand-overs between two spinning threads"},
    {kCpu, "imported_256m", "a copy into memory of another process, over one into memory of this one"},
    {kCpu, "streams", "2000 small copies over 10, 100 and 1000 streams, over one stream: what a stream costs"},
    {kCpu, "idle_100_streams", "what a process with a hundred idle streams takes of the CPU"},
    {kCpu, "{to_host_16m,on_device_16m,to_host_batch_16k}", "the ways that the others leave out, for information"},
    {kCuda, "pinned_{h2d,d2h}_{1m,16m,256m,1024m}", "one pinned copy, over cuMemcpyAsync"},
    {kCuda, "submit_4k", "the call alone, over cuMemcpyAsync's"},
    {kCuda, "both_ways_1g", "copies in both directions at once, over the same in raw CUDA"},
    {kCuda, "pageable_{h2d,d2h}_{4k,64k,1m,16m,256m}", "a copy of ordinary memory, over cuMemcpyAsync"},
    {kCuda, "round_trip_{h2d,d2h}_{4k,1m}", "one pinned copy and a wait for it, over cuMemcpyAsync and its wait"},
    {kCuda, "on_device_{64k,256k,1m}", "one copy inside the device and a wait for it, over cuMemcpyAsync and its wait"},
    {kCuda, "hand_over_{1,16}x64k", "two streams that copy in turns, each behind an event of the other, over the same in raw CUDA"},
    {kCuda, "descriptor_first_256m", "a descriptor that was just written and is launched once, over cuMemcpyAsync"},
    {kCuda, "batch_{h2d,d2h}_{1k,4k,16k,64k,128k}",
     "4096 scattered blocks as one batch, over the link, a loop and the vendor's batch call"},
    {kCuda, "batch_{512xh2d_4k,512xd2h_4k,64xh2d_16k,64xd2h_16k}", "batches of middling length, one at a time, over the same three"},
    {kCuda, "few_{16,64}x{h2d,d2h}_{4k,16k,64k,128k}", "a small batch, over the better of a loop and the vendor's batch call"},
    {kCuda, "both_ways_batch_{4k,16k,64k}", "batches in both directions at once, over large raw copies both ways"},
    {kCuda, "descriptor_256m", "a copy by descriptor inside the device, over cuMemcpyAsync"},
    {kCuda, "graph_64x{4k,64k,1m}", "replay of captured copies, over a CUDA graph of the same"},
    {kScale, "pending_frees", "frees that wait for work, by their number"},
    {kScale, "blocked_streams", "work beside streams that wait, by their number"},
    {kScale, "idle_streams", "malloc and free beside idle streams, by their number"},
    {kScale, "random_frees", "frees in random order, by the number of blocks"},
    {kScale, "registrations", "registering host memory, by the number of ranges that are"},
    {kScale, "replay_branches", "replay of the same copies, by the number of branches"},
    {kScale, "value_waits", "a memset beside waits for values, by their number"},
    {kHccl, "{all_reduce,all_gather,all_to_all}_{2,4,8}x{1k,8k,64k,512k,4m,32m,256m}",
     "a collective of so many processes of one host, called and waited for, over the same in Open MPI; bytes of a rank's larger buffer"},
};

// "a_{b,c}" is a_b and a_c.
std::vector<std::string> Expand(const std::string& names) {
  const size_t open = names.find('{');
  if (open == std::string::npos) return {names};
  const size_t close = names.find('}', open);
  std::vector<std::string> expanded;
  std::istringstream choices(names.substr(open + 1, close - open - 1));
  for (std::string choice; std::getline(choices, choice, ',');) {
    const std::vector<std::string> rest = Expand(names.substr(0, open) + choice + names.substr(close + 1));
    expanded.insert(expanded.end(), rest.begin(), rest.end());
  }
  return expanded;
}

}  // namespace

std::vector<std::string> WorkloadNames(BenchSet set) {
  std::vector<std::string> names;
  for (const Group& group : kGroups) {
    if (group.set != set) continue;
    const std::vector<std::string> some = Expand(group.names);
    names.insert(names.end(), some.begin(), some.end());
  }
  return names;
}

std::string ExplainWorkload(BenchSet set, const std::string& name) {
  for (const Group& group : kGroups) {
    const std::vector<std::string> some = Expand(group.names);
    if (group.set == set && std::count(some.begin(), some.end(), name) != 0) return group.why;
  }
  return "";
}

}  // namespace ropeway::cli
