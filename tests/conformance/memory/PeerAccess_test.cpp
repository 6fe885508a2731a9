// aclrtDeviceCanAccessPeer, EnablePeerAccess, DisablePeerAccess, PeerAccessStatus and aclrtMemP2PMap. What a copy makes
// of them is tested in copy/PeerCopy_test.cpp.
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace peer_access_test {

// Needs two devices; device 0 is current. Access is off before and after every test.
class PeerAccess : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    ASSERT_EQ(aclrtGetDeviceCount(&devices_), ACL_SUCCESS);
    if (devices_ < 2) GTEST_SKIP() << "needs two devices, there are " << devices_;
    bad_ids_ = {-1, static_cast<int32_t>(devices_), INT32_MAX, INT32_MIN};
  }
  void TearDown() override {
    if (devices_ >= 2) {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
    }
    DeviceTest::TearDown();
  }
  static int32_t Status(int32_t device, int32_t peer) {
    int32_t status = -7;
    EXPECT_EQ(aclrtDevicePeerAccessStatus(device, peer, &status), ACL_SUCCESS);
    return status;
  }

  uint32_t devices_ = 0;
  std::vector<int32_t> bad_ids_;
};

struct Args : CallArgs {
  int32_t device = 0;
  int32_t peer = 1;
  uint32_t flags = 0;
  bool null_output = false;
};

TEST_F(PeerAccess, CanAccessPeerEarlierCheckWins) {
  int32_t can = -7;
  const std::vector<Check<Args>> checks = {
      {"equal ids", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.peer = a.device; }},
      {"bad peer", ACL_ERROR_RT_INVALID_DEVICEID, [](Args& a) { a.peer = 100000; }},
      {"bad device", ACL_ERROR_RT_INVALID_DEVICEID, [](Args& a) { a.device = 100001; }},
      {"canAccessPeer NULL", ACL_ERROR_RT_PARAM_INVALID, [](Args& a) { a.null_output = true; }},
  };
  auto call = [&](const Args& a) { return aclrtDeviceCanAccessPeer(a.null_output ? nullptr : &can, a.device, a.peer); };
  ExpectCheckOrder("aclrtDeviceCanAccessPeer", Args{}, checks, call, [&] { EXPECT_EQ(can, -7); });
  EXPECT_EQ(can, 1);
}

TEST_F(PeerAccess, EveryPairOfDevicesCanAccessEachOtherAndNoContextIsNeeded) {
  OnFreshThread([&] {
    for (int32_t device = 0; device < static_cast<int32_t>(devices_); ++device) {
      for (int32_t peer = 0; peer < static_cast<int32_t>(devices_); ++peer) {
        int32_t can = -7;
        EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, device, peer), device == peer ? ACL_ERROR_INVALID_PARAM : ACL_SUCCESS);
        EXPECT_EQ(can, device == peer ? -7 : 1);
      }
    }
    for (int32_t bad : bad_ids_) {
      int32_t can = -7;
      EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 0, bad), ACL_ERROR_RT_INVALID_DEVICEID) << bad;
      EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, bad, 0), ACL_ERROR_RT_INVALID_DEVICEID) << bad;
    }
  });
}

TEST_F(PeerAccess, EnableEarlierCheckWins) {
  const std::vector<Check<Args>> checks = {
      {"flags 1", ACL_ERROR_FEATURE_UNSUPPORTED, [](Args& a) { a.flags = 1; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"peer is current", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.peer = 0; }},
      {"bad peer", ACL_ERROR_RT_INVALID_DEVICEID, [](Args& a) { a.peer = 100000; }},
  };
  auto call = [](const Args& a) { return aclrtDeviceEnablePeerAccess(a.peer, a.flags); };
  ExpectCheckOrder("aclrtDeviceEnablePeerAccess", Args{}, checks, call, [&] { EXPECT_EQ(Status(0, 1), 0); });
  EXPECT_EQ(Status(0, 1), 1);
  EXPECT_EQ(Status(1, 0), 0) << "one direction only";
}

