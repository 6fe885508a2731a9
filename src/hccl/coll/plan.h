// What one rank does for a collective: a short program of sends, receives and reductions, worked out from numbers alone. All ranks work out
// theirs from the same numbers, so the programs fit together, and the order in which elements are combined, which decides the bits of a
// result, follows from the operation, its size, the ranks and their hosts.
//
// A program runs from front to back. Sends and receives begin and are not waited for, until an await. The i-th send of a rank to another
// one meets the i-th receive there.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace ropeway::comm {

enum class Collective : uint8_t { kAllReduce, kReduce, kReduceScatter, kAllGather, kBroadcast, kScatter, kAllToAll };

// Up to so many bytes a send has taken its bytes when it begins: they may be overwritten afterwards.
constexpr uint64_t kEagerBytes = 16 << 10;
// Up to so many ranks of a group speak with each other directly; more make a ring or a tree.
constexpr uint32_t kDirectRanks = 8;

// A part of a buffer, in bytes. Scratch is memory of the rank itself, which nobody else touches.
enum class Place : uint8_t { kInput, kOutput, kScratch };
struct Span {
  Place place = Place::kInput;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct Step {
  enum class Kind : uint8_t {
    kSend,     // `from` to `peer`
    kReceive,  // from `peer` into `to`
    kCombine,  // receives from `peer`: to = from op received, or received op from when `peer_first`
    kCopy,     // to = from; over when the next step begins
    kReduce,   // to = to op from; the same
    kAwait,    // what is to be received is here, and combined
  } kind;
  uint32_t peer = 0;
  Span from;
  Span to;
  bool peer_first = false;
  uint32_t message = 0;  // of what is sent or received: which one to, or from, the peer

  bool IsTransfer() const { return kind == Kind::kSend || kind == Kind::kReceive || kind == Kind::kCombine; }
};

// The bytes that a rank sends to another one, or gets from it, at their place in the buffer.
struct Block {
  uint64_t offset = 0;
  uint64_t bytes = 0;
  bool operator==(const Block&) const = default;
};

// By rank. Equal ones that lie one behind the other need no list.
class Blocks {
 public:
  Blocks() = default;
  Blocks(std::vector<Block> list) : list_(std::move(list)) {}  // NOLINT(google-explicit-constructor): one is as good as the other
  static Blocks Equal(uint64_t bytes) {
    Blocks blocks;
    blocks.bytes_ = bytes;
    return blocks;
  }
  Block operator[](size_t rank) const { return list_.empty() ? Block{rank * bytes_, bytes_} : list_[rank]; }
  bool operator==(const Blocks&) const = default;

 private:
  uint64_t bytes_ = 0;
  std::vector<Block> list_;
};

struct CollectiveShape {
  Collective what = Collective::kAllReduce;
  uint32_t rank = 0;
  std::vector<uint32_t> hosts;  // of every rank, in any numbering
  uint32_t root = 0;            // of reduce, broadcast and scatter
  uint64_t element_bytes = 1;   // what may not be cut
  uint64_t bytes = 0;           // of all-reduce, reduce and broadcast; of a rank's block of scatter
  bool in_place = false;        // the input is the output, or the rank's block of it
  Blocks sends;                 // of all-to-all and reduce-scatter; of scatter, at the root
  Blocks receives;              // of all-to-all and all-gather
  uint32_t ranks() const { return static_cast<uint32_t>(hosts.size()); }
  bool operator==(const CollectiveShape&) const = default;
};

// Part `index` of `parts` of a block: of whole elements, and of whole lines of the cache, so that no two ranks write into one.
Block PartOf(const Block& block, uint32_t index, size_t parts, uint64_t element_bytes);

struct CollectivePlan {
  std::vector<Step> steps;
  uint64_t scratch_bytes = 0;
};
CollectivePlan MakeCollectivePlan(const CollectiveShape& shape);

}  // namespace ropeway::comm
