// Numbers and strings as bytes of a message, and back. Little endian, fixed widths. A Reader never reads past the end:
// after the first shortage it gives zeros and ok() is false, so a parser checks once, at its end.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ropeway::comm {

class Writer {
 public:
  Writer() = default;
  explicit Writer(size_t room) { bytes_.reserve(room); }
  // Goes on behind what is there.
  Writer(std::string bytes, size_t room) : bytes_(std::move(bytes)) { bytes_.reserve(bytes_.size() + room); }
  template <typename T>
  Writer& Number(T value) {
    static_assert(std::is_integral_v<T>);
    char raw[sizeof(T)];
    for (size_t i = 0; i < sizeof(T); ++i) raw[i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
    return Raw({raw, sizeof raw});
  }
  Writer& Raw(std::string_view bytes) {
    bytes_.append(bytes);
    return *this;
  }
  Writer& String(std::string_view text) { return Number(static_cast<uint32_t>(text.size())).Raw(text); }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <typename T>
  T Number() {
    const std::string_view raw = Raw(sizeof(T));
    uint64_t value = 0;
    for (size_t i = 0; i < raw.size(); ++i) value |= uint64_t{static_cast<uint8_t>(raw[i])} << (8 * i);
    return static_cast<T>(value);
  }
  std::string_view Raw(size_t size) {
    if (size > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return bytes;
  }
  std::string String() { return std::string(Raw(Number<uint32_t>())); }
  std::string_view rest() const { return rest_; }
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace ropeway::comm
