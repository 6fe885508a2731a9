// ReadConfig from a fake environment: what each setting accepts, and what bad values do.
#include "base/config.h"

#include <gtest/gtest.h>

#include <map>

namespace ropeway {
namespace config_test {

std::map<std::string, std::string> g_environment;

const char* Lookup(const char* name) {
  auto it = g_environment.find(name);
  return it == g_environment.end() ? nullptr : it->second.c_str();
}

Config Read(std::map<std::string, std::string> environment) {
  g_environment = std::move(environment);
  return ReadConfig(&Lookup);
}

TEST(ConfigTest, WithoutAnyVariableTheDefaultsHold) {
  const Config config = Read({});
  EXPECT_EQ(config.engine, "auto");
  EXPECT_EQ(config.devices, 8);
  EXPECT_EQ(config.device_memory, Config::kDefaultDeviceMemory);
  EXPECT_EQ(config.soc_name, "Ascend910B1");
  EXPECT_EQ(config.lanes, 0);
  EXPECT_FALSE(config.host_access);
  EXPECT_FALSE(config.strict_alignment);
  EXPECT_EQ(config.schedule, ScheduleKind::kFast);
  EXPECT_EQ(config.trace_file, "");
  EXPECT_EQ(config.log_level, 3);
  EXPECT_FALSE(config.log_to_stdout);
  EXPECT_FALSE(config.visible_set);
  EXPECT_TRUE(config.complaints.empty());
}

TEST(ConfigTest, EverySettingIsRead) {
  const Config config = Read({{"ROPEWAY_ENGINE", "cpu"},
                              {"ROPEWAY_DEVICES", "3"},
                              {"ROPEWAY_DEVICE_MEMORY", "2GiB"},
                              {"ROPEWAY_SOC", "Ascend910_9391"},
                              {"ROPEWAY_LANES", "5"},
                              {"ROPEWAY_HOST_ACCESS", "1"},
                              {"ROPEWAY_STRICT_ALIGNMENT", "on"},
                              {"ROPEWAY_SCHEDULE", "latest"},
                              {"ROPEWAY_TRACE", "/tmp/t.json"},
                              {"ROPEWAY_LOG_LEVEL", "0"},
                              {"ASCEND_SLOG_PRINT_TO_STDOUT", "1"},
                              {"ASCEND_RT_VISIBLE_DEVICES", "0,2"}});
  EXPECT_EQ(config.engine, "cpu");
  EXPECT_EQ(config.devices, 3);
  EXPECT_EQ(config.device_memory, size_t{2} << 30);
  EXPECT_EQ(config.soc_name, "Ascend910_9391");
  EXPECT_EQ(config.lanes, 5);
  EXPECT_TRUE(config.host_access);
  EXPECT_TRUE(config.strict_alignment);
  EXPECT_EQ(config.schedule, ScheduleKind::kLatest);
  EXPECT_EQ(config.trace_file, "/tmp/t.json");
  EXPECT_EQ(config.log_level, 0);
  EXPECT_TRUE(config.log_to_stdout);
  EXPECT_TRUE(config.visible_set);
  EXPECT_EQ(config.visible, (std::vector<int>{0, 2}));
  EXPECT_TRUE(config.complaints.empty());
}

TEST(ConfigTest, BadValuesAreComplainedAboutAndIgnored) {
  const std::pair<const char*, std::vector<const char*>> kBad[] = {
      {"ROPEWAY_ENGINE", {"gpu", "", "CPU"}},
      {"ROPEWAY_DEVICES", {"0", "65", "-1", "8x", "", " 8", "0x8", "99999999999999999999"}},
      {"ROPEWAY_DEVICE_MEMORY", {"1MiB", "2TiB", "12Q", "GiB", "", "-1", "1.5GiB", "99999999999999999999", "17179869184T"}},
      {"ROPEWAY_SOC", {""}},
      {"SOC_VERSION", {""}},
      {"ROPEWAY_LANES", {"0", "65", "two", ""}},
      {"ROPEWAY_HOST_ACCESS", {"2", "maybe", "ON "}},
      {"ROPEWAY_STRICT_ALIGNMENT", {"2", "64"}},
      {"ROPEWAY_SCHEDULE", {"", "slow", "random", "random:", "random:x", "random:-1", "Fast"}},
      {"ROPEWAY_LOG_LEVEL", {"5", "-1", "error", ""}},
      {"ASCEND_GLOBAL_LOG_LEVEL", {"5", "x"}},
      {"ASCEND_SLOG_PRINT_TO_STDOUT", {"2", "yess"}},
  };
  for (const auto& [name, values] : kBad) {
    for (const char* value : values) {
      const Config config = Read({{name, value}});
      ASSERT_EQ(config.complaints.size(), 1u) << name << "=" << value;
      EXPECT_NE(config.complaints[0].find(std::string(name) + "=" + value), std::string::npos) << config.complaints[0];
      const Config standard = Read({});
      EXPECT_EQ(config.engine, standard.engine);
      EXPECT_EQ(config.devices, standard.devices);
      EXPECT_EQ(config.device_memory, standard.device_memory);
      EXPECT_EQ(config.soc_name, standard.soc_name);
      EXPECT_EQ(config.lanes, standard.lanes);
      EXPECT_EQ(config.host_access, standard.host_access);
      EXPECT_EQ(config.strict_alignment, standard.strict_alignment);
      EXPECT_EQ(config.schedule, standard.schedule);
      EXPECT_EQ(config.log_level, standard.log_level);
      EXPECT_EQ(config.log_to_stdout, standard.log_to_stdout);
    }
  }
}

TEST(ConfigTest, SizesTakeUnits) {
  const std::pair<const char*, uint64_t> kSizes[] = {
      {"2097152", 2u << 20}, {"2097152B", 2u << 20},          {"4096K", 4u << 20},            {"4096KiB", 4u << 20},
      {"3M", 3u << 20},      {"3mib", 3u << 20},              {"64G", uint64_t{64} << 30},    {"64GiB", uint64_t{64} << 30},
      {"1T", uint64_t{1} << 40}, {"1TiB", uint64_t{1} << 40}, {"2MiB", 2u << 20},             {"1073741824", 1u << 30},
  };
  for (auto [text, bytes] : kSizes) {
    const Config config = Read({{"ROPEWAY_DEVICE_MEMORY", text}});
    EXPECT_EQ(config.device_memory, bytes) << text;
    EXPECT_TRUE(config.complaints.empty()) << text;
  }
}

TEST(ConfigTest, SwitchesTakeTheUsualWords) {
  for (const char* on : {"1", "on", "true", "yes"}) EXPECT_TRUE(Read({{"ROPEWAY_HOST_ACCESS", on}}).host_access) << on;
  for (const char* off : {"0", "off", "false", "no", ""}) {
    const Config config = Read({{"ROPEWAY_HOST_ACCESS", off}});
    EXPECT_FALSE(config.host_access) << off;
    EXPECT_TRUE(config.complaints.empty()) << off;
  }
}

TEST(ConfigTest, SchedulesAndTheirSeed) {
  EXPECT_EQ(Read({{"ROPEWAY_SCHEDULE", "fast"}}).schedule, ScheduleKind::kFast);
  EXPECT_EQ(Read({{"ROPEWAY_SCHEDULE", "earliest"}}).schedule, ScheduleKind::kEarliest);
  const Config config = Read({{"ROPEWAY_SCHEDULE", "random:18446744073709551615"}});
  EXPECT_EQ(config.schedule, ScheduleKind::kRandom);
  EXPECT_EQ(config.schedule_seed, UINT64_MAX);
}

TEST(ConfigTest, OurNamesWinOverTheVendors) {
  EXPECT_EQ(Read({{"SOC_VERSION", "Ascend910B3"}}).soc_name, "Ascend910B3");
  EXPECT_EQ(Read({{"SOC_VERSION", "Ascend910B3"}, {"ROPEWAY_SOC", "Ascend910B4"}}).soc_name, "Ascend910B4");
  EXPECT_EQ(Read({{"ASCEND_GLOBAL_LOG_LEVEL", "1"}}).log_level, 1);
  EXPECT_EQ(Read({{"ASCEND_GLOBAL_LOG_LEVEL", "1"}, {"ROPEWAY_LOG_LEVEL", "4"}}).log_level, 4);
}

// runtime.md 2.9.
TEST(ConfigTest, VisibleDevices) {
  struct Case {
    const char* text;
    std::vector<int> visible;
  };
  const Case kCases[] = {
      {"0", {0}},
      {"0,1,2,3,4,5,6,7", {0, 1, 2, 3, 4, 5, 6, 7}},
      {"5,7", {5, 7}},
      {"1, 2,3", {1}},     // a leading blank is no digit
      {"1,3,8", {1, 3}},   // no such id
      {"1,,2", {1}},
      {"1,", {1}},
      {"1,x", {1}},
      {"1,-1", {1}},
      {"1,+2", {1}},
      {"2,1x", {2}},
      {"1,99999999999999999999", {1}},
      {"01", {1}},
      {"", {}},
      {",0", {}},
      {" 0", {}},
      {"8", {}},
      {"-1", {}},
      {"1,1", {}},         // duplicates
      {"2,1", {}},         // descending
      {"0,2,1,3", {}},
  };
  for (const Case& entry : kCases) {
    const Config config = Read({{"ASCEND_RT_VISIBLE_DEVICES", entry.text}});
    EXPECT_TRUE(config.visible_set) << entry.text;
    EXPECT_EQ(config.visible, entry.visible) << "\"" << entry.text << "\"";
  }
}

TEST(ConfigTest, VisibleDevicesKnowHowManyDevicesThereAre) {
  EXPECT_EQ(Read({{"ROPEWAY_DEVICES", "2"}, {"ASCEND_RT_VISIBLE_DEVICES", "0,1,2"}}).visible, (std::vector<int>{0, 1}));
  EXPECT_EQ(Read({{"ROPEWAY_DEVICES", "16"}, {"ASCEND_RT_VISIBLE_DEVICES", "9,15"}}).visible, (std::vector<int>{9, 15}));
}

}  // namespace config_test
}  // namespace ropeway
