// The grammar of fault rules, and which of many calls a rule strikes.
#include "base/fault_rules.h"

#include <gtest/gtest.h>

#include "base/faults.h"

namespace ropeway {
namespace fault_rules_test {

FaultRule Only(const char* text) {
  FaultRules parsed = ParseFaultRules(text);
  EXPECT_EQ(parsed.wrong, "");
  EXPECT_EQ(parsed.rules.size(), 1u) << text;
  return parsed.rules.empty() ? FaultRule() : parsed.rules.front();
}

TEST(FaultRules, EveryFaultIsRead) {
  struct Row {
    const char* text;
    FaultKind kind;
    int code;
    int64_t delay_ns;
  };
  const Row rows[] = {
      {"aclrtMalloc:207001", FaultKind::kAnswer, 207001, 0},
      {"aclrtMemcpyAsync:fail=507013", FaultKind::kFail, 507013, 0},
      {"*:delay=20ms", FaultKind::kDelay, 0, 20'000'000},
      {"acl*:delay=1.5s", FaultKind::kDelay, 0, 1'500'000'000},
      {"*:delay=3us", FaultKind::kDelay, 0, 3'000},
      {"aclrtMallocHost:memory", FaultKind::kMemory, 0, 0},
      {"*:lost", FaultKind::kLost, 507901, 0},
      {"aclrtSynchronizeStream:lost=507053", FaultKind::kLost, 507053, 0},
      {"put:cut", FaultKind::kCut, 0, 0},
      {"HcclSend:999999", FaultKind::kAnswer, 999999, 0},
  };
  for (const Row& row : rows) {
    const FaultRule rule = Only(row.text);
    EXPECT_EQ(rule.text, row.text);
    EXPECT_EQ(rule.kind, row.kind) << row.text;
    EXPECT_EQ(rule.code, row.code) << row.text;
    EXPECT_EQ(rule.delay_ns, row.delay_ns) << row.text;
  }
}

TEST(FaultRules, EverySelectorIsRead) {
  const FaultRule rule = Only("*:fail=1:after=2:every=3:times=4:chance=0.5:device=7:size=4KiB..1MiB");
  EXPECT_EQ(rule.after, 2u);
  EXPECT_EQ(rule.every, 3u);
  EXPECT_EQ(rule.times, 4u);
  EXPECT_EQ(rule.chance, 0.5);
  EXPECT_EQ(rule.device, 7);
  EXPECT_EQ(rule.least, 4096u);
  EXPECT_EQ(rule.most, 1u << 20);
  EXPECT_EQ(Only("*:memory:size=64").most, UINT64_MAX);
  EXPECT_EQ(Only("get:cut:peer=3").peer, 3);
  EXPECT_EQ(ParseFaultRules("a:1;b:2;").rules.size(), 2u);
  EXPECT_TRUE(ParseFaultRules("").rules.empty());
}

TEST(FaultRules, WhatIsWrongIsToldWithItsPlaceAndWhatIsWanted) {
  struct Row {
    const char* text;
    const char* told;
  };
  const Row rows[] = {
      {"aclrtMalloc",
       "in rule 1, 'aclrtMalloc', at '' fail=CODE, delay=TIME (such as 20ms), memory, lost=CODE, lost, cut or a CODE from 1 to "
       "999999 is wanted"},
      {"aclrtMalloc:207001;:1", "in rule 2, ':1', at '' a function, or the beginning of its name and *, is wanted"},
      {"acl*rt:1", "at 'acl*rt' a function"},
      {"x:0", "at '0' fail=CODE"},
      {"x:1000000", "at '1000000' fail=CODE"},
      {"x:fail=", "at 'fail=' fail=CODE"},
      {"x:delay=20", "at 'delay=20' fail=CODE"},
      {"x:delay=-1ms", "at 'delay=-1ms' fail=CODE"},
      {"x:delay=2h", "at 'delay=2h' fail=CODE"},
      {"x:delay=3601s", "at 'delay=3601s' fail=CODE"},
      {"x:memory=1", "at 'memory=1' fail=CODE"},
      {"x:lost=x", "at 'lost=x' fail=CODE"},
      {"x:1;;y:1", "in rule 2, '', at ''"},
      {"x:1:tims=3", "in rule 1, 'x:1:tims=3', at 'tims=3' after=N, nth=N, every=N, times=N, chance=P (0 to 1) or seed=N is wanted"},
      {"x:1:device=0", "at 'device=0' after=N"},
      {"x:lost:size=1", "at 'size=1' after=N, nth=N, every=N, times=N, chance=P (0 to 1), seed=N or device=ID is wanted"},
      {"x:fail=1:peer=0", "at 'peer=0' after=N"},
      {"x:cut:device=0", "at 'device=0' after=N"},
      {"x:1:after=-1", "at 'after=-1' after=N"},
      {"x:1:nth=0", "at 'nth=0' after=N"},
      {"x:1:every=0", "at 'every=0' after=N"},
      {"x:1:chance=1.1", "at 'chance=1.1' after=N"},
      {"x:1:chance=nan", "at 'chance=nan' after=N"},
      {"x:memory:size=2..1", "at 'size=2..1' after=N"},
      {"x:memory:size=1GB", "at 'size=1GB' after=N"},
      {"x:memory:size=18446744073709551615T", "at 'size=18446744073709551615T' after=N"},
      {"x:1::times=1", "at '' after=N"},
  };
  for (const Row& row : rows) {
    const FaultRules parsed = ParseFaultRules(row.text);
    EXPECT_TRUE(parsed.rules.empty()) << row.text;
    EXPECT_NE(parsed.wrong.find(row.told), std::string::npos) << row.text << ": " << parsed.wrong;
  }
}

// Which of the first twelve calls are struck.
std::string Struck(const char* text, const FaultTarget& target = {"f"}) {
  std::vector<FaultRule> rules = ParseFaultRules(text).rules;
  const FaultKind kind = rules.front().kind;
  std::string calls;
  for (int i = 0; i < 12; ++i) calls += Strike(rules, kind, target) != nullptr ? 'x' : '.';
  return calls;
}

TEST(FaultRules, CountsSelect) {
  EXPECT_EQ(Struck("f:1"), "xxxxxxxxxxxx");
  EXPECT_EQ(Struck("f:1:after=3"), "...xxxxxxxxx");
  EXPECT_EQ(Struck("f:1:nth=4"), "...x........");
  EXPECT_EQ(Struck("f:1:every=5"), "....x....x..");
  EXPECT_EQ(Struck("f:1:after=1:every=3:times=2"), "...x..x.....");
  EXPECT_EQ(Struck("f:1:times=0"), "............");
  EXPECT_EQ(Struck("f:1:chance=0"), "............");
}

TEST(FaultRules, SameSeedSameFaults) {
  EXPECT_EQ(Struck("f:1:chance=0.5:seed=7"), Struck("f:1:chance=0.5:seed=7"));
  EXPECT_EQ(Struck("f:1:chance=0.5"), Struck("f:1:chance=0.5:seed=1"));
  EXPECT_NE(Struck("f:1:chance=0.5:seed=7"), Struck("f:1:chance=0.5:seed=8"));
}

TEST(FaultRules, FunctionDevicePeerAndSizeSelect) {
  constexpr const char *kAll = "xxxxxxxxxxxx", *kNone = "............";
  EXPECT_EQ(Struck("aclrt*:1", {"aclrtMalloc"}), kAll);
  EXPECT_EQ(Struck("aclrt*:1", {"aclInit"}), kNone);
  EXPECT_EQ(Struck("aclrtMalloc:1", {"aclrtMallocHost"}), kNone);
  EXPECT_EQ(Struck("*:fail=1:device=1", {"f", 1}), kAll);
  EXPECT_EQ(Struck("*:fail=1:device=1", {"f", 0}), kNone);
  EXPECT_EQ(Struck("*:memory:device=1", {"f", -1}), kNone);
  EXPECT_EQ(Struck("*:fail=1:size=8..16", {"f", 0, 8}), kAll);
  EXPECT_EQ(Struck("*:fail=1:size=8..16", {"f", 0, 16}), kAll);
  EXPECT_EQ(Struck("*:fail=1:size=8..16", {"f", 0, 7}), kNone);
  EXPECT_EQ(Struck("*:fail=1:size=8..16", {"f", 0, 17}), kNone);
  EXPECT_EQ(Struck("*:cut:peer=2", {"put", -1, 0, 2}), kAll);
  EXPECT_EQ(Struck("*:cut:peer=2", {"put", -1, 0, 1}), kNone);
}

// What a rule does not meet does not count; what another one strikes does.
TEST(FaultRules, OnlyWhatIsMetIsCounted) {
  std::vector<FaultRule> rules = ParseFaultRules("f:1:nth=1;*:2:nth=2;f:fail=3").rules;
  const auto code = [&](const char* function) {
    const FaultRule* const rule = Strike(rules, FaultKind::kAnswer, {function});
    return rule == nullptr ? 0 : rule->code;
  };
  EXPECT_EQ(code("f"), 1);
  EXPECT_EQ(code("g"), 2);
  EXPECT_EQ(code("f"), 0);
}

TEST(FaultRules, TheProcessGoesByThoseThatWereSet) {
  const FaultState before = CurrentFaultState();
  SetFaults("f:fail=5:nth=2");
  EXPECT_TRUE(FaultsAreOn());
  ReadFaults("f:fail=6");  // too late
  EXPECT_FALSE(FaultOf(FaultKind::kFail, {"f"}));
  EXPECT_FALSE(FaultOf(FaultKind::kDelay, {"f"}));
  const auto fault = FaultOf(FaultKind::kFail, {"f"});
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->code, 5);
  EXPECT_STREQ(fault->rule, "f:fail=5:nth=2");
  SetFaults("nonsense");
  EXPECT_EQ(CurrentFaultState(), FaultState::kNone);
  g_fault_state.store(before);
}

}  // namespace fault_rules_test
}  // namespace ropeway
