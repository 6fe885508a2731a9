// Ranks as threads of the test: each has its own device, or shares one, and runs the same function.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "hccl/hccl.h"
#include "hccl/hccl_comm.h"
#include "hccl/transport/secure_socket.h"
#include "support/acl_test.h"

namespace ropeway_test {

constexpr int32_t kDevices = 8;

// Runs `body(rank)` on one thread per rank, with device rank % 8 set, and waits for all.
inline void RunRanks(uint32_t size, const std::function<void(uint32_t rank)>& body) {
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < size; ++rank) {
    threads.emplace_back([&body, rank] {
      EXPECT_EQ(aclrtSetDevice(static_cast<int32_t>(rank) % kDevices), ACL_SUCCESS);
      body(rank);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// The same inside a communicator made by root info, with a stream for each rank; destroys both.
struct Rank {
  HcclComm comm = nullptr;
  aclrtStream stream = nullptr;
  uint32_t rank = 0;
  uint32_t size = 0;
};
inline void RunCommunicator(uint32_t size, const std::function<void(Rank& self)>& body) {
  HcclRootInfo root;
  ASSERT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
  RunRanks(size, [&](uint32_t rank) {
    Rank self;
    self.rank = rank;
    self.size = size;
    ASSERT_EQ(HcclCommInitRootInfo(size, &root, rank, &self.comm), HCCL_SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(aclrtCreateStream(&self.stream), ACL_SUCCESS);
    body(self);
    EXPECT_EQ(aclrtDestroyStreamForce(self.stream), ACL_SUCCESS);
    if (self.comm != nullptr) EXPECT_EQ(HcclCommDestroy(self.comm), HCCL_SUCCESS);
  });
}

// All devices are forced down at the end, and nothing may be left behind.
class RanksTest : public BareTest {
 protected:
  void TearDown() override {
    for (int32_t device = 0; device < kDevices; ++device) {
      if (aclrtSetDevice(device) == ACL_SUCCESS) {
        // Ranks of one process switch it on; other tests begin with it off.
        for (int32_t peer = 0; peer < kDevices; ++peer) {
          if (peer != device) aclrtDeviceDisablePeerAccess(peer);
        }
        EXPECT_EQ(aclrtResetDeviceForce(device), ACL_SUCCESS);
      }
    }
    BareTest::TearDown();
  }
};

// Sets a variable for the length of a scope.
class Setting {
 public:
  Setting(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  ~Setting() { unsetenv(name_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* name_;
};

// "tls" is TCP, encrypted, where the plugin is. UCX is left out under TSan: it orders its threads unseen by it.
#if __has_include(<ucp/api/ucp.h>) && !defined(ROPEWAY_TSAN)
constexpr const char* kLinks[] = {"tcp", "tls", "ucx"};
#else
constexpr const char* kLinks[] = {"tcp", "tls"};
#endif

// Ranks use the network inside a host, too, by one of kLinks.
class OverLink {
 public:
  explicit OverLink(const std::string& way)
      : link_("ROPEWAY_HCCL_LINK", way == "tls" ? "tcp" : way), tls_("ROPEWAY_HCCL_TLS", way == "tls" ? "1" : "0") {}
  bool there(std::string* why) const { return !ropeway::comm::TlsWanted() || ropeway::comm::TlsThere(why); }

 private:
  Setting network_{"HCCL_INTRA_ROCE_ENABLE", "1"};
  Setting link_, tls_;
};

// Ranks of one process that reach each other over the network, by every link.
class NetworkRanksTest : public RanksTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    std::string why;
    if (!link_.there(&why)) GTEST_SKIP() << why;
    RanksTest::SetUp();
  }
  const OverLink link_{GetParam()};
};
#define RW_OVER_EVERY_LINK(suite) \
  INSTANTIATE_TEST_SUITE_P(Links, suite, ::testing::ValuesIn(kLinks), [](const auto& link) { return std::string(link.param); })

}  // namespace ropeway_test
