// How this machine copies best: methods, thresholds and the number of lanes. One row of a small table by CPU family, or the row that
// `ropeway tune` measured for the user; a setting goes before both. Read once, when the library starts.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "engine/cpu/kernels/kernels.h"

namespace ropeway::cpu {

struct CopyProfile {
  const char* stream;  // kernels (kernels.h) for stores around the cache,
  const char* cached;  // and through it
  size_t ahead;        // how far ahead of a streaming copy its source is asked for; 0: it is not
  size_t stream_from;  // single copies of this size and more go around the cache
  size_t share_from;   // and of this size and more are shared with lanes that are awake
  size_t wake_from;    // and for this many bytes a sleeping lane is woken
  int lanes;           // more do not move more bytes
};

// What CPUs are known by here: "GenuineIntel-6-207" (vendor, family, model), "arm-0x41-0xd0c" (implementer, part); "unknown".
std::string CpuSignature();

// A row as words: "stream=avx2 cached=avx2 ahead=3072 ...".
std::string AsWords(const CopyProfile& profile);

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
