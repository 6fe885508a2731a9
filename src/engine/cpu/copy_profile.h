// How this machine copies best: methods, thresholds and the number of lanes. One row of a small table by CPU family, or the row that
// `ropeway tune` measured for the user; a setting goes before both. Read once, when the library starts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/cpu/kernels/kernels.h"

namespace ropeway::cpu {

struct CopyProfile {
  static constexpr size_t kNoLimit = size_t{1} << 30;

  const char* stream;                      // kernels (kernels.h) for stores around the cache,
  const char* cached;                      // and through it,
  const char* cached_long = cached;        // and also through it for long copies,
  size_t long_from = size_t{16} << 10;     // which are of this size and more
  size_t ahead = 0;                        // how far ahead of a streaming copy its source is asked for; 0: it is not
  size_t ahead_span = kNoLimit;            // and how much of its beginning
  size_t stream_from = size_t{256} << 10;  // single copies of this size and more go around the cache
  size_t share_from = size_t{256} << 10;   // and of this size and more are shared with lanes that are awake
  size_t wake_from = size_t{2} << 20;      // and for this many bytes a sleeping lane is woken
  int lanes = 8;                           // more do not move more bytes
};

// What CPUs are known by here: "GenuineIntel-6-207" (vendor, family, model), "arm-0x41-0xd0c" (implementer, part); "unknown".
std::string CpuSignature();

// A row as words: "stream=avx2 cached=avx2 cached_long=avx2 ...".
std::string AsWords(const CopyProfile& profile);

// And back; what is not said is as for a CPU that is not known. Nothing: some word cannot be used here.
std::optional<CopyProfile> ProfileOf(const std::string& words);

// Where a profile is looked for.
struct ProfileSources {
  std::string cpu;                    // signature
  std::string tuned_path;             // for messages
  std::optional<std::string> tuned;   // what stands there: "cpu=SIGNATURE", then AsWords; nothing: there is no such file
  std::optional<std::string> method;  // that the setting names
  int cores;                          // that may be used
};
struct ChosenProfile {
  CopyProfile profile;
  std::string origin;     // for people: which row it is
  std::string complaint;  // what cannot be used, and why; empty: nothing
};
ChosenProfile ChooseProfile(const ProfileSources& sources);

// The process's. What is wrong with it is said on stderr, once.
struct OwnProfile : ChosenProfile {
  std::string cpu;   // signature
  std::string path;  // where `ropeway tune` keeps its row; empty: the user has no home
  std::string text;  // all of it in one line, for people
};
const OwnProfile& ThisProfile();

// What the profile names, ready for use.
CopyKernels KernelsOf(const CopyProfile& profile);

}  // namespace ropeway::cpu
