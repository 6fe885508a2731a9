// Executes the plans of all ranks of a collective in this thread. It moves bytes as early (even seeds) or as late (odd ones) as the rules
// allow, and lets ranks go on in any order, so that a plan which counts on luck is found.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "hccl/coll/plan.h"

namespace ropeway_test {

using ropeway::comm::Collective;
using ropeway::comm::CollectivePlan;
using ropeway::comm::CollectiveShape;
using ropeway::comm::kEagerBytes;
using ropeway::comm::MakeCollectivePlan;
using ropeway::comm::Place;
using ropeway::comm::Span;
using ropeway::comm::Step;

using Bytes = std::vector<uint8_t>;
using Combiner = std::function<void(uint8_t* to, const uint8_t* a, const uint8_t* b, uint64_t bytes)>;

struct Simulated {
  Bytes input, output, scratch;
  bool in_place = false;
  CollectivePlan plan;
  size_t at = 0;
  std::vector<size_t> open;  // receives that have begun

  uint8_t* At(const Span& span, uint64_t in_place_offset) {
    if (span.place == Place::kScratch) return scratch.data() + span.offset;
    if (span.place == Place::kInput && !in_place) return input.data() + span.offset;
    // One buffer for both: which offset the other one has in it depends on the operation.
    return output.data() + span.offset + (span.place == Place::kInput ? in_place_offset : 0);
  }
};

class Simulator {
 public:
  Simulator(const std::vector<CollectiveShape>& shapes, std::vector<Bytes> inputs, std::vector<Bytes> outputs, Combiner op, uint32_t seed)
      : shapes_(shapes), op_(std::move(op)), random_(seed), lazy_(seed % 2 == 1) {
    for (size_t rank = 0; rank < shapes.size(); ++rank) {
      Simulated one{std::move(inputs[rank]), std::move(outputs[rank]), {}, shapes[rank].in_place, MakeCollectivePlan(shapes[rank]), 0, {}};
      one.scratch.resize(one.plan.scratch_bytes);
      ranks_.push_back(std::move(one));
    }
  }

  // False: it hangs, or messages do not fit.
  bool Run() {
    std::vector<uint32_t> ready(ranks_.size());
    for (uint32_t rank = 0; rank < ready.size(); ++rank) ready[rank] = rank;
    bool moved = true;
    while (moved) {
      moved = false;
      std::shuffle(ready.begin(), ready.end(), random_);
      for (const uint32_t rank : ready) moved |= Advance(rank);
    }
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].at < ranks_[rank].plan.steps.size() || !TakeAll(rank)) return false;
    }
    return std::all_of(sent_.begin(), sent_.end(), [](const auto& queue) { return queue.second.empty(); }) && fits_;
  }
  const Bytes& output(uint32_t rank) const { return ranks_[rank].output; }

 private:
  struct Message {
    uint32_t rank;
    Span from;
    Bytes bytes;  // of an eager one
  };

  uint64_t InputOffset(uint32_t rank) const {
    const CollectiveShape& shape = shapes_[rank];
    return shape.what == Collective::kAllGather ? shape.receives[rank].offset : 0;
  }
  uint8_t* Memory(uint32_t rank, const Span& span) { return ranks_[rank].At(span, InputOffset(rank)); }

  bool Advance(uint32_t rank) {
    Simulated& self = ranks_[rank];
    bool moved = false;
    while (self.at < self.plan.steps.size() && Perform(rank, self.plan.steps[self.at])) {
      ++self.at;
      moved = true;
      if (!lazy_) TakeAll(rank);
      if (random_() % 3 == 0) break;  // somebody else's turn
    }
    return moved;
  }

  bool Perform(uint32_t rank, const Step& step) {
    using Kind = Step::Kind;
    Simulated& self = ranks_[rank];
    switch (step.kind) {
      case Kind::kSend: {
        Message message{rank, step.from, {}};
        // The lazy one reads large messages when they are received, as peers do that read memory in place.
        if (!lazy_ || step.from.bytes <= kEagerBytes) {
          const uint8_t* const memory = Memory(rank, step.from);
          message.bytes.assign(memory, memory + step.from.bytes);
        }
        sent_[{rank, step.peer}].push_back(std::move(message));
        return true;
      }
      case Kind::kReceive:
      case Kind::kCombine: self.open.push_back(self.at); return true;
      case Kind::kCopy: std::copy_n(Memory(rank, step.from), step.to.bytes, Memory(rank, step.to)); return true;
      case Kind::kReduce: op_(Memory(rank, step.to), Memory(rank, step.to), Memory(rank, step.from), step.to.bytes); return true;
      case Kind::kAwait: return TakeAll(rank);
    }
    return false;
  }

  // Takes what has come, in the order of the receives from each peer. True: nothing is missing.
  bool TakeAll(uint32_t rank) {
    Simulated& self = ranks_[rank];
    std::vector<size_t> missing;
    for (const size_t index : self.open) {
      const Step& step = self.plan.steps[index];
      auto& queue = sent_[{step.peer, rank}];
      const bool earlier_missing =
          std::any_of(missing.begin(), missing.end(), [&](size_t i) { return self.plan.steps[i].peer == step.peer; });
      if (queue.empty() || earlier_missing) {
        missing.push_back(index);
        continue;
      }
      TakeOne(rank, step, queue.front());
      queue.pop_front();
    }
    self.open = missing;
    return missing.empty();
  }

  void TakeOne(uint32_t rank, const Step& step, const Message& message) {
    fits_ = fits_ && message.from.bytes == step.to.bytes;
    if (!fits_) return;
    const uint8_t* const bytes = message.bytes.empty() ? Memory(message.rank, message.from) : message.bytes.data();
    uint8_t* const to = Memory(rank, step.to);
    if (step.kind == Step::Kind::kReceive) {
      std::copy_n(bytes, step.to.bytes, to);
    } else {
      const uint8_t* const own = Memory(rank, step.from);
      op_(to, step.peer_first ? bytes : own, step.peer_first ? own : bytes, step.to.bytes);
    }
  }

  const std::vector<CollectiveShape>& shapes_;
  const Combiner op_;
  std::mt19937 random_;
  const bool lazy_;
  bool fits_ = true;
  std::vector<Simulated> ranks_;
  std::map<std::pair<uint32_t, uint32_t>, std::deque<Message>> sent_;
};

}  // namespace ropeway_test
