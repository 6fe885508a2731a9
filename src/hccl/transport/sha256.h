// SHA-256 and HMAC-SHA256 (FIPS 180-4, RFC 2104): how two ranks prove to each other that they know the communicator's
// secret. Written here because it is a page of code, and a crypto library in other people's processes is a dependency
// with versions and start-up cost.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ropeway::comm {

using Digest = std::array<uint8_t, 32>;

Digest Sha256(std::string_view message);
Digest HmacSha256(std::string_view key, std::string_view message);

inline std::string_view BytesOf(const Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

// Takes the same time wherever the first difference is. Sizes are no secret.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace ropeway::comm
