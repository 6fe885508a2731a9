// Which row of the table holds, and what goes before it: the row that the user measured, and settings.
#include "engine/cpu/copy_profile.h"

#include <gtest/gtest.h>

namespace ropeway::cpu {
namespace copy_profile_test {

ProfileSources Sources(const std::string& cpu, int cores = 64) { return {cpu, "/home/u/copy_profile", std::nullopt, std::nullopt, cores}; }

#if defined(ROPEWAY_ASAN) || defined(ROPEWAY_TSAN)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

// Rows name methods that this CPU may not have.
std::string Here(const char* method, const char* instead) {
  return kSanitized ? "libc" : FindKernels(method) != nullptr ? method : instead;
}

TEST(CopyProfileTest, KnownCpusHaveTheirRows) {
  const std::string first = kSanitized ? "libc" : KernelsAt(0)->name;
  const ChosenProfile intel = ChooseProfile(Sources("GenuineIntel-6-207"));
  EXPECT_EQ(intel.profile.stream, Here("avx512", first.c_str()));
  EXPECT_STREQ(intel.profile.cached, "libc");
  EXPECT_EQ(intel.profile.lanes, 15);
  EXPECT_EQ(intel.origin, "built in for GenuineIntel-6-207");
  const ChosenProfile amd = ChooseProfile(Sources("AuthenticAMD-25-17"));
  EXPECT_EQ(amd.profile.stream, Here("avx2", first.c_str()));
  EXPECT_GT(amd.profile.ahead, 0u);
  EXPECT_EQ(amd.complaint + intel.complaint, "");
}

TEST(CopyProfileTest, AnUnknownCpuIsTreatedWithCaution) {
  for (const char* cpu : {"GenuineIntel-6-85", "AuthenticAMD-2-1", "arm-0x41-0xd0c", "unknown", ""}) {
    const ChosenProfile chosen = ChooseProfile(Sources(cpu));
    EXPECT_EQ(chosen.profile.ahead, 0u) << cpu;
    EXPECT_EQ(chosen.profile.lanes, 8) << cpu;
    EXPECT_NE(FindKernels(chosen.profile.stream), nullptr) << cpu;
    EXPECT_NE(FindKernels(chosen.profile.cached), nullptr) << cpu;
    EXPECT_NE(chosen.origin.find("is not known"), std::string::npos) << chosen.origin;
  }
}

TEST(CopyProfileTest, ThereAreNoMoreLanesThanCores) {
  for (int cores : {1, 2, 3, 7}) EXPECT_EQ(ChooseProfile(Sources("GenuineIntel-6-207", cores)).profile.lanes, cores);
  EXPECT_EQ(ChooseProfile(Sources("unknown", 0)).profile.lanes, 1);
}

TEST(CopyProfileTest, WhatWasMeasuredGoesBeforeTheTable) {
  ProfileSources sources = Sources("GenuineIntel-6-207");
  const std::string row =
      "stream=libc cached=libc cached_long=libc long_from=4096 ahead=512 ahead_span=2048 stream_from=8192 share_from=65536 "
      "wake_from=131072 lanes=3";
  sources.tuned = "cpu=GenuineIntel-6-207\n" + row + "\n";
  const ChosenProfile chosen = ChooseProfile(sources);
  EXPECT_EQ(AsWords(chosen.profile), row);
  EXPECT_EQ(chosen.origin, "measured by ropeway tune, /home/u/copy_profile");
  EXPECT_EQ(chosen.complaint, "");
}

TEST(CopyProfileTest, AMethodThroughTheCacheIsForLongCopiesTooUnlessTheRowSaysOtherwise) {
  ProfileSources sources = Sources("AuthenticAMD-26-2");
  sources.tuned = "cpu=AuthenticAMD-26-2 cached=libc";
  EXPECT_STREQ(ChooseProfile(sources).profile.cached_long, "libc");
  sources.tuned = std::string("cpu=AuthenticAMD-26-2 cached=libc cached_long=") + KernelsAt(0)->name;
  EXPECT_STREQ(ChooseProfile(sources).profile.cached, "libc");
  EXPECT_STREQ(ChooseProfile(sources).profile.cached_long, kSanitized ? "libc" : KernelsAt(0)->name);
}

TEST(CopyProfileTest, CopiesThroughTheCacheGoByTheirSize) {
  static const char* last;
  static constexpr KernelTable kShort{"short", nullptr, [](void*, const void*, size_t) { last = "short"; }, nullptr, nullptr};
  static constexpr KernelTable kLong{"long", nullptr, [](void*, const void*, size_t) { last = "long"; }, nullptr, nullptr};
  const CopyKernels kernels{nullptr, &kShort, &kLong, 8192, {}};
  kernels.Cached(nullptr, nullptr, 8191);
  EXPECT_STREQ(last, "short");
  kernels.Cached(nullptr, nullptr, 8192);
  EXPECT_STREQ(last, "long");
}

TEST(CopyProfileTest, TheWordsOfAProfileMakeTheSameProfile) {
  ProfileSources sources = Sources("AuthenticAMD-25-1");
  const std::string words = AsWords(ChooseProfile(sources).profile);
  sources.tuned = "cpu=AuthenticAMD-25-1 " + words;
  const ChosenProfile again = ChooseProfile(sources);
  EXPECT_EQ(AsWords(again.profile), words);
  EXPECT_EQ(again.complaint, "");
}

TEST(CopyProfileTest, ARowThatCannotBeUsedIsExplainedAndIgnored) {
  const std::string built_in = AsWords(ChooseProfile(Sources("GenuineIntel-6-207")).profile);
  for (const char* text :
       {"", "lanes=2", "cpu=GenuineIntel-6-85 lanes=2", "cpu=GenuineIntel-6-207 lanes=0", "cpu=GenuineIntel-6-207 lanes=65",
        "cpu=GenuineIntel-6-207 lanes", "cpu=GenuineIntel-6-207 lanes=two", "cpu=GenuineIntel-6-207 ahead=65537",
        "cpu=GenuineIntel-6-207 ahead=-1", "cpu=GenuineIntel-6-207 cached_long=abacus", "cpu=GenuineIntel-6-207 long_from=x",
        "cpu=GenuineIntel-6-207 stream=abacus", "cpu=GenuineIntel-6-207 streams=libc", "cpu=GenuineIntel-6-207 share_from=1",
        "cpu=GenuineIntel-6-207 stream_from=4095", "\xff\xfe"}) {
    ProfileSources sources = Sources("GenuineIntel-6-207");
    sources.tuned = text;
    const ChosenProfile chosen = ChooseProfile(sources);
    EXPECT_EQ(AsWords(chosen.profile), built_in) << text;
    EXPECT_EQ(chosen.complaint.rfind("/home/u/copy_profile is ignored: ", 0), 0u) << chosen.complaint;
    EXPECT_NE(chosen.complaint.find("run ropeway tune, or remove it"), std::string::npos) << chosen.complaint;
  }
}

TEST(CopyProfileTest, TheSettingPinsEveryMethodThatThisCpuHas) {
  for (size_t i = 0; KernelsAt(i) != nullptr; ++i) {
    ProfileSources sources = Sources("GenuineIntel-6-207");
    sources.tuned = "cpu=GenuineIntel-6-207 stream=libc cached=libc";
    sources.method = KernelsAt(i)->name;
    const ChosenProfile chosen = ChooseProfile(sources);
    EXPECT_STREQ(chosen.profile.stream, kSanitized ? "libc" : KernelsAt(i)->name);
    EXPECT_STREQ(chosen.profile.cached, chosen.profile.stream);
    EXPECT_STREQ(chosen.profile.cached_long, chosen.profile.stream);
    EXPECT_NE(chosen.origin.find("ROPEWAY_COPY_METHOD"), std::string::npos) << chosen.origin;
  }
}

TEST(CopyProfileTest, AMethodThatThisCpuLacksIsExplained) {
  ProfileSources sources = Sources("unknown");
  sources.method = "abacus";
  const ChosenProfile chosen = ChooseProfile(sources);
  EXPECT_EQ(AsWords(chosen.profile), AsWords(ChooseProfile(Sources("unknown")).profile));
  EXPECT_EQ(chosen.complaint.rfind("ROPEWAY_COPY_METHOD=abacus cannot be used: this CPU has ", 0), 0u) << chosen.complaint;
}

TEST(CopyProfileTest, ThisCpuHasASignature) {
  EXPECT_FALSE(CpuSignature().empty());
#if defined(__x86_64__)
  EXPECT_NE(CpuSignature(), "unknown");
#endif
}

}  // namespace copy_profile_test
}  // namespace ropeway::cpu
