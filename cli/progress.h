// How far something long has come: one line that is drawn over on a terminal, and a line for each step elsewhere.
#pragma once

#include <string>

#include "cli/measure.h"

namespace ropeway::cli {

class Progress {
 public:
  // Before so many seconds nobody is told of something that is usually short.
  static constexpr double kPatience = 1;

  // `verb`: "measuring".
  Progress(std::string verb, size_t steps, double patience = 0) : verb_(std::move(verb)), steps_(steps), patience_(patience) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The next step begins.
  void Step(const std::string& name);
  // Of something without steps, `done` of `all` is behind us. Often called; only a terminal shows it.
  void Reach(const std::string& name, size_t done, size_t all);
  // Takes the line away, so that something else can be said.
  void Clear();

 private:
  bool TooEarly() const { return SecondsSince(begun_) < patience_; }
  void Draw(size_t done, size_t all, const std::string& words);

  const std::string verb_;
  const size_t steps_;
  const double patience_;
  const Clock::time_point begun_ = Clock::now();
  Clock::time_point drawn_at_{};
  size_t step_ = 0;
  bool drawn_ = false;
};

}  // namespace ropeway::cli
