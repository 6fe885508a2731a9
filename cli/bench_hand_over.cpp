// How long it takes one stream to let another go on, by a value in device memory and by an event: two streams that take
// turns, many times over.
#include <cstring>
#include <stdexcept>
#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/measure.h"
#include "cli/raw_hand_over.h"

namespace ropeway::cli {
namespace {

constexpr size_t kTurns = 400;  // of each stream; two tasks a turn fit its queue

// Both samples return seconds per handover; a turn of both streams has two.
class TwoPlayers {
 public:
  TwoPlayers() : from_first_(kTurns), from_second_(kTurns) { std::memset(words_.view(), 0, words_.size()); }

  double ByValue() {
    return PerHandOver([this](size_t) {
      ++turn_;
      RW_ACL(aclrtValueWait(second_word(), turn_ - 1, ACL_STREAM_WAIT_VALUE_GEQ, first_.get()));
      RW_ACL(aclrtValueWrite(first_word(), turn_, 0, first_.get()));
      RW_ACL(aclrtValueWait(first_word(), turn_, ACL_STREAM_WAIT_VALUE_GEQ, second_.get()));
      RW_ACL(aclrtValueWrite(second_word(), turn_, 0, second_.get()));
    });
  }
  double ByEvent() {
    return PerHandOver([this](size_t i) {
      if (i > 0) RW_ACL(aclrtStreamWaitEvent(first_.get(), from_second_[i - 1].get()));
      RW_ACL(aclrtRecordEvent(from_first_[i].get(), first_.get()));
      RW_ACL(aclrtStreamWaitEvent(second_.get(), from_first_[i].get()));
      RW_ACL(aclrtRecordEvent(from_second_[i].get(), second_.get()));
    });
  }

  void RequireAllTurnsTaken() const {
    uint64_t values[2];
    std::memcpy(values, words_.view(), sizeof(values));
    if (values[0] != turn_ || values[1] != turn_) throw std::runtime_error("value_hand_over: a turn was lost");
  }

 private:
  void* first_word() const { return words_.at(0); }
  void* second_word() const { return words_.at(sizeof(uint64_t)); }

  template <typename Turn>
  double PerHandOver(Turn turn) {
    const Clock::time_point start = Clock::now();
    for (size_t i = 0; i < kTurns; ++i) turn(i);
    second_.Synchronize();
    return SecondsSince(start) / (2 * kTurns);
  }

  Stream first_;
  Stream second_;
  DeviceBlock words_{2 * sizeof(uint64_t)};
  uint64_t turn_ = 0;
  std::vector<Event> from_first_;
  std::vector<Event> from_second_;
};

}  // namespace

void BenchHandOver(BenchReport& report) {
  if (!report.Begin("hand_over")) return;
  TwoPlayers players;
  RawHandOver hand_over;
  const Rounds rounds = RunShuffled({{"event", [&] { return players.ByEvent(); }},
                                     {"value", [&] { return players.ByValue(); }},
                                     {"hand-over", [&] { return hand_over.Sample(); }}},
                                    report.rounds());
  players.RequireAllTurnsTaken();
  report.Add({"hand_over", "a word there and back, two spinning threads", rounds.MedianCost(2), Unit::kSeconds, "", {}, 1, {}});
  const Goal goal{Goal::kAtMost, Unit::kRatio, 6, 3};
  report.Add({"event_hand_over", "event recorded to wait over, between two streams", rounds.MedianCost(0), Unit::kSeconds, kHandOverName,
              rounds.MedianCost(2), rounds.CostRatio(0, 2), goal});
  report.Add({"value_hand_over", "value written to wait over, between two streams", rounds.MedianCost(1), Unit::kSeconds, kHandOverName,
              rounds.MedianCost(2), rounds.CostRatio(1, 2), goal});
}

}  // namespace ropeway::cli
