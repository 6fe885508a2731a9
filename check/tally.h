// What the processes of a checked program tell the command that started them, also when they crash: a page of shared memory. The
// variable ROPEWAY_CHECK_TALLY has the number of its descriptor.
#pragma once

#include <atomic>
#include <cstdint>

namespace ropeway::check {

struct Tally {
  std::atomic<uint32_t> loaded;  // processes that have the layer
  std::atomic<uint32_t> errors;
  std::atomic<uint32_t> tips;
};

constexpr char kTallyVariable[] = "ROPEWAY_CHECK_TALLY";
constexpr char kReportsVariable[] = "ROPEWAY_CHECK_REPORTS";  // the number of the pipe that reports of a race detector go to

}  // namespace ropeway::check
