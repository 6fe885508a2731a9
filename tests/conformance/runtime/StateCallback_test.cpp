// Callbacks for devices that come up and go down, and for streams that are made and unmade.
#include <algorithm>

#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test {
namespace state_callback_test {

struct DeviceCall {
  int32_t device;
  aclrtDeviceState state;
  std::thread::id thread;
};

void OnDevice(int32_t device, aclrtDeviceState state, void* calls) {
  static_cast<std::vector<DeviceCall>*>(calls)->push_back({device, state, std::this_thread::get_id()});
}

std::vector<aclrtDeviceState> StatesOf(const std::vector<DeviceCall>& calls) {
  std::vector<aclrtDeviceState> states;
  for (const DeviceCall& call : calls) states.push_back(call.state);
  return states;
}

using DeviceStateCallback = BareTest;

TEST_F(DeviceStateCallback, NullNameIsRejected) {
  EXPECT_EQ(aclrtRegDeviceStateCallback(nullptr, &OnDevice, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtRegDeviceStateCallback(nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(DeviceStateCallback, NameInUseIsRejectedUntilRemoved) {
  std::vector<DeviceCall> calls;
  ASSERT_EQ(aclrtRegDeviceStateCallback("twice", &OnDevice, &calls), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("twice", &OnDevice, &calls), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRegDeviceStateCallback("twice", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("twice", &OnDevice, &calls), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("twice", nullptr, nullptr), ACL_SUCCESS);
}

TEST_F(DeviceStateCallback, RemovingAnAbsentNameSucceeds) {
  EXPECT_EQ(aclrtRegDeviceStateCallback("never registered", nullptr, nullptr), ACL_SUCCESS);
}

TEST_F(DeviceStateCallback, SeesADeviceComeUpAndGoDownOnTheCallingThread) {
  std::vector<DeviceCall> calls;
  ASSERT_EQ(aclrtRegDeviceStateCallback("watch", &OnDevice, &calls), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(StatesOf(calls), (std::vector<aclrtDeviceState>{ACL_RT_DEVICE_STATE_SET_PRE, ACL_RT_DEVICE_STATE_SET_POST}));
  ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtRegDeviceStateCallback("watch", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(StatesOf(calls), (std::vector<aclrtDeviceState>{ACL_RT_DEVICE_STATE_SET_PRE, ACL_RT_DEVICE_STATE_SET_POST,
                                                            ACL_RT_DEVICE_STATE_RESET_PRE, ACL_RT_DEVICE_STATE_RESET_POST}));
  for (const DeviceCall& call : calls) {
    EXPECT_EQ(call.device, 1);
    EXPECT_EQ(call.thread, std::this_thread::get_id());
  }
}

TEST_F(DeviceStateCallback, RemovedOneIsNotCalled) {
  std::vector<DeviceCall> calls;
  ASSERT_EQ(aclrtRegDeviceStateCallback("gone", &OnDevice, &calls), ACL_SUCCESS);
  ASSERT_EQ(aclrtRegDeviceStateCallback("gone", nullptr, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_TRUE(calls.empty());
}

TEST_F(DeviceStateCallback, MayRegisterAndRemoveFromInside) {
  auto remove_itself = [](int32_t, aclrtDeviceState, void* count) {
    ++*static_cast<int*>(count);
    EXPECT_EQ(aclrtRegDeviceStateCallback("self", nullptr, nullptr), ACL_SUCCESS);
  };
  int count = 0;
  ASSERT_EQ(aclrtRegDeviceStateCallback("self", remove_itself, &count), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(count, 1);
}

struct StreamCalls {
  std::vector<std::pair<aclrtStream, aclrtStreamState>> made;
  long Count(aclrtStream stream, aclrtStreamState state) const {
    return std::count(made.begin(), made.end(), std::make_pair(stream, state));
  }
};

void OnStream(aclrtStream stream, aclrtStreamState state, void* calls) {
  static_cast<StreamCalls*>(calls)->made.emplace_back(stream, state);
}

using StreamStateCallback = BareTest;

TEST_F(StreamStateCallback, RegistrationFollowsTheDeviceRules) {
  StreamCalls calls;
  EXPECT_EQ(aclrtRegStreamStateCallback(nullptr, &OnStream, &calls), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtRegStreamStateCallback("twice", &OnStream, &calls), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegStreamStateCallback("twice", &OnStream, &calls), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRegStreamStateCallback("twice", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegStreamStateCallback("twice", nullptr, nullptr), ACL_SUCCESS);
}

TEST_F(StreamStateCallback, NamesOfDevicesAndStreamsAreApart) {
  std::vector<DeviceCall> devices;
  StreamCalls streams;
  ASSERT_EQ(aclrtRegDeviceStateCallback("same", &OnDevice, &devices), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegStreamStateCallback("same", &OnStream, &streams), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("same", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegStreamStateCallback("same", nullptr, nullptr), ACL_SUCCESS);
}

TEST_F(StreamStateCallback, SeesCreationAfterAndDestructionBefore) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  StreamCalls calls;
  ASSERT_EQ(aclrtRegStreamStateCallback("watch", &OnStream, &calls), ACL_SUCCESS);
  aclrtStream one = nullptr, two = nullptr;
  ASSERT_EQ(aclrtCreateStream(&one), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&two), ACL_SUCCESS);
  EXPECT_EQ(calls.Count(one, ACL_RT_STREAM_STATE_CREATE_POST), 1);
  EXPECT_EQ(calls.Count(two, ACL_RT_STREAM_STATE_CREATE_POST), 1);
  ASSERT_EQ(aclrtDestroyStream(one), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStreamForce(two), ACL_SUCCESS);
  EXPECT_EQ(calls.Count(one, ACL_RT_STREAM_STATE_DESTROY_PRE), 1);
  EXPECT_EQ(calls.Count(two, ACL_RT_STREAM_STATE_DESTROY_PRE), 1);
  ASSERT_EQ(aclrtRegStreamStateCallback("watch", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(StreamStateCallback, StreamIsUsableInTheCreationCall) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  auto look = [](aclrtStream stream, aclrtStreamState, void* found) {
    int32_t id = -1;
    *static_cast<bool*>(found) = aclrtStreamGetId(stream, &id) == ACL_SUCCESS;
  };
  bool found = false;
  ASSERT_EQ(aclrtRegStreamStateCallback("look", look, &found), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_TRUE(found);
  found = false;
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_TRUE(found) << "before destruction the handle is still good";
  ASSERT_EQ(aclrtRegStreamStateCallback("look", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(StreamStateCallback, SeesDefaultStreamsToo) {
  StreamCalls calls;
  ASSERT_EQ(aclrtRegStreamStateCallback("watch", &OnStream, &calls), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = DefaultStream();
  EXPECT_EQ(calls.Count(stream, ACL_RT_STREAM_STATE_CREATE_POST), 1);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(calls.Count(stream, ACL_RT_STREAM_STATE_DESTROY_PRE), 1);
  ASSERT_EQ(aclrtRegStreamStateCallback("watch", nullptr, nullptr), ACL_SUCCESS);
}

}  // namespace state_callback_test
}  // namespace ropeway_test
