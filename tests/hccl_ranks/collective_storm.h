// Collectives by chance: every rank works out the whole script from the seed, calls its part, and knows what has to come out, bit by bit,
// because it executes the plans of all ranks by itself.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "acl/acl.h"
#include "hccl/base/reduce_kernel.h"
#include "hccl/hccl.h"
#include "hccl_ranks/plan_simulator.h"

namespace ropeway_test {

enum class StormKind {
  kAllReduce,
  kReduce,
  kReduceScatter,
  kReduceScatterV,
  kAllGather,
  kAllGatherV,
  kBroadcast,
  kScatter,
  kAlltoAll,
  kAlltoAllV,
  kAlltoAllVC,
  kNumber
};
constexpr const char* kStormNames[] = {"AllReduce", "Reduce",  "ReduceScatter", "ReduceScatterV", "AllGather", "AllGatherV",
                                       "Broadcast", "Scatter", "AlltoAll",      "AlltoAllV",      "AlltoAllVC"};
// Where the output is: elsewhere, where the operation knows to work in place, or across the input.
enum class StormPlacement { kApart, kInPlace, kAcross, kNumber };

struct StormCall {
  StormKind kind = StormKind::kAllReduce;
  HcclDataType type = HCCL_DATA_TYPE_INT8;
  HcclReduceOp op = HCCL_REDUCE_SUM;
  StormPlacement placement = StormPlacement::kApart;
  uint32_t root = 0;
  uint64_t count = 0;
  uint32_t seed = 0;
  uint32_t size = 0;  // ranks

