// A tiny explicit-state model checker: every interleaving of a few threads, each a list of atomic steps on one shared
// state, sequentially consistent. Models are written next to the protocol they mirror, one step per shared access.
//
// A model has a State (plain data without padding surprises: it is compared byte by byte) and
//   static constexpr int kThreads;
//   void Next(const State& state, int thread, std::vector<State>& out) const;  // successors; none: the thread cannot move
//   std::string Broken(const State& state) const;                              // holds in every state
//   std::string BrokenAtRest(const State& state) const;                        // holds where no thread can move
// where an empty string means that all is well.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace ropeway_model {

struct Verdict {
  std::string broken;         // empty: the property holds in every reachable state
  std::vector<int> schedule;  // otherwise: which thread moved, step by step
  size_t states = 0;
  size_t at_rest = 0;

  std::string Explain() const {
    std::string text = broken + "; threads moved in the order";
    for (int thread : schedule) text += ' ' + std::to_string(thread);
    return text;
  }
};

template <typename Model>
class Checker {
 public:
  using State = typename Model::State;
  static_assert(std::is_trivially_copyable_v<State>);

  explicit Checker(const Model& model) : model_(model) {}

  Verdict Run(const State& initial) {
    Visit(initial);
    return verdict_;
  }

 private:
  static std::string Bytes(const State& state) { return std::string(reinterpret_cast<const char*>(&state), sizeof(State)); }

  // False once something is broken: the schedule then stays as it is.
  bool Visit(const State& state) {
    if (!seen_.insert(Bytes(state)).second) return true;
    ++verdict_.states;
    if (verdict_.broken = model_.Broken(state); !verdict_.broken.empty()) return false;
    bool moved = false;
    for (int thread = 0; thread < Model::kThreads; ++thread) {
      std::vector<State> successors;
      model_.Next(state, thread, successors);
      for (const State& next : successors) {
        moved = true;
        verdict_.schedule.push_back(thread);
        if (!Visit(next)) return false;
        verdict_.schedule.pop_back();
      }
    }
    if (moved) return true;
    ++verdict_.at_rest;
    verdict_.broken = model_.BrokenAtRest(state);
    return verdict_.broken.empty();
  }

  const Model& model_;
  std::unordered_set<std::string> seen_;
  Verdict verdict_;
};

template <typename Model>
Verdict Check(const Model& model, const typename Model::State& initial) {
  return Checker<Model>(model).Run(initial);
}

}  // namespace ropeway_model
