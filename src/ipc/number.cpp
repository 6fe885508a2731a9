#include "ipc/number.h"

#include <bit>

namespace ropeway::ipc {
namespace {

// SipHash-2-4 of one word: 256 bits of state folded into 64, so that nobody gets back to the number.
class SipHash {
 public:
  explicit SipHash(uint64_t key) : v_{0x736f6d6570736575 ^ key, 0x646f72616e646f6d, 0x6c7967656e657261 ^ key, 0x7465646279746573} {}

  uint64_t Of(uint64_t word) {
    Take(word);
    Take(uint64_t{sizeof(word)} << 56);
    v_[2] ^= 0xFF;
    for (int i = 0; i < 4; ++i) Round();
    return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
  }

 private:
  void Take(uint64_t word) {
    v_[3] ^= word;
    Round();
    Round();
    v_[0] ^= word;
  }
  void Mix(int a, int b, int turn, int fold) {
    v_[a] += v_[b];
    v_[b] = std::rotl(v_[b], turn) ^ v_[a];
    if (fold != 0) v_[a] = std::rotl(v_[a], fold);
  }
  void Round() {
    Mix(0, 1, 13, 32);
    Mix(2, 3, 16, 0);
    Mix(0, 3, 21, 0);
    Mix(2, 1, 17, 32);
  }

  uint64_t v_[4];
};

}  // namespace

Key KeyOfNumber(uint64_t number) {
  Key key;
  key.service = SipHash(0).Of(number);
  for (size_t i = 0; i < key.secret.size(); ++i) key.secret[i] = SipHash(i + 1).Of(number);
  return key;
}

}  // namespace ropeway::ipc
