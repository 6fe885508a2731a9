// How far something long has come: one line that is drawn over on a terminal, and a line for each step elsewhere.
#pragma once

#include <string>

namespace ropeway::cli {

class Progress {
 public:
  // `verb`: "measuring".
  Progress(std::string verb, size_t steps) : verb_(std::move(verb)), steps_(steps) {}
  ~Progress() { Clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The next step begins.
  void Step(const std::string& name);
  // Takes the line away, so that something else can be said.
  void Clear();

 private:
  const std::string verb_;
  const size_t steps_;
  size_t step_ = 0;
  bool drawn_ = false;
};

}  // namespace ropeway::cli
