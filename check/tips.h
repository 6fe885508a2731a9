// What works and could be cheaper. A tip never fails a run, and is told once for a place of the program.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "check/model/range_map.h"

namespace ropeway::check {

class Books;

// Functions that stand in for kernels were registered (hooks/told.cpp).
bool StandInsAreThere();

class Tips {
 public:
  explicit Tips(Books* books) : books_(*books) {}

  // One copy of memory that the library knows on both sides.
  void Copied(const Place& place, uint32_t operation, const Range& to, const Range& from);
  // The host waited for a stream; `knew`: nothing has come since it last saw it finished.
  void Waited(uint32_t operation, bool knew);
  void Registered(uint32_t operation, const Range& range);

 private:
  // Copies from one place of the program, one behind the other in their stream.
  struct Row {
    uint32_t operation = 0;
    uint64_t last = 0;
    unsigned count = 0;
  };

  Books& books_;
  std::vector<Row> rows_;  // by stream
  std::unordered_map<uint32_t, unsigned> idle_waits_;
  std::unordered_map<uint32_t, unsigned> repeated_registrations_;
  std::map<uintptr_t, uintptr_t> registered_;  // all that ever were: begin and end
};

}  // namespace ropeway::check
