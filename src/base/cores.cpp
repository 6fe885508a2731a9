#include "base/cores.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>

namespace ropeway {
namespace {

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string WholeFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

cpu_set_t AllowedCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) CPU_SET(0, &cores);  // more cores than the set has room for
  return cores;
}

// "quota period", with "max" or -1 for no limit.
std::optional<double> Quota(const std::string& text) {
  std::istringstream words(text);
  double quota = 0;
  double period = 0;
  if (!(words >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> QuotaOfGroup(const std::string& folder) {
  if (const std::optional<double> second = Quota(FirstLine(folder + "/cpu.max"))) return second;
  return Quota(FirstLine(folder + "/cpu.cfs_quota_us") + " " + FirstLine(folder + "/cpu.cfs_period_us"));
}

bool IsCpuController(std::string_view controllers) {
  for (size_t end = 0; !controllers.empty(); controllers.remove_prefix(std::min(end + 1, controllers.size()))) {
    end = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, end) == "cpu") return true;
  }
  return false;
}

}  // namespace

std::optional<double> CpuQuota(const std::string& membership, const std::string& root) {
  std::optional<double> least;
  std::istringstream lines(membership);
  for (std::string line; std::getline(lines, line);) {  // "0::/path" or "4:cpu,cpuacct:/path"
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && !IsCpuController(controllers)) continue;
    const std::string mount = root + (controllers.empty() ? "" : "/cpu");
    for (std::string path = line.substr(second + 1);; path.resize(path.rfind('/'))) {
      const std::optional<double> here = QuotaOfGroup(mount + path);
      if (here && (!least || *here < *least)) least = here;
      if (path.find('/') == std::string::npos) break;
    }
  }
  return least;
}

int UsableCores() {
  const cpu_set_t allowed = AllowedCores();
  const int cores = std::max(1, CPU_COUNT(&allowed));
  const std::optional<double> quota = CpuQuota(WholeFile("/proc/self/cgroup"), "/sys/fs/cgroup");
  return quota ? std::clamp(static_cast<int>(std::ceil(*quota)), 1, cores) : cores;
}

cpu_set_t CoresInList(const std::string& list) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  std::istringstream parts(list);
  for (std::string part; std::getline(parts, part, ',');) {
    size_t low = 0;
    size_t high = 0;
    const char* end = part.data() + part.size();
    const auto [dash, error] = std::from_chars(part.data(), end, low);
    if (error != std::errc()) continue;
    high = low;
    if (dash != end && *dash == '-') std::from_chars(dash + 1, end, high);
    for (size_t core = low; core <= high && core < CPU_SETSIZE; ++core) CPU_SET(core, &cores);
  }
  return cores;
}

std::optional<cpu_set_t> CoresOfThisNode(const std::string& nodes) {
  const cpu_set_t allowed = AllowedCores();
  const cpu_set_t listed = CoresInList(FirstLine(nodes + "/online"));  // numbers of nodes; the same form
  const int here = sched_getcpu();
  for (size_t node = 0; here >= 0 && node < CPU_SETSIZE; ++node) {
    if (!CPU_ISSET(node, &listed)) continue;
    cpu_set_t cores = CoresInList(FirstLine(nodes + "/node" + std::to_string(node) + "/cpulist"));
    if (!CPU_ISSET(static_cast<size_t>(here), &cores)) continue;
    CPU_AND(&cores, &cores, &allowed);
    return CPU_EQUAL(&cores, &allowed) ? std::nullopt : std::optional(cores);
  }
  return std::nullopt;
}

}  // namespace ropeway
