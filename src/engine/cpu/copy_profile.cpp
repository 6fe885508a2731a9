#include "engine/cpu/copy_profile.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "base/config.h"
#include "base/cores.h"
#include "base/fork.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ropeway::cpu {
namespace {

constexpr size_t kKiB = 1 << 10;
constexpr size_t kMiB = 1 << 20;

struct Row {
  const char* cpus;  // the beginning of signatures
  CopyProfile profile;
};

// Measured with `ropeway tune` and `ropeway bench` (docs/performance.md). A CPU that is not here gets the last row: the methods that lose
// least where they do not win, and few lanes.
constexpr Row kRows[] = {
    // Emerald Rapids, 16 cores: a hint that the source is not wanted again halves every streaming copy here, and libc's `rep movsb` beats
    // all loops through the cache. With a lane for each core the program's own thread is one too many: whoever loses his core keeps all
    // waiting.
    // 143 is the same core one year earlier.
    {"GenuineIntel-6-207", {.stream = "avx512", .cached = "libc", .ahead = 2 * kKiB, .wake_from = kMiB, .lanes = 15}},
    {"GenuineIntel-6-143", {.stream = "avx512", .cached = "libc", .ahead = 2 * kKiB, .wake_from = kMiB, .lanes = 15}},
    // Zen 3 and 4, 2 cores: AVX-512 wins nothing, and asking ahead a tenth.
    {"AuthenticAMD-25-", {.stream = "avx2", .cached = "avx2", .ahead = 3 * kKiB}},
    // Zen 5, 2 cores: asking ahead gains a sixth in blocks of 16 KiB, and costs a tenth behind their first 64. Through the cache, loops of
    // the widest registers beat `rep movsb` by a tenth and more at 4 KiB, and lose a tenth from 32 KiB on.
    {"AuthenticAMD-26-", {.stream = "avx2", .cached = "avx512", .cached_long = "rep_movsb", .ahead = 2 * kKiB, .ahead_span = 16 * kKiB}},
    {"", {.stream = "avx2", .cached = "avx2"}},
};

const Row& RowFor(const std::string& cpu) {
  return *std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& row) { return cpu.rfind(row.cpus, 0) == 0; });
}

struct Number {
  const char* name;
  size_t CopyProfile::*field;
  size_t low;
  size_t high;
};
constexpr Number kNumbers[] = {
    {"long_from", &CopyProfile::long_from, 0, CopyProfile::kNoLimit},
    {"ahead", &CopyProfile::ahead, 0, 64 * kKiB},
    {"ahead_span", &CopyProfile::ahead_span, 0, CopyProfile::kNoLimit},
    {"stream_from", &CopyProfile::stream_from, 4 * kKiB, CopyProfile::kNoLimit},
    {"share_from", &CopyProfile::share_from, 64 * kKiB, CopyProfile::kNoLimit},
    {"wake_from", &CopyProfile::wake_from, 64 * kKiB, CopyProfile::kNoLimit},
};
constexpr size_t kMostLanes = 64;  // as ROPEWAY_LANES has it

const char* Method(const std::string& name) {
  const KernelTable* table = FindKernels(name.c_str());
  return table == nullptr ? nullptr : table->name;
}

std::optional<size_t> ParseNumber(const std::string& text, size_t low, size_t high) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= low && value <= high ? std::optional(value) : std::nullopt;
}

// Takes one word of a row. False: it is none, or not for this CPU. A method through the cache is for long copies, too, until a word behind
// it names another.
bool TakeWord(const std::string& name, const std::string& value, CopyProfile* profile) {
  if (name == "stream" || name == "cached" || name == "cached_long") {
    if (name == "stream") profile->stream = Method(value);
    if (name == "cached") profile->cached = Method(value);
    if (name != "stream") profile->cached_long = Method(value);
    return Method(value) != nullptr;
  }
  if (name == "lanes") {
    const std::optional<size_t> lanes = ParseNumber(value, 1, kMostLanes);
    profile->lanes = static_cast<int>(lanes.value_or(0));
    return lanes.has_value();
  }
  for (const Number& number : kNumbers) {
    if (name != number.name) continue;
    const std::optional<size_t> parsed = ParseNumber(value, number.low, number.high);
    profile->*number.field = parsed.value_or(0);
    return parsed.has_value();
  }
  return false;
}

// What is wrong with the words; empty: nothing, and `profile` has taken them. `cpu` is what they say that this one is.
std::string TakeWords(const std::string& text, CopyProfile* profile, std::string* cpu = nullptr) {
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = std::min(word.find('='), word.size());
    const std::string name = word.substr(0, equals);
    const std::string value = equals < word.size() ? word.substr(equals + 1) : "";
    if (name == "cpu" && cpu != nullptr) {
      *cpu = value;
    } else if (!TakeWord(name, value, profile)) {
      return "'" + word.substr(0, 80) + "' cannot be used";
    }
  }
  return "";
}

// The same of the user's row.
std::string TakeTuned(const std::string& text, const std::string& cpu, CopyProfile* profile) {
  CopyProfile taken = *profile;
  std::string measured_on;
  const std::string wrong = TakeWords(text, &taken, &measured_on);
  if (!measured_on.empty() && measured_on != cpu) return "it was measured on " + measured_on.substr(0, 80) + ", and this is " + cpu;
  if (!wrong.empty()) return wrong;
  if (measured_on.empty()) return "it does not say for which CPU it is";
  *profile = taken;
  return "";
}

std::string MethodsHere() {
  std::string names;
  for (size_t i = 0; KernelsAt(i) != nullptr; ++i) names += (i == 0 ? "" : ", ") + std::string(KernelsAt(i)->name);
  return names;
}

