// Random programs without races against a model that runs them one step after the other: every byte that a program reads back, and every
// answer, is the same on every schedule. A schedule belongs to a process, so the test runs once for each (cmake/tests.cmake).
//
//   ROPEWAY_PROGRAMS=10000 ROPEWAY_SEED=1 ROPEWAY_SCHEDULE=latest build/release/stress_tests --gtest_filter='RandomProgram.*'
//
// runs the programs 1 to 10000; a failure prints the command that runs its program alone. ROPEWAY_PROGRAM_TEXT=1 prints the steps, and
// ROPEWAY_PROGRAM_WITH and ROPEWAY_PROGRAM_WITHOUT put in and take out what they name: free_under_replay, free_cells,
// failing_allocations. A program that hangs is found by the name of its thread, which has its seed.
#include <pthread.h>

#include <cstdlib>
#include <iostream>

#include "tests/stress/program_generator.h"
#include "tests/stress/program_model.h"
#include "tests/stress/program_runner.h"
#include "tests/support/sanitized.h"

namespace ropeway_test {
namespace programs {
namespace {

uint64_t Setting(const char* name, uint64_t standard) {
  const char* text = std::getenv(name);
  return text == nullptr ? standard : std::strtoull(text, nullptr, 10);
}

bool Names(const char* setting, const char* name) {
  const char* text = std::getenv(setting);
  return text != nullptr && std::string(text).find(name) != std::string::npos;
}

Features WantedFeatures() {
  const auto wanted = [](const char* name, bool standard) {
    return (standard || Names("ROPEWAY_PROGRAM_WITH", name)) && !Names("ROPEWAY_PROGRAM_WITHOUT", name);
  };
  const Features standard;
  return {wanted("free_under_replay", standard.free_under_replay), wanted("free_cells", standard.free_cells),
          wanted("failing_allocations", standard.failing_allocations)};
}

std::string HowToRepeat(uint64_t seed) {
  const char* schedule = std::getenv("ROPEWAY_SCHEDULE");
  return "ROPEWAY_PROGRAMS=1 ROPEWAY_SEED=" + std::to_string(seed) + " ROPEWAY_SCHEDULE=" + (schedule == nullptr ? "fast" : schedule) +
         " stress_tests --gtest_filter='RandomProgram.*'";
}

void RunProgram(uint64_t seed, Features features) {
  pthread_setname_np(pthread_self(), ("p" + std::to_string(seed)).substr(0, 15).c_str());
  const Program program = Generator(seed, features).Make();
  const bool tell = Setting("ROPEWAY_PROGRAM_TEXT", 0) != 0;
  Model model;
  Runner runner;
  for (size_t i = 0; i < program.size(); ++i) {
    if (tell) std::cerr << i << ": " << Describe(program[i]) << std::endl;
    const Outcome expected = model.Run(program[i]);
    const Outcome actual = runner.Run(program[i]);
    ASSERT_EQ(actual.code, expected.code) << "step " << i << ": " << Describe(program[i]) << "\n" << HowToRepeat(seed);
    ASSERT_EQ(actual.bytes, expected.bytes) << "step " << i << ": " << Describe(program[i]) << "\n" << HowToRepeat(seed);
  }
}

using RandomProgram = DeviceTest;

TEST_F(RandomProgram, DoesAsTheModel) {
  const uint64_t first = Setting("ROPEWAY_SEED", 20261115);
  const uint64_t count = Setting("ROPEWAY_PROGRAMS", kSanitized ? 40 : 400);
  for (uint64_t seed = first; seed < first + count && !HasFatalFailure(); ++seed) RunProgram(seed, WantedFeatures());
}

}  // namespace
}  // namespace programs
}  // namespace ropeway_test
