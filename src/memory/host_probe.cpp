#include "memory/host_probe.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "base/host_touch.h"

namespace ropeway {
namespace {

constexpr uintptr_t kProbedPage = 4096;
// To touch that many pages takes as long as to read a map of some hundred lines.
constexpr size_t kTouchUpTo = 256 * kProbedPage;

// The program may be at work there: an exchange of a byte for itself asks for the right to write and loses nothing.
__attribute__((no_sanitize("address", "thread"))) void TouchByte(uintptr_t at, bool write) {
  auto* byte = reinterpret_cast<volatile unsigned char*>(at);
  unsigned char value = *byte;
  if (write) __atomic_compare_exchange_n(byte, &value, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

const void* FindByTouch(uintptr_t begin, uintptr_t end, bool write) {
  auto touch = [=] {
    for (uintptr_t at = begin; at < end; at = (at / kProbedPage + 1) * kProbedPage) TouchByte(at, write);
  };
  const void* fault;
  if (TouchHost(touch, &fault)) return nullptr;
  return fault != nullptr ? fault : reinterpret_cast<const void*>(begin);
}

// As the system's list of mappings has it. Where there is none, all is well: a copy will tell.
const void* FindInMap(uintptr_t begin, uintptr_t end, bool write) {
  std::FILE* file = std::fopen("/proc/self/maps", "re");
  if (file == nullptr) return nullptr;
  char line[8192];  // longer than any path
  unsigned long long first, last;
  char rights[5];
  while (begin < end && std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "%llx-%llx %4s", &first, &last, rights) != 3 || last <= begin) continue;
    if (first > begin || rights[0] != 'r' || (write && rights[1] != 'w')) break;
    begin = last;
  }
  std::fclose(file);
  return begin < end ? reinterpret_cast<const void*>(begin) : nullptr;
}

}  // namespace

const void* FindMissing(const void* address, size_t size, bool write) {
  auto begin = reinterpret_cast<uintptr_t>(address);
  const uintptr_t end = begin + size;
  if (size <= kTouchUpTo) return FindByTouch(begin, end, write);
  // What the map does not have may still be there: a stack grows when it is touched.
  while (const void* missing = FindInMap(begin, end, write)) {
    begin = reinterpret_cast<uintptr_t>(missing);
    const uintptr_t next = std::min(end, (begin / kProbedPage + 1) * kProbedPage);
    if (FindByTouch(begin, next, write) != nullptr) return missing;
    begin = next;
  }
  return nullptr;
}

}  // namespace ropeway
