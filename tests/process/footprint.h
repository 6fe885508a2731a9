// What a process takes of the system, before and after something that should leave it as it was.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/process/idleness.h"
#include "tests/process/process_test.h"

namespace process_test {

struct Footprint {
  size_t descriptors = 0, mappings = 0;
  long resident_kib = 0;
};

inline Footprint Measure() {
  Footprint now;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++now.descriptors;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++now.mappings;
  std::ifstream statm("/proc/self/statm");
  long size = 0, resident = 0;
  statm >> size >> resident;
  now.resident_kib = resident * sysconf(_SC_PAGESIZE) / 1024;
  return now;
}

// What a leak of one small thing per cycle would exceed by far. A sanitizer keeps freed memory.
inline void CheckFlat(const Footprint& before, const Footprint& after) {
  RW_CHECK_EQ(after.descriptors, before.descriptors);
  RW_CHECK(after.mappings <= before.mappings + 8);
  if (!RW_SANITIZED && after.resident_kib > before.resident_kib + 512)
    Fail(__FILE__, __LINE__, std::to_string(after.resident_kib - before.resident_kib) + " KiB more after the cycles");
}

// Goodbyes are handled by the library's thread, a moment after they were said.
inline Footprint MeasureAtRest() {
  CheckIdle("after the last cycle");
  return Measure();
}

}  // namespace process_test
