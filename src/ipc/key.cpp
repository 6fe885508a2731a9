#include "ipc/key.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "acl/error_codes/rt_error_codes.h"

namespace ropeway::ipc {
namespace {

constexpr size_t kDigits = 16;  // of one word
constexpr char kHex[] = "0123456789abcdef";

bool ParseWord(const char* text, uint64_t* word) {
  *word = 0;
  for (size_t i = 0; i < kDigits; ++i) {
    const char* digit = text[i] == '\0' ? nullptr : std::strchr(kHex, text[i]);
    if (digit == nullptr) return false;
    *word = *word << 4 | static_cast<uint64_t>(digit - kHex);
  }
  return true;
}

// The key itself is a secret, so no message repeats it.
Status NoKey(const char* why) { return Fail(ACL_ERROR_RT_PARAM_INVALID, "key %s; pass on what the exporter got, unchanged", why); }

}  // namespace

bool Same(const Secret& one, const Secret& other) {
  uint64_t difference = 0;
  for (size_t i = 0; i < one.size(); ++i) difference |= one[i] ^ other[i];
  return difference == 0;
}

Result<Key> Key::Parse(const char* text) {
  Key key;
  bool good = ParseWord(text, &key.service);
  for (size_t i = 0; good && i < key.secret.size(); ++i) good = ParseWord(text + (i + 1) * kDigits, &key.secret[i]);
  if (!good) return NoKey("is not made of 64 lower-case hex digits");
  return key;
}

Result<Key> Key::ParseString(const char* text) {
  if (strnlen(text, kRoom) != kLength) return NoKey("does not have 64 characters");
  return Parse(text);
}

void Key::Write(char* text) const {
  char* at = text;
  for (const uint64_t word : {service, secret[0], secret[1], secret[2]})
    at += snprintf(at, kDigits + 1, "%016llx", static_cast<unsigned long long>(word));
}

std::string Key::Format() const {
  char text[kRoom];
  Write(text);
  return text;
}

}  // namespace ropeway::ipc
