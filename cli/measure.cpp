// Medians and shuffled rounds; see measure.h.
#include "cli/measure.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace ropeway::cli {

double Median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::sort(values.begin(), values.end());
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// Of a sorted sample, by its middle half: outliers are the neighbours', not the figure's.
static double ErrorOfMedian(const std::vector<double>& sorted) {
  constexpr double kOfNormal = 1.253 / 1.349;  // error of a median in standard deviations, and those in widths of the middle half
  const double width = sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
  return kOfNormal * width / std::sqrt(static_cast<double>(sorted.size()));
}

Measured Rounds::CostRatio(size_t subject, size_t base) const {
  std::vector<double> ratios(count());
  for (size_t round = 0; round < ratios.size(); ++round) ratios[round] = costs_[subject][round] / costs_[base][round];
  std::sort(ratios.begin(), ratios.end());
  return {Median(ratios), ErrorOfMedian(ratios)};
}

Rounds RunShuffled(const std::vector<Contestant>& contestants, int rounds, uint32_t seed) {
  std::vector<size_t> order(contestants.size());
  std::iota(order.begin(), order.end(), size_t{0});
  for (const Contestant& contestant : contestants) contestant.sample();
  std::vector<std::vector<double>> costs(contestants.size());
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    for (size_t index : order) costs[index].push_back(contestants[index].sample());
  }
  return Rounds(std::move(costs));
}

size_t Fastest(const std::vector<Contestant>& contestants) {
  constexpr int kContestRounds = 5;
  const Rounds rounds = RunShuffled(contestants, kContestRounds);
  size_t best = 0;
  for (size_t i = 1; i < contestants.size(); ++i) {
    if (rounds.MedianCost(i) < rounds.MedianCost(best)) best = i;
  }
  return best;
}

}  // namespace ropeway::cli
