// Engines in one process: every check in its order, states, and all kinds of transfers.
#include "hixl/hixl.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>
#include <unordered_map>

#include "adxl/adxl_engine.h"
#include "tests/hixl/engines.h"

namespace hixl_test {

using namespace hixl_tests;
using hixl::Status;

// --- Numbers and layouts ------------------------------------------------------------------------------------------------

static_assert(sizeof(ge::AscendString) == 16);
static_assert(sizeof(Hixl) == 8 && sizeof(adxl::AdxlEngine) == 8);
static_assert(sizeof(hixl::MemDesc) == 144 && sizeof(adxl::MemDesc) == 144);
static_assert(sizeof(hixl::TransferOpDesc) == 24 && sizeof(adxl::TransferOpDesc) == 24);
static_assert(sizeof(hixl::TransferArgs) == 128 && sizeof(adxl::TransferArgs) == 128);
static_assert(sizeof(hixl::NotifyDesc) == 32 && sizeof(adxl::NotifyDesc) == 32);
static_assert(sizeof(hixl::GetTransferStatusArgs) == 128 && sizeof(hixl::TransferResult) == 128);
static_assert(offsetof(hixl::TransferResult, status) == 16 && offsetof(hixl::GetTransferStatusArgs, skip_waiting) == 4);
static_assert(sizeof(adxl::ShareableHandle) == 128);
static_assert(hixl::PARAM_INVALID == 103900 && hixl::TIMEOUT == 103901 && hixl::NOT_CONNECTED == 103902);
static_assert(hixl::ALREADY_CONNECTED == 103903 && hixl::NOTIFY_FAILED == 103904 && hixl::UNSUPPORTED == 103905);
static_assert(hixl::RESOURCE_EXHAUSTED == 203900 && hixl::FAILED == 503900);
static_assert(static_cast<int>(hixl::TransferStatus::FAILED) == 3 && static_cast<int>(hixl::AsyncConnectStatus::DISCONNECTING) == 6);

TEST(AscendStringTest, ComparesAsDocumented) {
  const AscendString none, also_none(nullptr), empty(""), a("a"), ab("ab", 2), nul("a\0b", 3);
  EXPECT_STREQ(none.GetString(), "");
  EXPECT_EQ(none.GetLength(), 0u);
  EXPECT_EQ(nul.GetLength(), 3u);
  EXPECT_TRUE(none == also_none && none <= also_none && !(none < also_none));
  EXPECT_TRUE(none != empty && none < empty && empty > none && empty < a && a < ab && ab >= a);
  EXPECT_TRUE(none == nullptr && none != "" && empty == "" && empty != nullptr && a == "a" && a != "b");
  EXPECT_EQ(ab.Find(AscendString("b")), 1u);
  EXPECT_EQ(ab.Find(none), std::string::npos);
  EXPECT_EQ(none.Hash(), empty.Hash());
  std::unordered_map<AscendString, int> map;
  map[AscendString("a")] = 1;
  EXPECT_EQ(map.count(a), 1u);
  EXPECT_EQ(AscendString(a).GetString(), a.GetString());  // copies share
}

// --- Two engines --------------------------------------------------------------------------------------------------------

class HixlTest : public testing::Test {
 protected:
  void Begin(const Options& options = {}) {
    ASSERT_EQ(a_.Initialize(a_name_.c_str(), options), hixl::SUCCESS) << aclGetRecentErrMsg();
    ASSERT_EQ(b_.Initialize(b_name_.c_str(), options), hixl::SUCCESS) << aclGetRecentErrMsg();
  }
  // With memory of 64 KiB on each side.
  void BeginConnected(const Options& options = {}) {
    Begin(options);
    Register(a_, here_);
    there_handle_ = Register(b_, there_);
    ASSERT_EQ(a_.Connect(b_name_.c_str()), hixl::SUCCESS) << aclGetRecentErrMsg();
  }
  Status Move(hixl::TransferOp operation, size_t block = 1024, size_t count = 64) {
    return a_.TransferSync(b_name_.c_str(), operation, Scattered(here_.at(), there_.at(), block, count), 20000);
  }
  hixl::TransferReq Start(const void* user_data = nullptr) {
    hixl::TransferReq request = nullptr;
    hixl::TransferArgs arguments;
    arguments.user_data = user_data;
    EXPECT_EQ(a_.TransferAsync(b_name_.c_str(), hixl::WRITE, Scattered(here_.at(), there_.at(), 1024, 64), arguments, request),
              hixl::SUCCESS)
        << aclGetRecentErrMsg();
    return request;
  }
  hixl::TransferStatus Await(hixl::TransferReq request) {
    hixl::TransferStatus status;
    do EXPECT_EQ(a_.GetTransferStatus(request, status), hixl::SUCCESS);
    while (status == hixl::TransferStatus::WAITING);
    return status;
  }