TEST_F(PeerAccess, DisableEarlierCheckWins) {
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  const std::vector<Check<Args>> checks = {
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](Args& a) { a.without_context = true; }},
      {"peer is current", ACL_ERROR_INVALID_PARAM, [](Args& a) { a.peer = 0; }},
      {"bad peer", ACL_ERROR_RT_INVALID_DEVICEID, [](Args& a) { a.peer = 100000; }},
  };
  auto call = [](const Args& a) { return aclrtDeviceDisablePeerAccess(a.peer); };
  ExpectCheckOrder("aclrtDeviceDisablePeerAccess", Args{}, checks, call, [&] { EXPECT_EQ(Status(0, 1), 1); });
  EXPECT_EQ(Status(0, 1), 0);
}

TEST_F(PeerAccess, EnablingAndDisablingDoNotCount) {
  EXPECT_EQ(Status(0, 1), 0);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS) << "disabling what is off";
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS) << "enabling twice";
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
  EXPECT_EQ(Status(0, 1), 0) << "one disable ends it";
}

TEST_F(PeerAccess, StatusChecksAndNeedsNoContext) {
  int32_t status = -7;
  const Outcome outcome = Observe([] { return aclrtDevicePeerAccessStatus(0, 1, nullptr); });
  EXPECT_EQ(outcome.code, ACL_ERROR_INVALID_PARAM);
  ExpectReported(outcome, "aclrtDevicePeerAccessStatus");
  EXPECT_EQ(aclrtDevicePeerAccessStatus(-1, -1, nullptr), ACL_ERROR_INVALID_PARAM);
  for (int32_t bad : bad_ids_) {
    EXPECT_EQ(aclrtDevicePeerAccessStatus(bad, 0, &status), ACL_ERROR_RT_PARAM_INVALID) << bad;
    EXPECT_EQ(aclrtDevicePeerAccessStatus(0, bad, &status), ACL_ERROR_RT_PARAM_INVALID) << bad;
  }
  EXPECT_EQ(status, -7);
  EXPECT_EQ(Status(0, 0), 0) << "equal ids";
  EXPECT_EQ(OnFreshThread([] { return Status(0, 1); }), 0);
}

TEST_F(PeerAccess, TextNamesCallArgumentAndValue) {
  ExpectText(ACL_ERROR_FEATURE_UNSUPPORTED, {"aclrtDeviceEnablePeerAccess", "flags", "77"},
             [] { return aclrtDeviceEnablePeerAccess(1, 77); });
  ExpectText(ACL_ERROR_RT_INVALID_DEVICEID, {"aclrtDeviceEnablePeerAccess", "peerDeviceId", "100000"},
             [] { return aclrtDeviceEnablePeerAccess(100000, 0); });
}

struct MapArgs : CallArgs {
  void* ptr;
  size_t size = 64;
  int32_t device = 1;
  uint64_t flags = 0;
};

TEST_F(PeerAccess, P2PMapEarlierCheckWins) {
  DeviceBuffer device(64);
  MapArgs valid;
  valid.ptr = device.get();
  const std::vector<Check<MapArgs>> checks = {
      {"devPtr NULL", ACL_ERROR_INVALID_PARAM, [](MapArgs& a) { a.ptr = nullptr; }},
      {"size 0", ACL_ERROR_INVALID_PARAM, [](MapArgs& a) { a.size = 0; }},
      {"flags 1", ACL_ERROR_INVALID_PARAM, [](MapArgs& a) { a.flags = 1; }},
      {"bad device", ACL_ERROR_RT_INVALID_DEVICEID, [](MapArgs& a) { a.device = 100000; }},
      {"no context", ACL_ERROR_RT_CONTEXT_NULL, [](MapArgs& a) { a.without_context = true; }},
  };
  auto call = [](const MapArgs& a) { return aclrtMemP2PMap(a.ptr, a.size, a.device, a.flags); };
  ExpectCheckOrder("aclrtMemP2PMap", valid, checks, call, [] {});
}

}  // namespace peer_access_test
}  // namespace ropeway_test::bytes
