// What the settings become on a machine with GPUs, and on one without.
#include "runtime/machine.h"

#include <gtest/gtest.h>

namespace ropeway {
namespace machine_test {

Config SomeConfig() {
  return ReadConfig([](const char*) -> const char* { return nullptr; });
}

const Gpus kTwoGpus{2, size_t{100} << 30, "H200"};
const Gpus kNoGpus{0, 0, "no driver"};

TEST(MachineTest, WithoutGpusTheCpuDoesWhatTheSettingsSay) {
  const Machine machine = CompleteConfig(SomeConfig(), kNoGpus);
  EXPECT_EQ(machine.engine, "cpu");
  EXPECT_EQ(machine.reason, "cpu: no driver");
  EXPECT_EQ(machine.devices, 8);
  EXPECT_EQ(machine.device_memory, size_t{64} << 30);
  EXPECT_FALSE(machine.visible.has_value());
}

TEST(MachineTest, AGpuThatIsInsistedOnIsNotReplaced) {
  Config config = SomeConfig();
  config.engine = "cuda";
  const Machine machine = CompleteConfig(config, kNoGpus);
  EXPECT_EQ(machine.engine, "none");
  EXPECT_EQ(machine.reason, "none: ROPEWAY_ENGINE=cuda, but no driver");
  EXPECT_EQ(machine.devices, 0);
}

TEST(MachineTest, TheCpuThatIsAskedForDoesNotMindGpus) {
  Config config = SomeConfig();
  config.engine = "cpu";
  EXPECT_EQ(CompleteConfig(config, kTwoGpus).engine, "cpu");
  EXPECT_EQ(CompleteConfig(config, kTwoGpus).devices, 8);
}

TEST(MachineTest, GpusSayHowManyDevicesAndHowMuchMemory) {
  for (const char* engine : {"auto", "cuda"}) {
    Config config = SomeConfig();
    config.engine = engine;
    const Machine machine = CompleteConfig(config, kTwoGpus);
    EXPECT_EQ(machine.engine, "cuda");
    EXPECT_EQ(machine.reason, "cuda: 2 x H200");
    EXPECT_EQ(machine.devices, 2);
    EXPECT_EQ(machine.device_memory, (size_t{97} << 30));
  }
}

TEST(MachineTest, WhatIsGivenGoesBeforeTheGpus) {
  Config config = SomeConfig();
  config.devices = 8;
  config.devices_set = true;
  EXPECT_EQ(CompleteConfig(config, kTwoGpus).devices, 8);
  EXPECT_EQ(CompleteConfig(config, kTwoGpus).device_memory, (size_t{97} << 30) / 4 >> 21 << 21);  // four share a GPU
  config.device_memory = size_t{1} << 30;
  config.device_memory_set = true;
  EXPECT_EQ(CompleteConfig(config, kTwoGpus).device_memory, size_t{1} << 30);
}

// rules/devices.md 9.
TEST(MachineTest, VisibleDevices) {
  struct Case {
    const char* text;
    std::vector<int> visible;
  };
  const Case kCases[] = {
      {"0", {0}},
      {"0,1,2,3,4,5,6,7", {0, 1, 2, 3, 4, 5, 6, 7}},
      {"5,7", {5, 7}},
      {"1, 2,3", {1}},    // a leading blank is no digit
      {"1,3,8", {1, 3}},  // no such id
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
      {"1,1", {}},  // duplicates
      {"2,1", {}},  // descending
      {"0,2,1,3", {}},
  };
  for (const Case& entry : kCases) {
    Config config = SomeConfig();
    config.visible = entry.text;
    EXPECT_EQ(CompleteConfig(config, kNoGpus).visible, entry.visible) << "\"" << entry.text << "\"";
  }
}

TEST(MachineTest, VisibleDevicesKnowHowManyDevicesThereAre) {
  Config config = SomeConfig();
  config.visible = "0,1,2";
  EXPECT_EQ(CompleteConfig(config, kTwoGpus).visible, (std::vector<int>{0, 1}));
  config.devices = 16;
  config.devices_set = true;
  config.visible = "9,15";
  EXPECT_EQ(CompleteConfig(config, kNoGpus).visible, (std::vector<int>{9, 15}));
  EXPECT_EQ(CompleteConfig(config, kTwoGpus).visible, (std::vector<int>{9, 15}));
}

}  // namespace machine_test
}  // namespace ropeway