  const aclError device_ = aclrtSetDevice(0);  // before there is memory
  const std::string a_name_ = FreeName(), b_name_ = FreeName();
  Memory here_{Memory::kDevice, 64 << 10}, there_{Memory::kDevice, 64 << 10};
  Hixl a_, b_;  // gone before the memory is
  hixl::MemHandle there_handle_ = nullptr;
};

// --- Checks -------------------------------------------------------------------------------------------------------------

// What is wrong with a call, in the order in which it is looked for; each row has all that comes later wrong, too, where that can be.
struct CheckRow {
  const char* what;
  std::function<Status(Hixl&)> call;
  Status answer;
};

TEST_F(HixlTest, CallsBeforeInitializeAndBehindFinalizeFail) {
  const hixl::TransferOpDesc good{here_.at(), there_.at(), 16};
  hixl::MemHandle handle = nullptr;
  hixl::TransferReq request = nullptr;
  hixl::TransferStatus status = hixl::TransferStatus::COMPLETED;
  hixl::AsyncConnectStatus connect;
  std::map<AscendString, hixl::AsyncConnectStatus> all;
  std::vector<hixl::TransferResult> results;
  std::vector<hixl::NotifyDesc> notifies;
  const std::vector<CheckRow> rows = {
      {"RegisterMem",
       [&](Hixl& e) {
         return e.RegisterMem({0, 0, {}}, hixl::MEM_DEVICE, handle);
       },
       hixl::FAILED},
      {"DeregisterMem", [&](Hixl& e) { return e.DeregisterMem(nullptr); }, hixl::FAILED},
      {"Connect", [&](Hixl& e) { return e.Connect("nonsense", 0); }, hixl::FAILED},
      {"Disconnect", [&](Hixl& e) { return e.Disconnect("nonsense", 0); }, hixl::FAILED},
      {"ConnectAsync", [&](Hixl& e) { return e.ConnectAsync("nonsense", 0); }, hixl::FAILED},
      {"DisconnectAsync", [&](Hixl& e) { return e.DisconnectAsync("nonsense", 0); }, hixl::FAILED},
      {"GetAsyncConnectStatus", [&](Hixl& e) { return e.GetAsyncConnectStatus("nonsense", connect); }, hixl::FAILED},
      {"GetAsyncConnectStatus of all", [&](Hixl& e) { return e.GetAsyncConnectStatus(all); }, hixl::FAILED},
      {"TransferSync", [&](Hixl& e) { return e.TransferSync("nonsense", hixl::READ, {good}, 0); }, hixl::FAILED},
      {"TransferAsync", [&](Hixl& e) { return e.TransferAsync("nonsense", hixl::READ, {}, {}, request); }, hixl::FAILED},
      {"GetTransferStatus", [&](Hixl& e) { return e.GetTransferStatus(request, status); }, hixl::FAILED},
      {"GetTransferStatus of all", [&](Hixl& e) { return e.GetTransferStatus(hixl::GetTransferStatusArgs(), results); }, hixl::FAILED},
      {"SendNotify",
       [&](Hixl& e) {
         return e.SendNotify("nonsense", {std::string(2000, 'x').c_str(), ""}, 0);
       },
       hixl::FAILED},
      {"GetNotifies", [&](Hixl& e) { return e.GetNotifies(notifies); }, hixl::FAILED},
  };
  for (const CheckRow& row : rows) EXPECT_EQ(row.call(a_), row.answer) << row.what;
  EXPECT_EQ(status, hixl::TransferStatus::FAILED);
  a_.Finalize();  // nothing to do
  ASSERT_EQ(a_.Initialize(a_name_.c_str(), {}), hixl::SUCCESS);
  a_.Finalize();
  a_.Finalize();
  for (const CheckRow& row : rows) EXPECT_EQ(row.call(a_), row.answer) << row.what << " behind Finalize";
  EXPECT_EQ(a_.Initialize(a_name_.c_str(), {}), hixl::SUCCESS) << "again";
}

TEST_F(HixlTest, NamesAreChecked) {
  const auto initialize = [&](const char* name) {
    Hixl engine;
    return engine.Initialize(name, {});
  };
  for (const char* const good : {"127.0.0.1", "127.0.0.1:0", "127.0.0.1:-1", "[::1]", a_name_.c_str()})
    EXPECT_EQ(initialize(good), hixl::SUCCESS) << good;
  for (const char* const bad : {"", "localhost", "localhost:1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "::1", "[::1", "[::1]x",
                                "[127.0.0.1]:1", "127.0.0:1"})
    EXPECT_EQ(initialize(bad), hixl::PARAM_INVALID) << bad;
  EXPECT_EQ(initialize("192.0.2.1:12345"), hixl::FAILED) << "no address of this host";
  Begin();
  EXPECT_EQ(initialize(a_name_.c_str()), hixl::FAILED) << "taken";
}

TEST_F(HixlTest, OptionsAreChecked) {
  const std::vector<std::pair<Options, Status>> rows = {
      {{{"AutoConnect", "1"}}, hixl::SUCCESS},
      {{{"AutoConnect", "2"}}, hixl::PARAM_INVALID},
      {{{"adxl.AutoConnect", "1"}}, hixl::PARAM_INVALID},
      {{{"NoSuchKey", "1"}}, hixl::PARAM_INVALID},
      {{{"BufferPool", "0:0"}}, hixl::SUCCESS},
      {{{"adxl.BufferPool", "4:8"}}, hixl::SUCCESS},
      {{{"BufferPool", "4:0"}}, hixl::PARAM_INVALID},
      {{{"BufferPool", "4"}}, hixl::PARAM_INVALID},
      {{{"RdmaTrafficClass", "132"}, {"RdmaServiceLevel", "7"}}, hixl::SUCCESS},
      {{{"adxl.RdmaTrafficClass", ""}}, hixl::SUCCESS},
      {{{"RdmaTrafficClass", "133"}}, hixl::PARAM_INVALID},
      {{{"RdmaTrafficClass", "256"}}, hixl::PARAM_INVALID},
      {{{"adxl.RdmaServiceLevel", "8"}}, hixl::PARAM_INVALID},
      {{{"EnableUseFabricMem", "1"}}, hixl::SUCCESS},
      {{{"EnableUseFabricMem", "x"}}, hixl::PARAM_INVALID},
      {{{"adxl.LocalCommRes", R"({"version":"1.3"})"}}, hixl::SUCCESS},
      {{{"LocalCommRes", "{"}}, hixl::PARAM_INVALID},
      {{{"GlobalResourceConfig", R"({"connect_pool.thread_num":"4","other":[],"fabric_memory":{"task_stream_num":8}})"}}, hixl::SUCCESS},
      {{{"GlobalResourceConfig", R"({"connect_pool.thread_num":65})"}}, hixl::PARAM_INVALID},
      {{{"GlobalResourceConfig", R"({"fabric_memory":{"task_stream_num":9}})"}}, hixl::PARAM_INVALID},
      {{{"GlobalResourceConfig", "[]"}}, hixl::PARAM_INVALID},
  };
  for (const auto& [options, answer] : rows) {
    Hixl engine;
    EXPECT_EQ(engine.Initialize("127.0.0.1", options), answer)
        << options.begin()->first.GetString() << " " << options.begin()->second.GetString();
  }
}

TEST_F(HixlTest, RegistrationsAreChecked) {
  Begin();
  hixl::MemHandle handle = nullptr, same = nullptr;
  const auto add = [&](uintptr_t address, size_t size, hixl::MemType type) { return a_.RegisterMem({address, size, {}}, type, handle); };
  EXPECT_EQ(add(0, 0, hixl::MEM_DEVICE), hixl::PARAM_INVALID);
  EXPECT_EQ(add(UINTPTR_MAX, 2, hixl::MEM_DEVICE), hixl::PARAM_INVALID);
  EXPECT_EQ(add(here_.at(), 0, hixl::MEM_DEVICE), hixl::PARAM_INVALID);
  EXPECT_EQ(add(here_.at(), 16, static_cast<hixl::MemType>(2)), hixl::PARAM_INVALID);
  EXPECT_EQ(add(here_.at(), 16, hixl::MEM_HOST), hixl::PARAM_INVALID) << "device memory";
  EXPECT_EQ(add(here_.at(), size_t{1} << 40, hixl::MEM_DEVICE), hixl::PARAM_INVALID) << "leaves its block";
  ASSERT_EQ(add(here_.at(1000), 1000, hixl::MEM_DEVICE), hixl::SUCCESS);
  EXPECT_NE(handle, nullptr);
  ASSERT_EQ(a_.RegisterMem({here_.at(1000), 1000, {}}, hixl::MEM_DEVICE, same), hixl::SUCCESS);
  EXPECT_EQ(same, handle);
  EXPECT_EQ(a_.RegisterMem({here_.at(1999), 10, {}}, hixl::MEM_DEVICE, same), hixl::PARAM_INVALID);
  EXPECT_EQ(a_.RegisterMem({here_.at(500), 501, {}}, hixl::MEM_DEVICE, same), hixl::PARAM_INVALID);
  EXPECT_EQ(a_.RegisterMem({here_.at(2000), 10, {}}, hixl::MEM_DEVICE, same), hixl::SUCCESS) << "adjacent";
  EXPECT_EQ(a_.DeregisterMem(nullptr), hixl::PARAM_INVALID);
  ASSERT_EQ(a_.Connect(b_name_.c_str()), hixl::SUCCESS);
  EXPECT_EQ(a_.DeregisterMem(handle), hixl::FAILED) << "connected";
  ASSERT_EQ(a_.Disconnect(b_name_.c_str()), hixl::SUCCESS);
  EXPECT_EQ(a_.DeregisterMem(handle), hixl::SUCCESS);
  EXPECT_EQ(a_.DeregisterMem(handle), hixl::SUCCESS) << "again";
}

TEST_F(HixlTest, ConnectsAndTransfersAreCheckedInOrder) {
  Begin();
  Register(a_, here_);
  Register(b_, there_);
  const char* const remote = b_name_.c_str();
  const std::string nobody = FreeName();
  const hixl::TransferOpDesc good{here_.at(), there_.at(), 16}, null_local{0, there_.at(), 16}, null_remote{here_.at(), 0, 16};
  const hixl::TransferOpDesc empty{here_.at(), there_.at(), 0}, far_local{here_.at(1), there_.at(), here_.size()},
      far_remote{here_.at(), there_.at(1), there_.size()};
  hixl::TransferReq request = nullptr;
  const std::string most(1024, 'x'), more(1025, 'x');
  const std::vector<CheckRow> rows = {
      {"time limit before name", [&](Hixl& e) { return e.Connect(a_name_.c_str(), 0); }, hixl::PARAM_INVALID},
      {"itself", [&](Hixl& e) { return e.Connect(a_name_.c_str(), 1000); }, hixl::PARAM_INVALID},
      {"no name", [&](Hixl& e) { return e.Connect("nonsense", 1000); }, hixl::PARAM_INVALID},
      {"no port", [&](Hixl& e) { return e.Connect("127.0.0.1", 1000); }, hixl::PARAM_INVALID},
      {"nobody there", [&](Hixl& e) { return e.Connect(nobody.c_str(), 1000); }, hixl::FAILED},
      {"other host", [&](Hixl& e) { return e.Connect("192.0.2.1:1", 1000); }, hixl::FAILED},
      {"disconnect: limit before link", [&](Hixl& e) { return e.Disconnect(remote, -1); }, hixl::PARAM_INVALID},
      {"disconnect: no link", [&](Hixl& e) { return e.Disconnect(remote); }, hixl::NOT_CONNECTED},
      {"transfer: limit before addresses", [&](Hixl& e) { return e.TransferSync(remote, hixl::READ, {null_local}, 0); },
       hixl::PARAM_INVALID},
      {"transfer: addresses before link",
       [&](Hixl& e) {
         return e.TransferSync(remote, hixl::READ, {good, null_local});
       },
       hixl::PARAM_INVALID},
      {"transfer: addresses before link", [&](Hixl& e) { return e.TransferSync(remote, hixl::READ, {null_remote}); }, hixl::PARAM_INVALID},
      {"transfer: link before list", [&](Hixl& e) { return e.TransferSync(remote, hixl::READ, {}); }, hixl::NOT_CONNECTED},
      {"transfer: link", [&](Hixl& e) { return e.TransferAsync(remote, hixl::READ, {good}, {}, request); }, hixl::NOT_CONNECTED},
      {"notify: name before link",
       [&](Hixl& e) {
         return e.SendNotify(remote, {more.c_str(), ""});
       },
       hixl::PARAM_INVALID},
      {"notify: limit before link",
       [&](Hixl& e) {
         return e.SendNotify(remote, {"", ""}, 0);
       },
       hixl::PARAM_INVALID},
      {"notify: message before link",
       [&](Hixl& e) {
         return e.SendNotify(remote, {"", more.c_str()});
       },
       hixl::PARAM_INVALID},
      {"notify: link",
       [&](Hixl& e) {
         return e.SendNotify(remote, {most.c_str(), most.c_str()});
       },
       hixl::NOT_CONNECTED},
      {"connect", [&](Hixl& e) { return e.Connect(remote); }, hixl::SUCCESS},
      {"twice", [&](Hixl& e) { return e.Connect(remote); }, hixl::ALREADY_CONNECTED},
      {"empty list", [&](Hixl& e) { return e.TransferSync(remote, hixl::READ, {}); }, hixl::PARAM_INVALID},
      {"no operation", [&](Hixl& e) { return e.TransferSync(remote, static_cast<hixl::TransferOp>(7), {good}); }, hixl::PARAM_INVALID},
      {"len 0",
       [&](Hixl& e) {
         return e.TransferSync(remote, hixl::READ, {good, empty});
       },
       hixl::PARAM_INVALID},
      {"outside here",
       [&](Hixl& e) {
         return e.TransferSync(remote, hixl::WRITE, {good, far_local});
       },
       hixl::PARAM_INVALID},
      {"outside there", [&](Hixl& e) { return e.TransferAsync(remote, hixl::WRITE, {far_remote}, {}, request); }, hixl::PARAM_INVALID},
      {"good", [&](Hixl& e) { return e.TransferSync(remote, hixl::WRITE, {good}, 20000); }, hixl::SUCCESS},
      {"notify",
       [&](Hixl& e) {
         return e.SendNotify(remote, {most.c_str(), most.c_str()}, 20000);
       },
       hixl::SUCCESS},
      {"disconnect", [&](Hixl& e) { return e.Disconnect(remote); }, hixl::SUCCESS},
      {"disconnect twice", [&](Hixl& e) { return e.Disconnect(remote); }, hixl::NOT_CONNECTED},
  };
  for (const CheckRow& row : rows) EXPECT_EQ(row.call(a_), row.answer) << row.what << ": " << aclGetRecentErrMsg();
}

TEST_F(HixlTest, TextsNameCallAndCause) {
  Begin();
  EXPECT_EQ(a_.Connect("10.1.2.3", 1000), hixl::PARAM_INVALID);
  const std::string text = aclGetRecentErrMsg();
  for (const char* const word : {"Hixl::Connect", "10.1.2.3", "no port", "PARAM_INVALID"})
    EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST_F(HixlTest, CapabilitiesAreTold) {
  int32_t value = 7;
  EXPECT_EQ(Hixl::GetCapability(static_cast<hixl::FeatureType>(-1), value), hixl::PARAM_INVALID);
  EXPECT_EQ(Hixl::GetCapability(hixl::AUTO_CONNECT, value), hixl::SUCCESS);
  EXPECT_EQ(value, hixl::FEATURE_SUPPORTED);
  EXPECT_EQ(adxl::AdxlEngine::GetCapability(adxl::CLIENT_SERVER_COMM, value), adxl::SUCCESS);
  EXPECT_EQ(value, adxl::FEATURE_SUPPORTED);
  EXPECT_EQ(Hixl::GetCapability(static_cast<hixl::FeatureType>(2), value), hixl::SUCCESS);
  EXPECT_EQ(value, hixl::FEATURE_NOT_SUPPORTED);
}

// --- Transfers ----------------------------------------------------------------------------------------------------------

class TransferKinds : public HixlTest, public testing::WithParamInterface<std::tuple<Memory::Kind, Memory::Kind, bool>> {};

TEST_P(TransferKinds, BytesArrive) {
  const auto [here_kind, there_kind, network] = GetParam();
  setenv("HCCL_INTRA_ROCE_ENABLE", network ? "1" : "0", 1);
  constexpr size_t kBlock = 3000, kCount = 128;
  Memory here(here_kind, kBlock * kCount), there(there_kind, kBlock * kCount);
  Begin();
  Register(a_, here);
  Register(b_, there);
  ASSERT_EQ(a_.Connect(b_name_.c_str()), hixl::SUCCESS) << aclGetRecentErrMsg();
  const auto descriptors = Scattered(here.at(), there.at(), kBlock, kCount);
  here.Fill(3);
  there.Fill(9);
  ASSERT_EQ(a_.TransferSync(b_name_.c_str(), hixl::WRITE, descriptors, 20000), hixl::SUCCESS) << aclGetRecentErrMsg();
  const std::vector<uint8_t> written = there.Read();
  for (size_t i = 0; i < kCount; ++i)
    for (size_t byte : {size_t{0}, kBlock / 2, kBlock - 1})
      ASSERT_EQ(written[(i * 7 + 1) % kCount * kBlock + byte], Memory::Byte(3, i * kBlock + byte)) << i;
  here.Fill(0);
  hixl::TransferReq request = nullptr;
  ASSERT_EQ(a_.TransferAsync(b_name_.c_str(), hixl::READ, descriptors, {}, request), hixl::SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(Await(request), hixl::TransferStatus::COMPLETED);
  const std::vector<uint8_t> read = here.Read();
  for (size_t i = 0; i < read.size(); ++i) ASSERT_EQ(read[i], Memory::Byte(3, i)) << i;
  unsetenv("HCCL_INTRA_ROCE_ENABLE");
  a_.Finalize();
  b_.Finalize();
}

INSTANTIATE_TEST_SUITE_P(All, TransferKinds,
                         testing::Combine(testing::Values(Memory::kDevice, Memory::kPinned, Memory::kPageable),
                                          testing::Values(Memory::kDevice, Memory::kPinned, Memory::kPageable), testing::Bool()));

TEST_F(HixlTest, TransferBetweenTwoDevices) {
  Begin();
  Register(a_, here_);
  here_.Fill(5);
  const std::vector<uint8_t> bytes = here_.Read();
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  const std::string name = FreeName();
  {
    Memory other(Memory::kDevice, 64 << 10);
    Hixl c;
    ASSERT_EQ(c.Initialize(name.c_str(), {}), hixl::SUCCESS);
    Register(c, other);
    ASSERT_EQ(a_.Connect(name.c_str()), hixl::SUCCESS);
    EXPECT_EQ(a_.TransferSync(name.c_str(), hixl::WRITE, {{here_.at(), other.at(), here_.size()}}, 20000), hixl::SUCCESS)
        << aclGetRecentErrMsg();
    EXPECT_EQ(other.Read(), bytes);
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    EXPECT_EQ(device, 1) << "the caller's context is back";
    a_.Finalize();
  }
  ASSERT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST_F(HixlTest, TransferOverAdjacentRegionsAndWhatWasRegisteredLater) {
  Begin();
  hixl::MemHandle handle;
  const size_t half = here_.size() / 2;
  Register(a_, here_);
  ASSERT_EQ(b_.RegisterMem({there_.at(), half, {}}, hixl::MEM_DEVICE, handle), hixl::SUCCESS);
  ASSERT_EQ(a_.Connect(b_name_.c_str()), hixl::SUCCESS);
  const hixl::TransferOpDesc all{here_.at(), there_.at(), here_.size()};
  EXPECT_EQ(a_.TransferSync(b_name_.c_str(), hixl::WRITE, {all}), hixl::PARAM_INVALID) << "half of it is not registered";
  ASSERT_EQ(b_.RegisterMem({there_.at(half), half, {}}, hixl::MEM_DEVICE, handle), hixl::SUCCESS);
  here_.Fill(8);
  EXPECT_EQ(a_.TransferSync(b_name_.c_str(), hixl::WRITE, {all}, 20000), hixl::SUCCESS) << aclGetRecentErrMsg();
  EXPECT_EQ(there_.Read(), here_.Read());
  ASSERT_EQ(b_.DeregisterMem(handle), hixl::SUCCESS) << "nobody is connected from there";
  EXPECT_EQ(a_.TransferSync(b_name_.c_str(), hixl::WRITE, {all}), hixl::PARAM_INVALID) << "it is gone when the call returns";
}

TEST_F(HixlTest, TransferStatusIsToldOnce) {
  BeginConnected();
  int one = 0, two = 0;
  const hixl::TransferReq first = Start(&one), second = Start(&two);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, second);
  EXPECT_EQ(Await(second), hixl::TransferStatus::COMPLETED);
  hixl::TransferStatus status = hixl::TransferStatus::WAITING;
  EXPECT_EQ(a_.GetTransferStatus(second, status), hixl::PARAM_INVALID) << "consumed";
  EXPECT_EQ(status, hixl::TransferStatus::FAILED);
  EXPECT_EQ(a_.GetTransferStatus(hixl::TransferReq{nullptr}, status), hixl::FAILED);
  std::vector<hixl::TransferResult> results(3);
  hixl::GetTransferStatusArgs none;
  none.max_query_count = 0;
  EXPECT_EQ(a_.GetTransferStatus(none, results), hixl::SUCCESS);
  EXPECT_TRUE(results.empty());
  const hixl::TransferReq third = Start(&two);
  hixl::GetTransferStatusArgs settled;
  settled.skip_waiting = true;
  std::vector<hixl::TransferResult> told;
  while (told.size() < 2) {
    EXPECT_EQ(a_.GetTransferStatus(settled, results), hixl::SUCCESS);
    told.insert(told.end(), results.begin(), results.end());
  }
  EXPECT_EQ(told[0].req, first);
  EXPECT_EQ(told[0].user_data, &one);
  EXPECT_EQ(told[1].req, third);
  EXPECT_EQ(told[1].status, hixl::TransferStatus::COMPLETED);
  EXPECT_EQ(a_.GetTransferStatus(settled, results), hixl::SUCCESS);
  EXPECT_TRUE(results.empty());
  const hixl::TransferReq last = Start();
  EXPECT_EQ(a_.Disconnect(b_name_.c_str()), hixl::SUCCESS);
  EXPECT_EQ(a_.GetTransferStatus(last, status), hixl::PARAM_INVALID) << "forgotten with its link";
}

TEST_F(HixlTest, TransferFailuresStayUntilTheLinkIsMadeAnew) {
  BeginConnected();
  ASSERT_EQ(Move(hixl::WRITE), hixl::SUCCESS);
  b_.Finalize();
  Status status = hixl::SUCCESS;
  do status = Move(hixl::WRITE);
  while (status == hixl::SUCCESS);  // until the news has come
  EXPECT_EQ(status, hixl::FAILED);
  ASSERT_EQ(b_.Initialize(b_name_.c_str(), {}), hixl::SUCCESS);
  Register(b_, there_);
  EXPECT_EQ(Move(hixl::WRITE), hixl::FAILED) << "still the old link";
  EXPECT_EQ(a_.Connect(b_name_.c_str()), hixl::ALREADY_CONNECTED);
  EXPECT_EQ(a_.Disconnect(b_name_.c_str()), hixl::SUCCESS);
  EXPECT_EQ(a_.Connect(b_name_.c_str()), hixl::SUCCESS);
  EXPECT_EQ(Move(hixl::WRITE), hixl::SUCCESS) << aclGetRecentErrMsg();
}

TEST_F(HixlTest, TransferConnectsByItself) {
  Begin({{"AutoConnect", "1"}});
  Register(a_, here_);
  Register(b_, there_);
  std::vector<std::thread> threads;  // one of them makes the link, and all use it
  std::atomic<int> good{0};
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { good += Move(hixl::READ) == hixl::SUCCESS ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 4) << aclGetRecentErrMsg();
  EXPECT_EQ(a_.SendNotify(b_name_.c_str(), {"a", "b"}, 20000), hixl::SUCCESS);
  EXPECT_EQ(a_.TransferSync(b_name_.c_str(), hixl::READ, {}), hixl::PARAM_INVALID);
  EXPECT_EQ(a_.SendNotify(b_name_.c_str(), {"a", "b"}), hixl::NOT_CONNECTED) << "the failure has dropped the link";
  b_.Finalize();
  EXPECT_EQ(Move(hixl::READ), hixl::FAILED);
  ASSERT_EQ(b_.Initialize(b_name_.c_str(), {}), hixl::SUCCESS);
  Register(b_, there_);
  hixl::TransferReq request = Start();
  EXPECT_EQ(Await(request), hixl::TransferStatus::COMPLETED);
}

TEST_F(HixlTest, TransfersOfManyThreadsAtOnce) {
  BeginConnected();
  ASSERT_EQ(b_.Connect(a_name_.c_str()), hixl::SUCCESS) << "both ways";
  here_.Fill(1);
  there_.Fill(1);
  std::vector<std::thread> threads;
  std::atomic<int> bad{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        if (i % 2 == 0) {
          bad += Move(round % 2 == 0 ? hixl::READ : hixl::WRITE) == hixl::SUCCESS ? 0 : 1;
          continue;
        }
        bad += Await(Start()) == hixl::TransferStatus::COMPLETED ? 0 : 1;
        bad += b_.SendNotify(a_name_.c_str(), {"n", "m"}, 20000) == hixl::SUCCESS ? 0 : 1;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(bad, 0) << aclGetRecentErrMsg();
  std::vector<hixl::NotifyDesc> notifies;
  EXPECT_EQ(a_.GetNotifies(notifies), hixl::SUCCESS);
  EXPECT_EQ(notifies.size(), 40u);
}

// --- Notifies, and what needs no program to wait ------------------------------------------------------------------------

TEST_F(HixlTest, NotifiesComeInOrderUpToALimit) {
  BeginConnected();
  constexpr int kMost = 4096;
  for (int i = 0; i < kMost; ++i) ASSERT_EQ(a_.SendNotify(b_name_.c_str(), {"name", std::to_string(i).c_str()}, 20000), hixl::SUCCESS);
  EXPECT_EQ(a_.SendNotify(b_name_.c_str(), {"name", "too many"}, 20000), hixl::RESOURCE_EXHAUSTED);
  std::vector<hixl::NotifyDesc> notifies(3);
  ASSERT_EQ(b_.GetNotifies(notifies), hixl::SUCCESS);
  ASSERT_EQ(notifies.size(), static_cast<size_t>(kMost)) << "replaced";
  for (int i = 0; i < kMost; ++i) ASSERT_EQ(notifies[static_cast<size_t>(i)].notify_msg, AscendString(std::to_string(i).c_str()));
  ASSERT_EQ(b_.GetNotifies(notifies), hixl::SUCCESS);
  EXPECT_TRUE(notifies.empty());
}

TEST_F(HixlTest, ConnectsLater) {
  Begin();
  const auto await = [&](const std::string& peer, hixl::AsyncConnectStatus wanted) {
    hixl::AsyncConnectStatus status;
    do EXPECT_EQ(a_.GetAsyncConnectStatus(peer.c_str(), status), hixl::SUCCESS);
    while (status != wanted && status != hixl::AsyncConnectStatus::CONNECT_FAILED);
    EXPECT_EQ(status, wanted);
  };
  EXPECT_EQ(a_.ConnectAsync(b_name_.c_str(), 0), hixl::PARAM_INVALID);
  await(b_name_, hixl::AsyncConnectStatus::NOT_CONNECT);
  ASSERT_EQ(a_.ConnectAsync(b_name_.c_str(), 20000), hixl::SUCCESS);
  await(b_name_, hixl::AsyncConnectStatus::CONNECTED);
  ASSERT_EQ(a_.ConnectAsync(b_name_.c_str(), 20000), hixl::SUCCESS);
  await(b_name_, hixl::AsyncConnectStatus::CONNECTED);  // already
  EXPECT_EQ(a_.Connect(b_name_.c_str()), hixl::ALREADY_CONNECTED);
  const std::string nobody = FreeName();
  ASSERT_EQ(a_.ConnectAsync(nobody.c_str(), 20000), hixl::SUCCESS);
  await(nobody, hixl::AsyncConnectStatus::CONNECT_FAILED);
  std::map<AscendString, hixl::AsyncConnectStatus> all;
  EXPECT_EQ(a_.GetAsyncConnectStatus(all), hixl::SUCCESS);
  EXPECT_EQ(all.size(), 2u);
  ASSERT_EQ(a_.DisconnectAsync(b_name_.c_str(), 1000), hixl::SUCCESS);
  await(b_name_, hixl::AsyncConnectStatus::NOT_CONNECT);
  EXPECT_EQ(a_.Disconnect(b_name_.c_str()), hixl::NOT_CONNECTED);
}

TEST_F(HixlTest, ConnectsLaterUpToALimit) {
  Begin({{"GlobalResourceConfig", R"({"connect_pool.thread_num":1,"connect_pool.task_queue_capacity":2})"}});
  Status status = hixl::SUCCESS;
  for (int i = 0; i < 100000 && status == hixl::SUCCESS; ++i) status = a_.ConnectAsync(b_name_.c_str());
  EXPECT_EQ(status, hixl::RESOURCE_EXHAUSTED);
  a_.Finalize();  // waits for what runs, and forgets the rest
}

// --- The other class ----------------------------------------------------------------------------------------------------

TEST_F(HixlTest, TransferBetweenBothClasses) {
  Begin();
  Register(b_, there_);
  adxl::AdxlEngine engine;
  adxl::MemHandle handle = nullptr;
  EXPECT_EQ(engine.Connect(b_name_.c_str()), adxl::FAILED);
  ASSERT_EQ(engine.Initialize("127.0.0.1", {{adxl::OPTION_BUFFER_POOL, "0:0"}, {adxl::OPTION_LOCAL_COMM_RES, R"({"version":"1.3"})"}}),
            adxl::SUCCESS);
  ASSERT_EQ(engine.RegisterMem({here_.at(), here_.size(), {}}, adxl::MEM_DEVICE, handle), adxl::SUCCESS);
  ASSERT_EQ(engine.Connect(b_name_.c_str()), adxl::SUCCESS) << aclGetRecentErrMsg();
  here_.Fill(77);
  EXPECT_EQ(engine.TransferSync(b_name_.c_str(), adxl::WRITE, {{here_.at(), there_.at(), here_.size()}}, 20000), adxl::SUCCESS);
  EXPECT_EQ(there_.Read(), here_.Read());
  EXPECT_EQ(engine.SendNotify(b_name_.c_str(), {"n", std::string(1025, 'x').c_str()}, 0), adxl::PARAM_INVALID);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("notify_msg"), std::string::npos) << "the message comes before the time limit";
  EXPECT_EQ(a_.SendNotify(b_name_.c_str(), {"n", std::string(1025, 'x').c_str()}, 0), hixl::PARAM_INVALID);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("timeout_in_millis"), std::string::npos) << "and the other way round";
  EXPECT_EQ(engine.Disconnect(b_name_.c_str()), adxl::SUCCESS);
}

TEST_F(HixlTest, NotifiesOfTheOtherClassAreAdded) {
  Begin();
  adxl::AdxlEngine engine;
  const std::string name = FreeName();
  ASSERT_EQ(engine.Initialize(name.c_str(), {}), adxl::SUCCESS);
  ASSERT_EQ(a_.Connect(name.c_str()), hixl::SUCCESS);
  ASSERT_EQ(a_.SendNotify(name.c_str(), {"n", "m"}, 20000), hixl::SUCCESS);
  std::vector<adxl::NotifyDesc> notifies(2);
  ASSERT_EQ(engine.GetNotifies(notifies), adxl::SUCCESS);
  ASSERT_EQ(notifies.size(), 3u);
  EXPECT_EQ(notifies[2].name, "n");
}

TEST_F(HixlTest, ShareableMemory) {
  using adxl::AdxlEngine;
  void* memory = nullptr;
  adxl::ShareableHandle handle{}, again{};
  EXPECT_EQ(AdxlEngine::MallocMem(static_cast<adxl::MemType>(5), 0, nullptr), adxl::PARAM_INVALID);
  EXPECT_EQ(AdxlEngine::MallocMem(adxl::MEM_DEVICE, 0, &memory), adxl::PARAM_INVALID);
  EXPECT_EQ(AdxlEngine::MallocMem(adxl::MEM_DEVICE, 1, nullptr), adxl::PARAM_INVALID);
  EXPECT_EQ(AdxlEngine::FreeMem(nullptr), adxl::PARAM_INVALID);
  EXPECT_EQ(AdxlEngine::FreeMem(&memory), adxl::FAILED);
  EXPECT_EQ(AdxlEngine::ExportToShareableHandle(&memory, handle), adxl::PARAM_INVALID);
  for (const adxl::MemType type : {adxl::MEM_DEVICE, adxl::MEM_HOST}) {
    ASSERT_EQ(AdxlEngine::MallocMem(type, 1000, &memory), adxl::SUCCESS) << aclGetRecentErrMsg();
    Begin();
    hixl::MemHandle registered = nullptr;
    EXPECT_EQ(a_.RegisterMem({reinterpret_cast<uintptr_t>(memory), 1000, {}}, static_cast<hixl::MemType>(type), registered), hixl::SUCCESS)
        << aclGetRecentErrMsg();
    a_.Finalize();
    b_.Finalize();
    // Fabric handles are for A3 products.
    const bool has_fabric = AdxlEngine::ExportToShareableHandle(memory, handle) == adxl::SUCCESS;
    if (has_fabric) {
      ASSERT_EQ(AdxlEngine::ExportToShareableHandle(memory, again), adxl::SUCCESS);
      EXPECT_EQ(std::memcmp(&handle, &again, sizeof handle), 0);
    }
    EXPECT_EQ(AdxlEngine::FreeMem(memory), adxl::SUCCESS) << aclGetRecentErrMsg();
    EXPECT_EQ(AdxlEngine::FreeMem(memory), adxl::FAILED);
  }
}

}  // namespace hixl_test