// What the row names must run here: CPUs of a family differ, and virtual machines hide what they have.
void MakeRunnable(CopyProfile* profile) {
  for (const char** method : {&profile->stream, &profile->cached, &profile->cached_long}) {
    if (FindKernels(*method) == nullptr) *method = KernelsAt(0)->name;
  }
}

CopyProfile UnknownCpu() {
  CopyProfile profile = RowFor("").profile;
  MakeRunnable(&profile);
  return profile;
}

// The sanitizers see the user's buffers through memmove and memset, but not through intrinsics.
void KeepToSanitizer([[maybe_unused]] CopyProfile* profile) {
#if defined(ROPEWAY_ASAN) || defined(ROPEWAY_TSAN)
  profile->stream = profile->cached = profile->cached_long = "libc";
#endif
}

std::optional<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  if (path.empty() || !file) return std::nullopt;
  char text[4096];  // a row is a tenth of it
  file.read(text, sizeof(text));
  return std::string(text, static_cast<size_t>(file.gcount()));
}

OwnProfile ReadProfile() {
  const Config& config = GetConfig();
  const std::string folder = UserConfigFolder();
  const std::string path = folder.empty() ? "" : folder + "/ropeway/copy_profile";
  ProfileSources sources{CpuSignature(), path, ReadFile(path), std::nullopt, UsableCores()};
  if (config.copy_method != "auto") sources.method = config.copy_method;
  OwnProfile own{ChooseProfile(sources), sources.cpu, path, ""};
  if (config.lanes > 0) {
    own.profile.lanes = config.lanes;
    own.origin += "; lanes by ROPEWAY_LANES";
  }
  own.text = AsWords(own.profile) + "; " + own.origin + (own.complaint.empty() ? "" : "; ") + own.complaint;
  if (!own.complaint.empty()) fprintf(stderr, "ropeway: %s\n", own.complaint.c_str());
  return own;
}

}  // namespace

std::string CpuSignature() {
#if defined(__x86_64__)
  unsigned most = 0, version = 0, a = 0, b = 0, c = 0, d = 0;
  char vendor[13] = {};
  if (__get_cpuid(0, &most, &b, &c, &d) == 0) return "unknown";
  std::memcpy(vendor, &b, 4);
  std::memcpy(vendor + 4, &d, 4);
  std::memcpy(vendor + 8, &c, 4);
  __get_cpuid(1, &version, &a, &c, &d);
  const unsigned low_family = version >> 8 & 0xF;
  const unsigned family = low_family == 15 ? low_family + (version >> 20 & 0xFF) : low_family;
  const unsigned model = (version >> 4 & 0xF) + (low_family == 6 || low_family == 15 ? (version >> 16 & 0xF) << 4 : 0);
  return std::string(vendor) + "-" + std::to_string(family) + "-" + std::to_string(model);
#elif defined(__aarch64__)
  std::ifstream file("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
  unsigned long long id = 0;
  if (!(file >> std::hex >> id)) return "unknown";
  char text[32];
  snprintf(text, sizeof(text), "arm-0x%llx-0x%llx", id >> 24 & 0xFF, id >> 4 & 0xFFF);
  return text;
#else
  return "unknown";
#endif
}

std::string AsWords(const CopyProfile& profile) {
  std::string text = std::string("stream=") + profile.stream + " cached=" + profile.cached + " cached_long=" + profile.cached_long;
  for (const Number& number : kNumbers) text += std::string(" ") + number.name + "=" + std::to_string(profile.*number.field);
  return text + " lanes=" + std::to_string(profile.lanes);
}

std::optional<CopyProfile> ProfileOf(const std::string& words) {
  CopyProfile profile = UnknownCpu();
  if (!TakeWords(words, &profile).empty()) return std::nullopt;
  KeepToSanitizer(&profile);
  return profile;
}

ChosenProfile ChooseProfile(const ProfileSources& sources) {
  const Row& row = RowFor(sources.cpu);
  ChosenProfile chosen{row.profile,
                       *row.cpus == '\0' ? "built in for any CPU, " + sources.cpu + " is not known" : "built in for " + sources.cpu, ""};
  CopyProfile& profile = chosen.profile;
  MakeRunnable(&profile);
  if (sources.tuned) {
    const std::string wrong = TakeTuned(*sources.tuned, sources.cpu, &profile);
    if (wrong.empty())
      chosen.origin = "measured by ropeway tune, " + sources.tuned_path;
    else
      chosen.complaint = sources.tuned_path + " is ignored: " + wrong + "; run ropeway tune, or remove it";
  }
  if (sources.method && Method(*sources.method) != nullptr) {
    profile.stream = profile.cached = profile.cached_long = Method(*sources.method);
    chosen.origin += "; methods by ROPEWAY_COPY_METHOD";
  } else if (sources.method) {
    chosen.complaint =
        "ROPEWAY_COPY_METHOD=" + *sources.method + " cannot be used: this CPU has " + MethodsHere() + "; used instead: " + profile.stream;
  }
  profile.lanes = std::min(profile.lanes, std::max(1, sources.cores));
  KeepToSanitizer(&profile);
  return chosen;
}

const OwnProfile& ThisProfile() {
  static std::atomic<const OwnProfile*> own{nullptr};
  if (const OwnProfile* known = own.load(std::memory_order_acquire)) return *known;
  const LockGuard lock(fork_lock::start);
  if (own.load(std::memory_order_relaxed) == nullptr) own.store(new OwnProfile(ReadProfile()), std::memory_order_release);
  return *own.load(std::memory_order_relaxed);
}

CopyKernels KernelsOf(const CopyProfile& profile) {
  return {FindKernels(profile.stream),
          FindKernels(profile.cached),
          FindKernels(profile.cached_long),
          profile.long_from,
          {profile.ahead, profile.ahead_span}};
}

}  // namespace ropeway::cpu