  std::string Text() const {
    return std::string(kStormNames[static_cast<int>(kind)]) + ", type " + std::to_string(type) + ", op " + std::to_string(op) + ", count " +
           std::to_string(count) + ", root " + std::to_string(root) + ", placement " + std::to_string(static_cast<int>(placement)) +
           ", seed " + std::to_string(seed) + ", " + std::to_string(size) + " ranks";
  }
  uint64_t element() const { return ropeway::comm::ElementBytes(type); }
  bool Uneven() const { return kind == StormKind::kReduceScatterV || kind == StormKind::kAllGatherV; }
  // Elements of a rank's block, some of none.
  uint64_t CountOf(uint32_t rank) const { return Uneven() ? ((seed + rank) % 5 == 4 ? 0 : count + (seed + rank) % 7) : count; }
  uint64_t CountOf(uint32_t from, uint32_t to) const {
    return kind == StormKind::kAlltoAll ? count : (seed + from * 3 + to) % 5 == 4 ? 0 : count + (seed + from + to * 2) % 7;
  }
  uint64_t Gap(uint32_t rank) const { return Uneven() ? rank % 2 : 0; }
};

inline StormCall RandomCall(std::mt19937& random, uint32_t size, uint64_t most_bytes) {
  static constexpr uint64_t kCounts[] = {1, 3, 64, 257, 2048, 4096, 4099, 16384, 16385, 40'000, 300'000};
  StormCall call;
  call.size = size;
  call.kind = static_cast<StormKind>(random() % static_cast<uint32_t>(StormKind::kNumber));
  call.type = static_cast<HcclDataType>(random() % 13);
  call.op = static_cast<HcclReduceOp>(random() % 4);
  // What the product that is simulated does not reduce.
  if (call.op == HCCL_REDUCE_PROD && (call.type == HCCL_DATA_TYPE_INT16 || call.type == HCCL_DATA_TYPE_BFP16)) call.op = HCCL_REDUCE_MAX;
  call.placement = static_cast<StormPlacement>(random() % static_cast<uint32_t>(StormPlacement::kNumber));
  call.root = static_cast<uint32_t>(random() % size);
  do {
    call.count = kCounts[random() % std::size(kCounts)];
  } while (call.count * call.element() > most_bytes);
  call.seed = static_cast<uint32_t>(random() % 100'000);
  return call;
}

// Numbers that can be added and multiplied without becoming infinite; all bits of integers.
inline Bytes StormValues(HcclDataType type, size_t elements, uint32_t seed) {
  std::minstd_rand random(seed + 1);
  const uint64_t element = ropeway::comm::ElementBytes(type);
  Bytes bytes(elements * element);
  for (size_t i = 0; i < elements; ++i) {
    uint64_t bits = uint64_t{random()} << 33 ^ random();
    // Exponents of 1/4 to 2.
    if (type == HCCL_DATA_TYPE_FP16) bits = (bits & 0x83ff) | uint64_t{0x3400 + (bits >> 20 & 3) * 0x400};
    if (type == HCCL_DATA_TYPE_BFP16) bits = (bits & 0x807f) | uint64_t{0x3e80 + (bits >> 20 & 3) * 0x80};
    if (type == HCCL_DATA_TYPE_FP32) bits = (bits & 0x807fffff) | uint64_t{0x3e800000 + (bits >> 40 & 3) * 0x800000};
    if (type == HCCL_DATA_TYPE_FP64) bits = (bits & 0x800fffffffffffff) | (uint64_t{0x3fd} + (bits >> 60 & 3)) << 52;
    for (uint64_t at = 0; at < element; at += 8) std::memcpy(&bytes[i * element + at], &bits, std::min<uint64_t>(8, element - at));
  }
  return bytes;
}

// One rank's part of a call: what it is in terms of plans.
class StormPart {
 public:
  StormPart(const StormCall& call, uint32_t rank) : call_(call), rank_(rank) {
    shape.rank = rank;
    shape.hosts.resize(call.size);
    shape.root = call.root;
    shape.element_bytes = call.element();
    shape.bytes = call.count * call.element();
    using K = StormKind;
    switch (call.kind) {
      case K::kAllReduce:
      case K::kReduce:
        shape.what = call.kind == K::kReduce ? Collective::kReduce : Collective::kAllReduce;
        input_bytes = shape.bytes;
        output_bytes = shape.bytes;
        break;
      case K::kReduceScatter:
      case K::kReduceScatterV:
        shape.what = Collective::kReduceScatter;
        shape.sends = GappedBlocks(&input_bytes);
        output_bytes = shape.sends[rank].bytes;
        break;
      case K::kAllGather:
      case K::kAllGatherV:
        shape.what = Collective::kAllGather;
        shape.receives = GappedBlocks(&output_bytes);
        input_bytes = shape.receives[rank].bytes;
        break;
      case K::kBroadcast:
        shape.what = Collective::kBroadcast;
        output_bytes = shape.bytes;
        break;
      case K::kScatter:
        shape.what = Collective::kScatter;
        shape.sends = GappedBlocks(&input_bytes);
        if (rank != call.root) input_bytes = 0;
        output_bytes = shape.bytes;
        break;
      default:
        shape.what = Collective::kAllToAll;
        std::vector<ropeway::comm::Block> sends, receives;
        for (uint32_t peer = 0; peer < call.size; ++peer) {
          sends.push_back({input_bytes, call.CountOf(rank, peer) * call.element()});
          receives.push_back({output_bytes, call.CountOf(peer, rank) * call.element()});
          input_bytes += sends.back().bytes;
          output_bytes += receives.back().bytes;
        }
        shape.sends = std::move(sends);
        shape.receives = std::move(receives);
    }
  }

  Bytes Input() const { return StormValues(call_.type, input_bytes / call_.element(), call_.seed * 100 + rank_); }
  Bytes Output() const {
    // A broadcast's root has its input there.
    if (call_.kind == StormKind::kBroadcast) return StormValues(call_.type, call_.count, call_.seed * 100 + rank_);
    return Bytes(output_bytes, 0xee);
  }

  // Where the output is, seen from the input, when both share memory.
  int64_t SharedOffset() const {
    using K = StormKind;
    const bool across = call_.placement == StormPlacement::kAcross;
    const auto off = static_cast<int64_t>(call_.element() * 3);
    switch (call_.kind) {
      case K::kReduceScatter:
      case K::kReduceScatterV:
      case K::kScatter: return across ? 0 : static_cast<int64_t>(shape.sends[rank_].offset);
      case K::kAllGather:
      case K::kAllGatherV: return across ? 0 : -static_cast<int64_t>(shape.receives[rank_].offset);
      default: return across ? off : 0;
    }
  }
  bool Shares() const {
    const bool all_to_all =
        call_.kind == StormKind::kAlltoAll || call_.kind == StormKind::kAlltoAllV || call_.kind == StormKind::kAlltoAllVC;
    return call_.placement != StormPlacement::kApart && !all_to_all && input_bytes > 0 && output_bytes > 0;
  }

  CollectiveShape shape;
  uint64_t input_bytes = 0;
  uint64_t output_bytes = 0;

 private:
  std::vector<ropeway::comm::Block> GappedBlocks(uint64_t* bytes) const {
    std::vector<ropeway::comm::Block> blocks;
    for (uint32_t rank = 0; rank < call_.size; ++rank) {
      *bytes += call_.Gap(rank) * call_.element();
      blocks.push_back({*bytes, call_.CountOf(rank) * call_.element()});
      *bytes += blocks.back().bytes;
    }
    return blocks;
  }

  const StormCall call_;
  const uint32_t rank_;
};

// What every rank has in the end.
inline std::vector<Bytes> StormReference(const StormCall& call, bool* runs) {
  std::vector<CollectiveShape> shapes;
  std::vector<Bytes> inputs, outputs;
  for (uint32_t rank = 0; rank < call.size; ++rank) {
    const StormPart part(call, rank);
    shapes.push_back(part.shape);
    inputs.push_back(part.Input());
    outputs.push_back(part.Output());
  }
  const ropeway::comm::ReduceKernel kernel = ropeway::comm::FindPlainReduceKernel(call.type, call.op);
  const uint64_t element = call.element();
  Simulator all(
      shapes, inputs, outputs, [=](uint8_t* to, const uint8_t* a, const uint8_t* b, uint64_t bytes) { kernel(to, a, b, bytes / element); },
      0);
  *runs = all.Run();
  std::vector<Bytes> results;
  for (uint32_t rank = 0; rank < call.size; ++rank) results.push_back(all.output(rank));
  return results;
}

// The same, worked out once for all ranks that are threads of this process.
inline std::vector<Bytes> SharedStormReference(const StormCall& call, bool* runs) {
  struct Entry {
    std::once_flag once;
    bool runs = false;
    std::vector<Bytes> results;
  };
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<Entry>> entries;
  std::shared_ptr<Entry> entry;
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (entries.size() > 64) entries.clear();
    std::shared_ptr<Entry>& found = entries[call.Text()];
    if (!found) found = std::make_shared<Entry>();
    entry = found;
  }
  std::call_once(entry->once, [&] { entry->results = StormReference(call, &entry->runs); });
  *runs = entry->runs;
  return entry->results;
}

// One rank's call on a stream: memory, the call, and a look at what came out.
class StormRun {
 public:
  StormRun(const StormCall& call, uint32_t rank) : call_(call), rank_(rank), part_(call, rank) {}
  ~StormRun() {
    aclrtFree(memory_);
    aclrtFree(apart_);
  }
  StormRun(const StormRun&) = delete;
  StormRun& operator=(const StormRun&) = delete;

