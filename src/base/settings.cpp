#include "base/settings.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "base/fault_rules.h"
#include "base/parse.h"

namespace ropeway {
namespace {

using Kind = SettingValues::Kind;

const char* Environment(const char* variable) { return std::getenv(variable); }

// A value of the kinds that are numbers; a switch is 0 or 1.
std::optional<double> Parse(Kind kind, std::string_view text) {
  if (kind == Kind::kSeconds) return ParseNumber<double>(text);
  if (kind == Kind::kBytes) return ParseBytes(text);
  if (kind == Kind::kNumber) return ParseNumber<uint64_t>(text);
  if (text == "1" || text == "on" || text == "true" || text == "yes") return 1;
  if (text == "0" || text == "off" || text == "false" || text == "no" || text.empty()) return 0;
  return std::nullopt;
}

std::vector<std::string_view> Split(std::string_view words) {
  std::vector<std::string_view> all;
  for (size_t end = 0; !words.empty(); words.remove_prefix(std::min(end + 1, words.size()))) {
    end = std::min(words.find('|'), words.size());
    all.push_back(words.substr(0, end));
  }
  return all;
}

// "random:SEED" is any number behind "random:".
bool IsWord(std::string_view word, std::string_view value) {
  const size_t colon = word.find(':');
  if (colon == std::string_view::npos) return word == value;
  return value.substr(0, colon + 1) == word.substr(0, colon + 1) && ParseNumber<uint64_t>(value.substr(colon + 1));
}

std::string Show(Kind kind, double number) {
  const auto* unit = std::end(kByteUnits) - 1;
  if (kind == Kind::kBytes) unit = std::find_if(std::begin(kByteUnits), unit, [&](const ByteUnit& one) { return number >= one.bytes; });
  char text[32];
  snprintf(text, sizeof(text), "%.10g%s", number / unit->bytes, unit->name);
  return text;
}

// The standard as a value: what stands behind a comma is for people.
std::string Standard(const Setting& setting) {
  const std::string_view text = setting.standard;
  return std::string(text.substr(0, text.find(',')));
}

// A value as one line, and not a page of it.
std::string Printable(std::string_view value) {
  std::string text(value.substr(0, 80));
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, '?');
  return text;
}

void SayOnce(const Setting& setting) {
  static std::atomic<bool> said[kSettings.size()];
  const std::vector<std::string> complaints = Complaints(setting, &Environment);
  if (complaints.empty() || said[&setting - kSettings.data()].exchange(true)) return;
  for (const std::string& line : complaints) fprintf(stderr, "ropeway: %s\n", line.c_str());
}

}  // namespace

bool Usable(const Setting& setting, std::string_view value) {
  const SettingValues& values = setting.values;
  if (values.kind == Kind::kText) return true;
  if (values.kind == Kind::kFaults) return ParseFaultRules(value).wrong.empty();
  if (values.kind == Kind::kName) return !value.empty();
  if (values.kind == Kind::kWords) {
    const std::vector<std::string_view> words = Split(values.placeholder);
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return IsWord(word, value); });
  }
  const std::optional<double> number = Parse(values.kind, value);
  return number && (values.kind == Kind::kSwitch || (*number >= values.low && *number <= values.high));
}

// The same for this value, where more can be said of it.
static std::string WantedInsteadOf(const Setting& setting, std::string_view value) {
  return setting.values.kind == Kind::kFaults ? ParseFaultRules(value).wrong : Wanted(setting) + " is wanted";
}

std::string Wanted(const Setting& setting) {
  const SettingValues& values = setting.values;
  const std::string range = " from " + Show(values.kind, values.low) + " to " + Show(values.kind, values.high);
  switch (values.kind) {
    case Kind::kNumber: return "a number" + range;
    case Kind::kSeconds: return "a time" + range + " seconds (such as 0.5)";
    case Kind::kBytes: return "a size" + range + " (such as 64GiB)";
    case Kind::kSwitch: return "0 or 1";
    case Kind::kName: return "a name";
    case Kind::kText: return "a text";
    case Kind::kFaults: return "rules FUNCTION:FAULT[:SELECTOR...], with ; between them";
    case Kind::kWords: break;
  }
  std::string text;
  const std::vector<std::string_view> words = Split(values.placeholder);
  for (size_t i = 0; i < words.size(); ++i) text.append(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ").append(words[i]);
  return text;
}

std::optional<std::string> GivenSetting(SettingName name, Lookup lookup) {
  const Setting& setting = *name;
  if (lookup == nullptr) SayOnce(setting);
  for (const char* variable : {setting.variable, setting.stand_in}) {
    const char* value = variable == nullptr ? nullptr : (lookup == nullptr ? &Environment : lookup)(variable);
    if (value != nullptr && Usable(setting, value)) return value;
  }
  return std::nullopt;
}

std::vector<std::string> Complaints(const Setting& setting, Lookup lookup) {
  std::vector<std::string> lines;
  std::string instead = *setting.standard == '\0' ? "nothing" : setting.standard;
  for (const char* variable : {setting.stand_in, setting.variable}) {
    const char* value = variable == nullptr ? nullptr : lookup(variable);
    if (value == nullptr) continue;
    if (Usable(setting, value))
      instead = std::string(variable) + "=" + Printable(value);
    else
      lines.push_back(std::string(variable) + "=" + Printable(value) + " cannot be used: " + WantedInsteadOf(setting, value) +
                      "; used instead: " + instead);
  }
  return lines;
}

std::string SettingText(SettingName name, Lookup lookup) { return GivenSetting(name, lookup).value_or(Standard(*name)); }

double SettingNumber(SettingName name, Lookup lookup) { return Parse((*name).values.kind, SettingText(name, lookup)).value_or(0); }

const char* ForeignVariable(const char* variable) { return Environment(variable); }

std::string UserConfigFolder() {
  const auto absolute = [](const char* path) { return path != nullptr && *path == '/' ? std::string(path) : ""; };
  const std::string given = absolute(Environment("XDG_CONFIG_HOME"));
  const std::string home = absolute(Environment("HOME"));
  return !given.empty() || home.empty() ? given : home + "/.config";
}

}  // namespace ropeway
