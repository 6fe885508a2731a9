// Keys: what they look like, and what is no key.
#include <gtest/gtest.h>

#include <set>

#include "acl/error_codes/rt_error_codes.h"
#include "base/random.h"
#include "ipc/key.h"

namespace ropeway_unit {
namespace ipc_key_test {

using namespace ropeway;
using ipc::Key;

Key SomeKey() { return {0x0123456789abcdef, {1, 0xffffffffffffffff, 0x00ff00ff00ff00ff}}; }

TEST(IpcKeyTest, AKeyIsSixtyFourLowerCaseHexCharacters) {
  EXPECT_EQ(SomeKey().Format(), "0123456789abcdef0000000000000001ffffffffffffffff00ff00ff00ff00ff");
}

TEST(IpcKeyTest, WhatIsWrittenIsReadAgain) {
  const std::string text = SomeKey().Format();
  Result<Key> key = Key::ParseString(text.c_str());
  ASSERT_TRUE(key.ok());
  EXPECT_EQ(key.value().service, SomeKey().service);
  EXPECT_TRUE(ipc::Same(key.value().secret, SomeKey().secret));
  const std::string longer = text + "0";
  EXPECT_TRUE(Key::Parse(longer.c_str()).ok()) << "64 bytes without an end are a key, too";
}

TEST(IpcKeyTest, EverythingElseIsRefused) {
  const std::string good = SomeKey().Format();
  for (const std::string& bad : {std::string(), std::string("0"), good.substr(1), good + "0", std::string(64, ' '), "0x" + good.substr(2)})
    EXPECT_EQ(Key::ParseString(bad.c_str()).status().code(), ACL_ERROR_RT_PARAM_INVALID) << bad;
  for (char wrong : {'A', 'F', 'g', '/', ':', ' ', '-', '\x80', '\0'}) {
    for (size_t at : {size_t{0}, size_t{15}, size_t{16}, size_t{63}}) {
      std::string bad = good;
      bad[at] = wrong;
      EXPECT_EQ(Key::Parse(bad.data()).status().code(), ACL_ERROR_RT_PARAM_INVALID) << at;
    }
  }
}

TEST(IpcKeyTest, EveryBitOfASecretCounts) {
  const ipc::Secret secret = SomeKey().secret;
  for (size_t bit = 0; bit < 192; ++bit) {
    ipc::Secret other = secret;
    other[bit / 64] ^= uint64_t{1} << bit % 64;
    EXPECT_FALSE(ipc::Same(secret, other)) << bit;
  }
}

TEST(IpcKeyTest, RandomNumbersDiffer) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 64; ++i) {
    uint64_t number = 0;
    ropeway::FillRandom(&number, sizeof(number));
    seen.insert(number);
  }
  EXPECT_EQ(seen.size(), 64u);
}

}  // namespace ipc_key_test
}  // namespace ropeway_unit