  // What went wrong; empty when nothing did. Filled anew, it can be done again.
  std::string Allocate() { return Place() ? "" : "no memory for " + call_.Text(); }
  std::string Fill() { return Write(output_, part_.Output()) && Write(input_, part_.Input()) ? "" : LastText(); }
  std::string Begin(HcclComm comm, aclrtStream stream) {
    const HcclResult result = Call(comm, stream);
    return result == HCCL_SUCCESS ? "" : call_.Text() + " answered " + std::to_string(result) + ": " + LastText();
  }
  std::string Check(const std::vector<Bytes>& reference) {
    Bytes got(part_.output_bytes);
    if (!got.empty() && aclrtMemcpy(got.data(), got.size(), output_, got.size(), ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS)
      return LastText();
    Bytes expected = reference[rank_];
    // Where the output lies across its input, what nobody writes shows that.
    if (part_.Shares()) expected = WithWhatWasThere(expected);
    if (got == expected) return "";
    const auto where = std::mismatch(got.begin(), got.end(), expected.begin()).first - got.begin();
    return call_.Text() + ": rank " + std::to_string(rank_) + " has " + std::to_string(got[static_cast<size_t>(where)]) + " instead of " +
           std::to_string(expected[static_cast<size_t>(where)]) + " at byte " + std::to_string(where);
  }

 private:
  static std::string LastText() {
    const char* const text = aclGetRecentErrMsg();
    return text == nullptr ? "" : text;
  }

  bool Place() {
    const Bytes in = part_.Input(), out = part_.Output();
    const int64_t offset = part_.Shares() ? part_.SharedOffset() : 0;
    const uint64_t before = offset < 0 ? static_cast<uint64_t>(-offset) : 0;
    const auto at = static_cast<uint64_t>(static_cast<int64_t>(before) + offset);
    if (aclrtMalloc(&memory_, std::max(before + in.size(), at + out.size()) + 64, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return false;
    if (aclrtMalloc(&apart_, out.size() + 64, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return false;
    input_ = static_cast<char*>(memory_) + before;
    output_ = part_.Shares() ? static_cast<char*>(memory_) + at : static_cast<char*>(apart_);
    return true;
  }
  static bool Write(void* to, const Bytes& bytes) {
    return bytes.empty() || aclrtMemcpy(to, bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_HOST_TO_DEVICE) == ACL_SUCCESS;
  }
  Bytes WithWhatWasThere(Bytes expected) const {
    const Bytes in = part_.Input();
    const int64_t offset = part_.SharedOffset();
    for (size_t i = 0; i < expected.size(); ++i) {
      const int64_t in_input = static_cast<int64_t>(i) + offset;
      if (!Written(i) && in_input >= 0 && in_input < static_cast<int64_t>(in.size())) expected[i] = in[static_cast<size_t>(in_input)];
    }
    return expected;
  }
  bool Written(uint64_t at) const {
    if (call_.kind == StormKind::kReduce) return rank_ == call_.root;
    if (part_.shape.what != Collective::kAllGather) return true;
    for (uint32_t rank = 0; rank < call_.size; ++rank) {
      const ropeway::comm::Block block = part_.shape.receives[rank];
      if (at >= block.offset && at < block.offset + block.bytes) return true;
    }
    return false;
  }

  std::vector<uint64_t> Elements(const ropeway::comm::Blocks& blocks, bool offsets) const {
    std::vector<uint64_t> numbers;
    for (uint32_t rank = 0; rank < call_.size; ++rank)
      numbers.push_back((offsets ? blocks[rank].offset : blocks[rank].bytes) / call_.element());
    return numbers;
  }

  HcclResult Call(HcclComm comm, aclrtStream stream) {
    const CollectiveShape& shape = part_.shape;
    const uint64_t count = call_.count;
    using K = StormKind;
    switch (call_.kind) {
      case K::kAllReduce: return HcclAllReduce(input_, output_, count, call_.type, call_.op, comm, stream);
      case K::kReduce: return HcclReduce(input_, output_, count, call_.type, call_.op, call_.root, comm, stream);
      case K::kReduceScatter: return HcclReduceScatter(input_, output_, count, call_.type, call_.op, comm, stream);
      case K::kReduceScatterV:
        return HcclReduceScatterV(input_, Elements(shape.sends, false).data(), Elements(shape.sends, true).data(), output_,
                                  call_.CountOf(rank_), call_.type, call_.op, comm, stream);
      case K::kAllGather: return HcclAllGather(input_, output_, count, call_.type, comm, stream);
      case K::kAllGatherV:
        return HcclAllGatherV(input_, call_.CountOf(rank_), output_, Elements(shape.receives, false).data(),
                              Elements(shape.receives, true).data(), call_.type, comm, stream);
      case K::kBroadcast: return HcclBroadcast(output_, count, call_.type, call_.root, comm, stream);
      case K::kScatter: return HcclScatter(input_, output_, count, call_.type, call_.root, comm, stream);
      case K::kAlltoAll: return HcclAlltoAll(input_, count, call_.type, output_, count, call_.type, comm, stream);
      case K::kAlltoAllV:
        return HcclAlltoAllV(input_, Elements(shape.sends, false).data(), Elements(shape.sends, true).data(), call_.type, output_,
                             Elements(shape.receives, false).data(), Elements(shape.receives, true).data(), call_.type, comm, stream);
      default: {
        std::vector<uint64_t> matrix;
        for (uint32_t from = 0; from < call_.size; ++from) {
          for (uint32_t to = 0; to < call_.size; ++to) matrix.push_back(call_.CountOf(from, to));
        }
        return HcclAlltoAllVC(input_, matrix.data(), call_.type, output_, call_.type, comm, stream);
      }
    }
  }

  const StormCall call_;
  const uint32_t rank_;
  const StormPart part_;
  void* memory_ = nullptr;
  void* apart_ = nullptr;
  char* input_ = nullptr;
  char* output_ = nullptr;
};

// Those calls of a storm that are under way together.
class StormVolley {
 public:
  StormVolley(std::mt19937& random, uint32_t calls, uint64_t most_bytes, uint32_t rank, uint32_t size) {
    for (uint32_t i = 0; i < calls; ++i) {
      script_.push_back(RandomCall(random, size, most_bytes));
      runs_.push_back(std::make_unique<StormRun>(script_.back(), rank));
    }
  }

  std::string Straight(HcclComm comm, aclrtStream stream) {
    std::string wrong = Prepare();
    if (wrong.empty()) wrong = Begin(comm, stream);
    return wrong.empty() ? Look(stream) : wrong;
  }
  // The same, captured, and replayed more than once.
  std::string AsGraph(HcclComm comm, aclrtStream stream) {
    aclmdlRI graph = nullptr;
    std::string wrong = Prepare();
    if (!wrong.empty()) return wrong;
    if (aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) != ACL_SUCCESS) return "no capture";
    wrong = Begin(comm, stream);
    if (aclmdlRICaptureEnd(stream, &graph) != ACL_SUCCESS) return "no graph: " + wrong;
    for (int replay = 0; replay < 2 && wrong.empty(); ++replay) {
      for (const auto& run : runs_) {
        if (wrong.empty()) wrong = run->Fill();
      }
      if (aclmdlRIExecuteAsync(graph, stream) != ACL_SUCCESS) return "no replay";
      if (wrong.empty()) wrong = Look(stream);
    }
    if (aclmdlRIDestroy(graph) != ACL_SUCCESS) return "the graph stays";
    return wrong.empty() ? "" : "captured: " + wrong;
  }

 private:
  std::string Prepare() {
    std::string wrong;
    for (const auto& run : runs_) {
      if (wrong.empty()) wrong = run->Allocate();
      if (wrong.empty()) wrong = run->Fill();
    }
    return wrong;
  }
  std::string Begin(HcclComm comm, aclrtStream stream) {
    std::string wrong;
    for (const auto& run : runs_) {
      if (wrong.empty()) wrong = run->Begin(comm, stream);
    }
    return wrong;
  }
  std::string Look(aclrtStream stream) {
    if (const aclError code = aclrtSynchronizeStream(stream); code != ACL_SUCCESS) {
      const char* const text = aclGetRecentErrMsg();
      return "synchronise answered " + std::to_string(code) + ": " + (text == nullptr ? "" : text);
    }
    std::string wrong;
    for (size_t i = 0; i < runs_.size() && wrong.empty(); ++i) {
      bool good = false;
      const std::vector<Bytes> reference = SharedStormReference(script_[i], &good);
      wrong = good ? runs_[i]->Check(reference) : "the plan does not work out: " + script_[i].Text();
    }
    return wrong;
  }

  std::vector<StormCall> script_;
  std::vector<std::unique_ptr<StormRun>> runs_;
};

// `calls` collectives of this rank, some at a time in the stream, half of them captured. What went wrong first, or nothing.
inline std::string RunStorm(uint32_t seed, uint32_t calls, uint64_t most_bytes, uint32_t rank, uint32_t size, HcclComm comm,
                            aclrtStream stream) {
  constexpr uint32_t kAtOnce = 6;
  std::mt19937 random(seed);
  for (uint32_t done = 0; done < calls; done += kAtOnce) {
    StormVolley volley(random, kAtOnce, most_bytes, rank, size);
    const std::string wrong = done / kAtOnce % 2 == 0 ? volley.Straight(comm, stream) : volley.AsGraph(comm, stream);
    if (!wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace ropeway_test
