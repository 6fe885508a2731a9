// The table of settings, and what is read by it from a fake environment: every setting with values on both sides of its limits.
#include "base/settings.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/config.h"
#include "base/fault_rules.h"
#include "ropeway/ropeway.h"

namespace ropeway {
namespace settings_test {

std::map<std::string, std::string> g_environment;

const char* FakeLookup(const char* name) {
  const auto found = g_environment.find(name);
  return found == g_environment.end() ? nullptr : found->second.c_str();
}

Config Read(std::map<std::string, std::string> environment) {
  g_environment = std::move(environment);
  return ReadConfig(&FakeLookup);
}

struct Case {
  const char* variable;
  std::vector<const char*> good;  // the limits are among them, and in `bad` what is just beyond
  std::vector<const char*> bad;
};
const Case kCases[] = {
    {"ROPEWAY_ENGINE", {"auto", "cpu", "cuda"}, {"", "gpu", "CPU", "cpu ", "auto cpu"}},
    {"ROPEWAY_DEVICES", {"1", "64", "08"}, {"", "0", "65", "-1", "+1", "8x", " 8", "0x8", "1.0", "99999999999999999999"}},
    {"ROPEWAY_DEVICE_MEMORY",
     {"2097152", "2097152B", "2M", "4096KiB", "3mib", "64G", "1T", "1TiB", "1099511627776"},
     {"", "12", "2097151", "1MiB", "1025GiB", "1099511627777", "2TiB", "12Q", "1GB", "GiB", "-1", "1.5GiB", "17179869184T"}},
    {"ROPEWAY_SOC", {"Ascend910B4", "x"}, {""}},
    {"SOC_VERSION", {"Ascend910B4", "x"}, {""}},
    {"ROPEWAY_LANES", {"1", "64"}, {"", "0", "65", "two"}},
    {"ROPEWAY_COPY_METHOD", {"auto", "avx512", "avx2", "sse2", "rep_movsb", "neon", "libc"}, {"", "AVX2", "memcpy", "avx2,libc"}},
    {"ROPEWAY_CUDA_CTAS", {"1", "1024"}, {"", "0", "1025"}},
    {"ROPEWAY_HOST_ACCESS", {"1", "on", "true", "yes", "0", "off", "false", "no", ""}, {"2", "maybe", "ON", "on "}},
    {"ROPEWAY_STRICT_ALIGNMENT", {"1", "0", ""}, {"2", "64"}},
    {"ROPEWAY_SCHEDULE",
     {"fast", "earliest", "latest", "random:0", "random:18446744073709551615"},
     {"", "LATEST", "slow", "random", "random:", "random:x", "random:-1", "random:18446744073709551616", "fast,latest", "random:SEED"}},
    {"ROPEWAY_TRACE", {"/tmp/t.json", ""}, {}},
    {"ROPEWAY_FAULTS",
     {"", "aclrtMalloc:207001", "*:fail=507013:every=2;aclrtMalloc:memory:size=1MiB", "*:lost", "*:cut:peer=1"},
     {"aclrtMalloc", "aclrtMalloc:", ":1", "*:fail=0", "*:lost:size=1", "*:1;*"}},
    {"ROPEWAY_LOG_LEVEL", {"0", "4"}, {"", "5", "-1", "error"}},
    {"ASCEND_GLOBAL_LOG_LEVEL", {"0", "4"}, {"", "5", "x"}},
    {"ASCEND_SLOG_PRINT_TO_STDOUT", {"0", "1", ""}, {"2", "yess"}},
    {"ASCEND_RT_VISIBLE_DEVICES", {"0,1", ""}, {}},
    {"ASCEND_HOME_PATH", {"/usr", ""}, {}},
    {"PROFILING_MODE", {"dynamic", ""}, {}},
    {"ROPEWAY_PYTHON_EXTENSIONS", {"0", "1"}, {"", "2", "no", "0 1"}},
    {"HCCL_OP_EXPANSION_MODE", {"HOST_TS", "AIV", ""}, {}},
    {"HCCL_DETERMINISTIC", {"false", "true", "strict"}, {"", "1", "yes"}},
    {"HCCL_CONNECT_TIMEOUT",
     {"0.001", "0.5", "30", "1e9", "1000000000"},
     {"", "0", "0.0009", "1000000001", "-1", "long", "5s", "inf", "nan"}},
    {"HCCL_EXEC_TIMEOUT", {"0", "1000000000"}, {"", "-0.001", "1000000001", "5 "}},
    {"HCCL_IF_IP", {"::1", ""}, {}},
    {"HCCL_SOCKET_IFNAME", {"^eth,lo", ""}, {}},
    {"HCCL_IF_BASE_PORT", {"1024", "65520"}, {"", "1023", "65521", "any"}},
    {"HCCL_RDMA_TIMEOUT", {"5", "24"}, {"", "4", "25"}},
    {"HCCL_RDMA_RETRY_CNT", {"1", "7"}, {"", "0", "8"}},
    {"HCCL_INTRA_ROCE_ENABLE", {"0", "1"}, {"", "yes", "2"}},
    {"ROPEWAY_HCCL_LINK", {"tcp", "ucx"}, {"", "rdma"}},
    {"ROPEWAY_HCCL_SECRET", {"rosebud", ""}, {}},
    {"ROPEWAY_HCCL_TLS", {"0", "1"}, {"", "yes", "2"}},
    {"ROPEWAY_HCCL_LINK_TIMEOUT", {"1", "3600"}, {"", "abc", "0", "3601", "2s", "-3"}},
    {"ROPEWAY_HIXL_SECRET", {"rosebud", ""}, {}},
};

template <typename Use>
void ForEveryVariable(Use use) {
  for (const Setting& setting : kSettings) {
    use(setting, setting.variable);
    if (setting.stand_in != nullptr) use(setting, setting.stand_in);
  }
}

TEST(SettingsTest, EveryVariableHasItsGoodAndItsBadValues) {
  size_t variables = 0;
  ForEveryVariable([&](const Setting& setting, const char* variable) {
    const Case& entry = kCases[std::min(variables++, std::size(kCases) - 1)];
    ASSERT_STREQ(entry.variable, variable) << "the cases are not in the order of the table";
    for (const char* value : entry.good) EXPECT_TRUE(Usable(setting, value)) << variable << "=" << value;
    for (const char* value : entry.bad) EXPECT_FALSE(Usable(setting, value)) << variable << "=" << value;
    EXPECT_EQ(entry.bad.empty(), setting.values.kind == SettingValues::kText) << variable;
    EXPECT_LT(Wanted(setting).size(), sizeof(ropewaySetting::wanted)) << variable;
  });
  EXPECT_EQ(variables, std::size(kCases));
}

TEST(SettingsTest, AWrongValueIsNamedWithItsRangeAndWhatIsUsedInstead) {
  ForEveryVariable([&](const Setting& setting, const char* variable) {
    for (const Case& entry : kCases) {
      if (std::strcmp(entry.variable, variable) != 0) continue;
      for (const char* value : entry.bad) {
        g_environment = {{variable, value}};
        const std::vector<std::string> lines = Complaints(setting, &FakeLookup);
        ASSERT_EQ(lines.size(), 1u) << variable << "=" << value;
        const bool rules = setting.values.kind == SettingValues::kFaults;  // which say more
        EXPECT_EQ(lines[0], std::string(variable) + "=" + value +
                                " cannot be used: " + (rules ? ParseFaultRules(value).wrong : Wanted(setting) + " is wanted") +
                                "; used instead: " + (*setting.standard == '\0' ? "nothing" : setting.standard));
      }
      for (const char* value : entry.good) {
        g_environment = {{variable, value}};
        EXPECT_TRUE(Complaints(setting, &FakeLookup).empty()) << variable << "=" << value;
      }
    }
  });
}

std::string ComplaintAbout(SettingName name, std::map<std::string, std::string> environment) {
  g_environment = std::move(environment);
  std::string all;
  for (const std::string& line : Complaints(*name, &FakeLookup)) all += line + "\n";
  return all;
}

TEST(SettingsTest, RangesAreWrittenAsPeopleWriteThem) {
  EXPECT_EQ(Wanted(*SettingName("ROPEWAY_SCHEDULE")), "fast, earliest, latest or random:SEED");
  EXPECT_EQ(Wanted(*SettingName("ROPEWAY_DEVICE_MEMORY")), "a size from 2MiB to 1TiB (such as 64GiB)");
  EXPECT_EQ(Wanted(*SettingName("ROPEWAY_HCCL_LINK_TIMEOUT")), "a number from 1 to 3600");
  EXPECT_EQ(Wanted(*SettingName("HCCL_CONNECT_TIMEOUT")), "a time from 0.001 to 1000000000 seconds (such as 0.5)");
  EXPECT_EQ(Wanted(*SettingName("ROPEWAY_HOST_ACCESS")), "0 or 1");
}

TEST(SettingsTest, AStandInHoldsWhereTheOtherCannotBeUsed) {
  EXPECT_EQ(ComplaintAbout("ROPEWAY_LOG_LEVEL", {{"ROPEWAY_LOG_LEVEL", "9"}, {"ASCEND_GLOBAL_LOG_LEVEL", "1"}}),
            "ROPEWAY_LOG_LEVEL=9 cannot be used: a number from 0 to 4 is wanted; used instead: ASCEND_GLOBAL_LOG_LEVEL=1\n");
  EXPECT_EQ(ComplaintAbout("ROPEWAY_LOG_LEVEL", {{"ROPEWAY_LOG_LEVEL", "2"}, {"ASCEND_GLOBAL_LOG_LEVEL", "x"}}),
            "ASCEND_GLOBAL_LOG_LEVEL=x cannot be used: a number from 0 to 4 is wanted; used instead: 3\n");
  EXPECT_EQ(Read({{"ROPEWAY_LOG_LEVEL", "9"}, {"ASCEND_GLOBAL_LOG_LEVEL", "1"}}).log_level, 1);
  EXPECT_EQ(Read({{"ROPEWAY_LOG_LEVEL", "4"}, {"ASCEND_GLOBAL_LOG_LEVEL", "1"}}).log_level, 4);
  EXPECT_EQ(Read({{"SOC_VERSION", "Ascend910B3"}}).soc_name, "Ascend910B3");
  EXPECT_EQ(Read({{"SOC_VERSION", "Ascend910B3"}, {"ROPEWAY_SOC", "Ascend910B4"}}).soc_name, "Ascend910B4");
}

TEST(SettingsTest, AComplaintIsOneShortLine) {
  const std::string line = ComplaintAbout("ROPEWAY_DEVICES", {{"ROPEWAY_DEVICES", "a\nb\tc" + std::string(1 << 20, 'x')}});
  EXPECT_EQ(line.find("ROPEWAY_DEVICES=a?b?cxxx"), 0u) << line;
  EXPECT_LT(line.size(), 300u);
}

void ExpectStandard(const Config& config, const std::string& why) {
  EXPECT_EQ(config.engine, "auto") << why;
  EXPECT_EQ(config.devices, 8) << why;
  EXPECT_EQ(config.device_memory, size_t{64} << 30) << why;
  EXPECT_FALSE(config.devices_set || config.device_memory_set) << why;
  EXPECT_EQ(config.soc_name, "Ascend910B1") << why;
  EXPECT_EQ(config.lanes, 0) << why;
  EXPECT_EQ(config.cuda_ctas, 16) << why;
  EXPECT_FALSE(config.host_access || config.strict_alignment || config.log_to_stdout) << why;
  EXPECT_EQ(config.schedule, ScheduleKind::kFast) << why;
  EXPECT_EQ(config.trace_file, "") << why;
  EXPECT_EQ(config.log_level, 3) << why;
  EXPECT_FALSE(config.visible.has_value()) << why;
}

TEST(ConfigTest, WithoutAVariableAndWithAWrongOneTheStandardsHold) {
  ExpectStandard(Read({}), "nothing is set");
  for (const Case& entry : kCases)
    for (const char* value : entry.bad) ExpectStandard(Read({{entry.variable, value}}), std::string(entry.variable) + "=" + value);
}

TEST(ConfigTest, EverySettingIsRead) {
  const Config config = Read({{"ROPEWAY_ENGINE", "cpu"},
                              {"ROPEWAY_DEVICES", "3"},
                              {"ROPEWAY_DEVICE_MEMORY", "2GiB"},
                              {"ROPEWAY_SOC", "Ascend910_9391"},
                              {"ROPEWAY_LANES", "5"},
                              {"ROPEWAY_CUDA_CTAS", "7"},
                              {"ROPEWAY_HOST_ACCESS", "1"},
                              {"ROPEWAY_STRICT_ALIGNMENT", "on"},
                              {"ROPEWAY_SCHEDULE", "random:18446744073709551615"},
                              {"ROPEWAY_TRACE", "/tmp/t.json"},
                              {"ROPEWAY_LOG_LEVEL", "0"},
                              {"ASCEND_SLOG_PRINT_TO_STDOUT", "1"},
                              {"ASCEND_RT_VISIBLE_DEVICES", "0,2"}});
  EXPECT_EQ(config.engine, "cpu");
  EXPECT_EQ(config.devices, 3);
  EXPECT_EQ(config.device_memory, size_t{2} << 30);
  EXPECT_TRUE(config.devices_set && config.device_memory_set);
  EXPECT_EQ(config.soc_name, "Ascend910_9391");
  EXPECT_EQ(config.lanes, 5);
  EXPECT_EQ(config.cuda_ctas, 7);
  EXPECT_TRUE(config.host_access && config.strict_alignment && config.log_to_stdout);
  EXPECT_EQ(config.schedule, ScheduleKind::kRandom);
  EXPECT_EQ(config.schedule_seed, UINT64_MAX);
  EXPECT_EQ(config.trace_file, "/tmp/t.json");
  EXPECT_EQ(config.log_level, 0);
  EXPECT_EQ(config.visible, "0,2");
  EXPECT_EQ(Read({{"ROPEWAY_SCHEDULE", "earliest"}}).schedule, ScheduleKind::kEarliest);
  EXPECT_EQ(Read({{"ROPEWAY_SCHEDULE", "latest"}}).schedule, ScheduleKind::kLatest);
}

TEST(ConfigTest, SizesTakeUnits) {
  const std::pair<const char*, uint64_t> kSizes[] = {{"2097152", 2u << 20}, {"2097152B", 2u << 20},    {"4096K", 4u << 20},
                                                     {"3mib", 3u << 20},    {"1T", uint64_t{1} << 40}, {"64GiB", uint64_t{64} << 30}};
  for (auto [text, bytes] : kSizes) EXPECT_EQ(Read({{"ROPEWAY_DEVICE_MEMORY", text}}).device_memory, bytes) << text;
}

TEST(ConfigTest, SwitchesTakeTheUsualWords) {
  for (const char* on : {"1", "on", "true", "yes"}) EXPECT_TRUE(Read({{"ROPEWAY_HOST_ACCESS", on}}).host_access) << on;
  for (const char* off : {"0", "off", "false", "no", ""}) EXPECT_FALSE(Read({{"ROPEWAY_HOST_ACCESS", off}}).host_access) << off;
}

}  // namespace settings_test
}  // namespace ropeway
