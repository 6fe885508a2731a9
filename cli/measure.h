// How the command measures: one clock, medians, and rounds in which the things to compare
// take turns in a shuffled order, so that a noisy neighbour or a slow minute hits all of them alike.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ropeway::cli {

using Clock = std::chrono::steady_clock;

inline double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The middle value (the mean of the middle two for an even count). `values` must not be empty.
double Median(std::vector<double> values);

// A figure and how far off its neighbours in repeated measurements may be expected: the standard error of the median, from the spread of
// the rounds. Arithmetic leaves the figure alone.
struct Measured {
  Measured(double figure = 0, double error = 0) : value(figure), noise(error) {}
  operator double() const { return value; }
  double value;
  double noise;
};

// One of the things that are compared. `sample` does a fixed amount of work and returns its cost (time per unit, so
// that smaller is better), leaving out whatever preparation it needs.
struct Contestant {
  std::string name;
  std::function<double()> sample;
};

// What the rounds gave: costs[c][r] is contestant c in round r.
class Rounds {
 public:
  explicit Rounds(std::vector<std::vector<double>> costs) : costs_(std::move(costs)) {}

  double MedianCost(size_t contestant) const { return Median(costs_[contestant]); }
  // How many times the cost of `base` contestant `subject` costs: the median of the per-round ratios, because a round's
  // members ran within milliseconds of each other and share its noise.
  Measured CostRatio(size_t subject, size_t base) const;
  // How many times faster `subject` is than `base`.
  Measured SpeedRatio(size_t subject, size_t base) const { return CostRatio(base, subject); }
  size_t count() const { return costs_.empty() ? 0 : costs_.front().size(); }

 private:
  std::vector<std::vector<double>> costs_;
};

// Runs every contestant once to warm up, then `rounds` times each, shuffled anew in each round.
Rounds RunShuffled(const std::vector<Contestant>& contestants, int rounds, uint32_t seed = 1);

// The contestant that is the fastest in a few rounds: for choosing what the rounds that count will run.
size_t Fastest(const std::vector<Contestant>& contestants);

}  // namespace ropeway::cli
