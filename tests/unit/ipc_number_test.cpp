// Keys made of a number, and the sockets that go with them.
#include <gtest/gtest.h>

#include <set>

#include "ipc/number.h"
#include "unit/ipc_fixture.h"

namespace ropeway_unit {
namespace ipc_number_test {

using namespace ropeway;
using namespace ropeway::ipc;

// From another implementation of SipHash-2-4, with the keys 0 to 3.
constexpr const char* kKnown =
    "c4a1f0aff7f4be77aecd396884db454c"
    "385bbf55f9c6217fe2bffef9432c4ab6";

TEST(IpcNumber, EveryWordDependsOnEveryBit) {
  std::set<uint64_t> words;
  for (int bit = -1; bit < 64; ++bit) {
    const Key key = KeyOfNumber(bit < 0 ? 0 : uint64_t{1} << bit);
    words.insert(key.service);
    words.insert(key.secret.begin(), key.secret.end());
  }
  EXPECT_EQ(words.size(), 65u * 4);
}

TEST(IpcNumber, TheSameInEveryProcess) {
  const Key key = KeyOfNumber(0x0123456789abcdef);
  EXPECT_EQ(key.Format(), KeyOfNumber(0x0123456789abcdef).Format());
  EXPECT_EQ(key.Format(), kKnown);
}

class IpcNumberService : public testing::Test {
 protected:
  void SetUp() override {
    Result<Service*> service = Service::Get();
    ASSERT_TRUE(service.ok());
    service_ = service.value();
  }
  Service* service_ = nullptr;
};

TEST_F(IpcNumberService, ANumberOpensItsOffer) {
  auto offer = std::make_shared<TestOffer>();
  Result<uint64_t> number = service_->PublishNumber(offer);
  ASSERT_TRUE(number.ok());
  const Key key = KeyOfNumber(number.value());
  EXPECT_EQ(service_->Find(key, kTestType), offer);
  EXPECT_EQ(service_->Find(key, kTestType + 1), nullptr);
  Result<Joined> joined = service_->Connect(key, kTestType, {}, Deadline::AfterMs(10000));
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(joined.value().welcome.value[0], 42u);
  joined.value().connection->Close();
  offer->ear.AwaitGoodbyes(1);
  service_->Withdraw(key);
  EXPECT_EQ(service_->Find(key, kTestType), nullptr);
  EXPECT_EQ(service_->Connect(key, kTestType, {}, Deadline::AfterMs(10000)).status().code(), 107000);
  EXPECT_FALSE(Stranger(key.service).connected()) << "its socket is gone";
}

TEST_F(IpcNumberService, TheSocketAloneOpensNothing) {
  auto offer = std::make_shared<TestOffer>();
  Result<uint64_t> number = service_->PublishNumber(offer);
  ASSERT_TRUE(number.ok());
  const Key key = KeyOfNumber(number.value());
  Stranger stranger(key.service);
  ASSERT_TRUE(stranger.connected());
  Key guess = key;
  guess.secret[2] ^= 1;
  stranger.SayHello(guess);
  EXPECT_EQ(stranger.Hear().kind, static_cast<uint32_t>(kRefused));
  service_->Withdraw(key);
}

TEST_F(IpcNumberService, NumbersFitInt64) {
  for (int i = 0; i < 50; ++i) {
    Result<uint64_t> number = service_->PublishNumber(std::make_shared<TestOffer>());
    ASSERT_TRUE(number.ok());
    EXPECT_GT(static_cast<int64_t>(number.value()), 0);
    service_->Withdraw(KeyOfNumber(number.value()));
  }
}

TEST_F(IpcNumberService, NothingIsLeftOfManyNumbers) {
  DescriptorCount descriptors(service_);
  const size_t before = descriptors.Now();
  std::vector<Key> keys;
  for (int i = 0; i < 50; ++i) {
    Result<uint64_t> number = service_->PublishNumber(std::make_shared<TestOffer>());
    ASSERT_TRUE(number.ok());
    keys.push_back(KeyOfNumber(number.value()));
  }
  EXPECT_EQ(descriptors.Now(), before + keys.size());
  for (const Key& key : keys) service_->Withdraw(key);
  EXPECT_EQ(descriptors.Now(), before);
}

}  // namespace ipc_number_test
}  // namespace ropeway_unit
