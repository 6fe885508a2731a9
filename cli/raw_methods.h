// The copies that Ropeway is measured against: nothing but a loop of loads and stores, so that what is left between them and the public
// API is our own cost. Which one is the best depends on the machine and on the size, so a measurement begins with a contest.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ropeway::cli {

struct RawMethod {
  std::string name;    // as the setting ROPEWAY_COPY_METHOD has it: "avx512", "libc"
  bool streams;        // around the cache
  size_t ahead_bytes;  // how far ahead of the copy the source is asked for; 0: it is not
  size_t ahead_span;   // and how much of its beginning
  void (*copy)(void* dst, const void* src, size_t size_bytes);
};

// Those that this CPU can run.
const std::vector<RawMethod>& RawMethods();

// "avx512 streaming, 2 KiB ahead"
std::string Describe(const RawMethod& method);
// ", 2 KiB ahead at first", behind the name of a way that asks so; empty where it does not.
std::string DescribeAhead(size_t ahead_bytes, bool all_the_way);

// The method for which `cost` (smaller is better) comes out best, of those that `fits` lets through; each is measured a few times.
RawMethod BestRawMethod(const std::function<double(const RawMethod&)>& cost, bool (*fits)(const RawMethod&) = nullptr);

}  // namespace ropeway::cli
