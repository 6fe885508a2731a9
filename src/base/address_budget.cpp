#include "base/address_budget.h"

#include <sys/resource.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstring>

#include "base/race_detector.h"
#include "base/settings.h"

namespace ropeway {
namespace {

// ThreadSanitizer leaves a program between half a TiB and one and a half, wherever the system puts things that day.
constexpr size_t kUnderTsan = size_t{256} << 30;
// Valgrind writes a record for every 64 KiB, the moment addresses are reserved.
constexpr size_t kUnderValgrind = size_t{2} << 30;
// So does qemu before 8.1 for every page: these take it a tenth of a second and 100 MB.
constexpr size_t kUnderEmulator = size_t{16} << 30;

// Valgrind loads its helpers into every program that it runs.
bool UnderValgrind() {
  const char* preloaded = ForeignVariable("LD_PRELOAD");
  return preloaded != nullptr && std::strstr(preloaded, "/vgpreload_") != nullptr;
}

// An emulator tells a program its own name as /proc/self/exe. Through the thread the kernel answers, and names the emulator.
bool UnderEmulator() {
  char told[PATH_MAX];
  char real[PATH_MAX];
  const ssize_t told_length = readlink("/proc/self/exe", told, sizeof(told));
  const ssize_t real_length = readlink("/proc/thread-self/exe", real, sizeof(real));
  if (told_length <= 0 || real_length <= 0) return false;
  return told_length != real_length || std::memcmp(told, real, static_cast<size_t>(told_length)) != 0;
}

size_t AddressesInUse() {
  FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  size_t pages = 0;
  if (std::fscanf(file, "%zu", &pages) != 1) pages = 0;
  std::fclose(file);
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

// Half of what a limit leaves: the other half is the program's.
size_t ShareOfLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  const size_t used = AddressesInUse();
  return limit.rlim_cur > used ? (limit.rlim_cur - used) / 2 : 0;
}

}  // namespace

AddressBudget ReadAddressBudget() {
  AddressBudget budget;
  const auto consider = [&budget](size_t bytes, const char* limited_by) {
    if (bytes < budget.bytes) budget = {bytes, limited_by};
  };
  if (race_detector::Present()) consider(kUnderTsan, "ThreadSanitizer");
  if (UnderValgrind()) consider(kUnderValgrind, "valgrind");
  if (UnderEmulator()) consider(kUnderEmulator, "an emulator");
  consider(ShareOfLimit(), "the address-space limit (ulimit -v)");
  return budget;
}

}  // namespace ropeway
