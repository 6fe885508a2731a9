// The key that lets another process import something: 64 lower-case hex characters. The first 16 name the exporter's service,
// the other 48 are the offer's secret. Both are random, so a key can be handed on but not guessed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/status.h"

namespace ropeway::ipc {

// Only ever compared by Same, which takes equally long whatever it is shown.
using Secret = std::array<uint64_t, 3>;

bool Same(const Secret& one, const Secret& other);

struct Key {
  static constexpr size_t kLength = 64;         // characters
  static constexpr size_t kRoom = kLength + 1;  // with the terminator

  uint64_t service = 0;
  Secret secret{};

  // `text` has kLength characters and needs no end behind them. 107000 unless each of them is a lower-case hex digit.
  static Result<Key> Parse(const char* text);
  // As above for a C string of exactly that length.
  static Result<Key> ParseString(const char* text);
  // kLength characters; into a place of kRoom, which cannot fail when the key is out already.
  std::string Format() const;
  void Write(char* text) const;
};

}  // namespace ropeway::ipc
