// As much of protobuf's encoding as it takes to write a message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ropeway::cli {

class Message {
 public:
  Message& Number(uint32_t field, uint64_t value) {
    Tag(field, kVarint);
    Varint(value);
    return *this;
  }
  Message& Fixed(uint32_t field, uint64_t value) {
    Tag(field, kFixed64);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i));
    return *this;
  }
  Message& Text(uint32_t field, std::string_view text) {
    Tag(field, kLength);
    Varint(text.size());
    bytes_ += text;
    return *this;
  }
  Message& Inner(uint32_t field, const Message& message) { return Text(field, message.bytes_); }
  const std::string& bytes() const { return bytes_; }

 private:
  enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLength = 2 };
  void Tag(uint32_t field, WireType type) { Varint(field << 3 | type); }
  void Varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace ropeway::cli
