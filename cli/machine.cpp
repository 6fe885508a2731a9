// Reading /proc and /sys; see machine.h.
#include "cli/machine.h"

#include <gnu/libc-version.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace ropeway::cli {
namespace {

// The value of the first "name : value" line of /proc/cpuinfo with that name.
std::string CpuInfo(const std::string& name) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(':');
    if (line.compare(0, name.size(), name) != 0 || colon == std::string::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

}  // namespace

std::optional<std::string> ReadLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  return line;
}

std::string CpuModel() {
  const std::string model = CpuInfo("model name");
  if (!model.empty()) return model;
  utsname system = {};
  uname(&system);
  return system.machine;
}

std::string CpuFeatures() {
  std::string found;
  [[maybe_unused]] auto add = [&found](bool has, const char* name) {
    if (has) found += (found.empty() ? "" : " ") + std::string(name);
  };
#if defined(__x86_64__)
  add(__builtin_cpu_supports("sse4.2") != 0, "sse4.2");
  add(__builtin_cpu_supports("avx2") != 0, "avx2");
  add(__builtin_cpu_supports("avx512f") != 0, "avx512f");
  add(__builtin_cpu_supports("avx512bw") != 0, "avx512bw");
#elif defined(__aarch64__)
  add(true, "neon");
#endif
  return found;
}

int CoresAllowed() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

std::optional<double> CpuQuota() {
  std::istringstream line(ReadLine("/sys/fs/cgroup/cpu.max").value_or("max"));
  double quota = 0;
  double period = 0;
  if (!(line >> quota >> period) || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<size_t> MemoryLimit() {
  std::istringstream line(ReadLine("/sys/fs/cgroup/memory.max").value_or("max"));
  size_t bytes = 0;
  return line >> bytes ? std::optional(bytes) : std::nullopt;
}

namespace {

// Ticks in which the cores did something and in which they did nothing, since the start of the machine.
std::pair<double, double> BusyAndIdle() {
  std::istringstream line(ReadLine("/proc/stat").value_or(""));
  std::string name;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0;
  line >> name >> user >> nice >> system >> idle >> waiting;
  return {user + nice + system, idle + waiting};
}

}  // namespace

double CoresBusy() {
  const auto [busy, idle] = BusyAndIdle();
  usleep(200'000);
  const auto [busy_then, idle_then] = BusyAndIdle();
  const double all = busy_then - busy + idle_then - idle;
  return all <= 0 ? 0 : (busy_then - busy) / all * static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN));
}

std::string LastLevelCache() {
  for (int index = 4; index >= 0; --index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
    if (auto size = ReadLine(folder + "/size")) {
      const size_t number = std::stoul(*size);  // "32768K"
      return number % 1024 == 0 ? std::to_string(number / 1024) + " MiB" : std::to_string(number) + " KiB";
    }
  }
  return "";
}

std::string RdmaDevices() {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& device : std::filesystem::directory_iterator("/sys/class/infiniband", none)) names.insert(device.path().filename());
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : " ") + name;
  return list;
}

std::string KernelRelease() {
  utsname system = {};
  uname(&system);
  return system.release;
}

std::string LibcVersion() { return std::string("glibc ") + gnu_get_libc_version(); }

std::string ChosenOption(const std::string& line) {
  const size_t open = line.find('[');
  const size_t close = line.find(']');
  return open < close && close != std::string::npos ? line.substr(open + 1, close - open - 1) : line;
}

std::optional<size_t> MemoryInfo(const char* field) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  size_t kibibytes = 0;
  std::string unit;
  while (file >> name >> kibibytes) {
    std::getline(file, unit);
    if (name == std::string(field) + ":") return kibibytes * 1024;
  }
  return std::nullopt;
}

}  // namespace ropeway::cli
