#include "api/package_version.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/settings.h"

namespace ropeway::api {
namespace {

// The rest of the first line of a file that starts with `key`, without blanks at its end.
std::optional<std::string> FindLine(const std::string& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.compare(0, key.size(), key) != 0) continue;
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.size() <= key.size()) return std::nullopt;
    return line.substr(key.size());
  }
  return std::nullopt;
}

// Read at each call and not with the runtime's settings: programs point the variable at the tree they want to ask.
std::optional<std::string> FindInTree(const std::string& package) {
  const std::optional<std::string> home = GivenSetting("ASCEND_HOME_PATH");
  if (!home) return std::nullopt;
  return FindLine(*home + "/share/info/" + package + "/version.info", "Version=");
}

std::optional<std::string> FindOutsideTheTree(const std::string& package, std::string_view key) {
  std::optional<std::string> root = FindLine("/etc/ascend_install.info", key);
  return root ? FindLine(*root + "/" + package + "/version.info", "Version=") : std::nullopt;
}

std::string SwapDashes(std::string name) {
  for (char& c : name) c = c == '-' ? '_' : c == '_' ? '-' : c;
  return name;
}

template <size_t kSize>
void Store(char (&field)[kSize], const std::string& text) {
  snprintf(field, kSize, "%s", text.c_str());
}

// Takes a decimal number off the front. False when there is none.
bool TakeNumber(std::string_view* text, int64_t most, int64_t* number) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc() || *number < 0 || *number > most) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

bool TakeText(std::string_view* text, std::string_view expected) {
  if (text->substr(0, expected.size()) != expected) return false;
  text->remove_prefix(expected.size());
  return true;
}

// "-alpha.002", "-rc3" or nothing at all, as a distance from the release.
std::optional<int64_t> PreRelease(std::string_view text) {
  static constexpr std::pair<std::string_view, int> kStages[] = {{"-alpha", -300}, {"-beta", -200}, {"-rc", -100}};
  if (text.empty()) return 0;
  for (auto [stage, distance] : kStages) {
    if (!TakeText(&text, stage)) continue;
    TakeText(&text, ".");
    int64_t number = 0;
    if (!TakeNumber(&text, 99, &number) || !text.empty()) return std::nullopt;
    return distance + number;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> FindPackageVersion(const std::string& package) {
  if (package == "driver") return FindOutsideTheTree(package, "Driver_Install_Path_Param=");
  if (package == "firmware") return FindOutsideTheTree(package, "Firmware_Install_Path_Param=");
  std::optional<std::string> version = FindInTree(package);
  return version ? version : FindInTree(SwapDashes(package));
}

bool SplitPackageVersion(const std::string& text, aclCANNPackageVersion* version) {
  const size_t dash = std::min(text.find('-'), text.size());
  const std::string release = text.substr(0, dash);
  std::string extra = text.substr(std::min(dash + 1, text.size()));
  extra.erase(std::remove(extra.begin(), extra.end(), '.'), extra.end());

  std::vector<std::string> parts;
  for (size_t start = 0; start <= release.size();) {
    const size_t dot = std::min(release.find('.', start), release.size());
    if (dot > start) parts.push_back(release.substr(start, dot - start));
    start = dot + 1;
  }
  if (parts.size() < 2) return false;
  parts.resize(4, "0");
  if (!extra.empty()) parts[3] = extra;

  *version = aclCANNPackageVersion{};
  Store(version->version, extra.empty() ? release : release + "." + extra);
  Store(version->majorVersion, parts[0]);
  Store(version->minorVersion, parts[1]);
  Store(version->releaseVersion, parts[2]);
  Store(version->patchVersion, parts[3]);
  return true;
}

std::optional<int32_t> PackageVersionNumber(const std::string& text) {
  std::string_view rest = text;
  int64_t major = 0, minor = 0, patch = 0;
  // Each part has its own digits of the result, and the result has to fit 32 bits.
  if (!TakeNumber(&rest, 213, &major) || !TakeText(&rest, ".") || !TakeNumber(&rest, 99, &minor) || !TakeText(&rest, ".") ||
      !TakeNumber(&rest, 99, &patch))
    return std::nullopt;
  const std::optional<int64_t> distance = PreRelease(rest);
  if (!distance) return std::nullopt;
  return static_cast<int32_t>(major * 10000000 + minor * 100000 + patch * 1000 + *distance);
}

}  // namespace ropeway::api
