// ASCEND_RT_VISIBLE_DEVICES: what each list leaves visible, seen through count, SetDevice and the id conversions.
#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

constexpr int32_t kMachine = 8;

// "0,2" or "-" for each id that `convert` refuses with 107001; any other answer is shown as it is.
std::string Converted(aclError (*convert)(const int32_t, int32_t* const), int32_t count) {
  std::string text;
  for (int32_t id = 0; id < count; ++id) {
    int32_t other = -1;
    aclError result = convert(id, &other);
    text += (id == 0 ? "" : ",");
    text += result == ACL_SUCCESS ? std::to_string(other) : result == ACL_ERROR_RT_INVALID_DEVICEID ? "-" : "!" + std::to_string(result);
  }
  return text;
}

void Report() {
  uint32_t count = 99;
  aclError counted = aclrtGetDeviceCount(&count);
  auto visible = counted == ACL_SUCCESS ? static_cast<int32_t>(count) : 0;
  std::cout << "count " << counted << "/" << count << " set " << aclrtSetDevice(0);
  int32_t device = -1;
  if (aclrtGetDevice(&device) == ACL_SUCCESS) {
    std::cout << " is " << device;
    RW_CHECK_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  }
  std::cout << " past " << aclrtSetDevice(visible) << " logic " << Converted(&aclrtGetLogicDevIdByUserDevId, visible) << " user "
            << Converted(&aclrtGetUserDevIdByLogicDevId, kMachine) << std::endl;
  // The conversions named after physical ids agree with those.
  RW_CHECK_EQ(Converted(&aclrtGetPhyDevIdByUserDevId, visible), Converted(&aclrtGetLogicDevIdByUserDevId, visible));
  RW_CHECK_EQ(Converted(&aclrtGetPhyDevIdByLogicDevId, visible), Converted(&aclrtGetLogicDevIdByUserDevId, visible));
  RW_CHECK_EQ(Converted(&aclrtGetUserDevIdByPhyDevId, kMachine), Converted(&aclrtGetUserDevIdByLogicDevId, kMachine));
  RW_CHECK_EQ(Converted(&aclrtGetLogicDevIdByPhyDevId, kMachine), Converted(&aclrtGetUserDevIdByLogicDevId, kMachine));
}

void LaterChangesHaveNoEffect() {
  uint32_t before = 0, after = 0;
  RW_CHECK_EQ(aclrtGetDeviceCount(&before), ACL_SUCCESS);
  setenv("ASCEND_RT_VISIBLE_DEVICES", "0", 1);
  RW_CHECK_EQ(aclrtGetDeviceCount(&after), ACL_SUCCESS);
  RW_CHECK_EQ(before, 3u);
  RW_CHECK_EQ(after, 3u);
  RW_CHECK_EQ(aclrtSetDevice(2), ACL_SUCCESS);
}

void All() {
  const char* kNothing = "count 207004/99 set 107001 past 107001 logic  user -,-,-,-,-,-,-,-";
  const char* kAll = "count 0/8 set 0 is 0 past 107001 logic 0,1,2,3,4,5,6,7 user 0,1,2,3,4,5,6,7";
  const std::pair<const char*, const char*> lists[] = {
      {nullptr, kAll},
      {"0,1,2,3,4,5,6,7", kAll},
      {"1, 2,3", "count 0/1 set 0 is 0 past 107001 logic 1 user -,0,-,-,-,-,-,-"},
      {"1,3,8", "count 0/2 set 0 is 0 past 107001 logic 1,3 user -,0,-,1,-,-,-,-"},
      {"0,2,4", "count 0/3 set 0 is 0 past 107001 logic 0,2,4 user 0,-,1,-,2,-,-,-"},
      {"5,x,6", "count 0/1 set 0 is 0 past 107001 logic 5 user -,-,-,-,-,0,-,-"},
      {"5,,6", "count 0/1 set 0 is 0 past 107001 logic 5 user -,-,-,-,-,0,-,-"},
      {"7", "count 0/1 set 0 is 0 past 107001 logic 7 user -,-,-,-,-,-,-,0"},
      {"", kNothing},
      {"3,1", kNothing},
      {"2,2", kNothing},
      {"8", kNothing},
      {" 1", kNothing},
      {"-1", kNothing},
      {"all", kNothing},
  };
  for (const auto& [list, expected] : lists) {
    process_test::Child child = process_test::RunSelf("report", {{"ASCEND_RT_VISIBLE_DEVICES", list}});
    std::string name = list == nullptr ? "(unset)" : "'" + std::string(list) + "'";
    if (!child.ExitedWith(0)) process_test::Fail(__FILE__, __LINE__, name + ": " + child.Describe());
    if (child.out != std::string(expected) + "\n") {
      process_test::Fail(__FILE__, __LINE__, name + ": " + child.out + "expected " + expected);
    }
  }
  process_test::ExpectClean("later", {{"ASCEND_RT_VISIBLE_DEVICES", "1,2,3"}});
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All, {{"report", &Report}, {"later", &LaterChangesHaveNoEffect}});
}
