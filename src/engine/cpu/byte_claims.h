// Which bytes the tasks of a volley write and read that are not complete yet: asked of every copy of a loop, so it costs a few nanoseconds
// whether their blocks lie in a row or scattered.
//
// A table of granules about as large as the tasks. Each knows the first and the last of its bytes that are written, and likewise of those
// that are read; what lies between counts too. So it may say that two tasks touch which do not, where small tasks share a granule, and
// never the other way round.
//
// Nothing is ever taken out. A claim carries the number of the portion with which its task ends, and is void when that is complete. It lies
// in the bucket of its granule, or, where that was full, aside: in its other one. Scattered blocks fall together, and a volley that ended
// for it would end all the time; so a claim is moved aside where that makes room.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace ropeway::cpu {

class ByteClaims {
 public:
  // Null: there is no memory for them.
  static ByteClaims* OfThisThread() {
    static thread_local std::unique_ptr<ByteClaims> claims;
    if (claims == nullptr) claims.reset(new (std::nothrow) ByteClaims());
    return claims.get();
  }

  // For tasks of about `size` bytes. All claims are void.
  void Begin(size_t size) {
    shift_ = std::clamp(static_cast<int>(std::bit_width(size - 1)), kSmallestShift, kLargestShift);
    unit_ = std::max(0, shift_ - kUnits);
    oldest_ = current_ = ++latest_;
    aside_ = oldest_ - 1;
  }
  // What is claimed from here on is a task that ends with one of the next `portions`.
  void NextTask(size_t portions) {
    until_ = current_ + static_cast<uint32_t>(portions);
    if (Behind(until_, latest_)) latest_ = until_;
  }
  void NextPortion() { ++current_; }
  // So many portions, from the oldest, are complete.
  void Complete(uint64_t portions) { oldest_ += static_cast<uint32_t>(portions); }

  // False: some of the bytes are claimed by another, or there is no room.
  bool Write(const void* address, size_t size) {
    return ForEachGranule(address, size, [this](uint64_t granule, Bytes bytes) {
      Claim* const claim = At(granule);
      if (claim == nullptr || claim->written.Touches(bytes) || claim->read.Touches(bytes)) return false;
      Hold(*claim).written.Add(bytes);
      return true;
    });
  }
  // Others may read the same.
  bool Read(const void* address, size_t size) {
    return ForEachGranule(address, size, [this](uint64_t granule, Bytes bytes) {
      Claim* const claim = At(granule);
      if (claim == nullptr || claim->written.Touches(bytes)) return false;
      Hold(*claim).read.Add(bytes);
      return true;
    });
  }

 private:
  // Within a granule, in units: from the first to the one behind the last.
  struct Bytes {
    uint16_t begin = 0, end = 0;
    bool Touches(Bytes other) const { return begin < other.end && other.begin < end; }
    void Add(Bytes other) { *this = begin == end ? other : Bytes{std::min(begin, other.begin), std::max(end, other.end)}; }
  };
  struct Claim {
    uint32_t rest = 0;  // of the granule's number, beside what the bucket says, and whether it is the other one
    uint32_t portion = 0;
    Bytes written, read;
  };
  static constexpr int kSmallestShift = 12, kLargestShift = 21;
  static constexpr int kUnits = 15;             // a granule has at most 2^15
  static constexpr size_t kMostGranules = 512;  // of one task: with more of them it is one of another size
  static constexpr size_t kPlaces = 4;          // of a bucket, which is a cache line
  static constexpr int kBucketBits = 11;
  static constexpr size_t kBuckets = size_t{1} << kBucketBits;
  static constexpr uint32_t kAside = uint32_t{1} << 31;
  struct alignas(64) Bucket {
    Claim claims[kPlaces];
  };

  template <typename Visit>
  bool ForEachGranule(const void* address, size_t size, Visit visit) const {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(address), last = begin + size - 1;
    const uint64_t first_granule = begin >> shift_, last_granule = last >> shift_;
    if (last_granule - first_granule >= kMostGranules) return false;
    for (uint64_t granule = first_granule; granule <= last_granule; ++granule) {
      const uint16_t from = granule == first_granule ? UnitOf(begin) : 0;
      const uint16_t to = granule == last_granule ? UnitOf(last) : static_cast<uint16_t>((1 << (shift_ - unit_)) - 1);
      if (!visit(granule, Bytes{from, static_cast<uint16_t>(to + 1)})) return false;
    }
    return true;
  }
  uint16_t UnitOf(uintptr_t address) const { return static_cast<uint16_t>((address & ((uintptr_t{1} << shift_) - 1)) >> unit_); }

  // Numbers of portions go round; those in use are never far apart.
  static bool Behind(uint32_t portion, uint32_t other) { return static_cast<int32_t>(portion - other) > 0; }
  bool Valid(const Claim& claim) const { return !Behind(oldest_, claim.portion); }
  // Until the task in hand ends.
  Claim& Hold(Claim& claim) const {
    if (Behind(until_, claim.portion)) claim.portion = until_;
    return claim;
  }
  // The granule's claim, an empty one where it has none; null when there is no room.
  Claim* At(uint64_t granule) {
    const auto rest = static_cast<uint32_t>(granule >> kBucketBits);  // what is cut off lies beyond all addresses
    const uint64_t home = (granule + rest * 0x9E3779B9u) % kBuckets;
    Claim* place = nullptr;
    if (Claim* const claim = Find(table_[home], rest, &place)) return claim;
    if (place != nullptr && Behind(oldest_, aside_)) [[likely]]
      return Place(*place, rest);
    const uint64_t other = OtherThan(home, rest);
    Claim* place_aside = nullptr;
    Claim* claim = Find(table_[other], rest | kAside, &place_aside);
    if (claim == nullptr) {
      if (place == nullptr && place_aside == nullptr && (place = ClearOne(home)) == nullptr) place_aside = ClearOne(other);
      if (place != nullptr) return Place(*place, rest);
      if (place_aside == nullptr) return nullptr;
      claim = Place(*place_aside, rest | kAside);
    }
    NoteAside(until_);
    return claim;
  }
  // The two buckets of a granule are as far apart as its rest says, so either of them and the rest tell which granule it is.
  static uint64_t OtherThan(uint64_t bucket, uint32_t rest) {
    return bucket ^ (((rest & ~kAside) * 0x85EBCA6Bu >> (32 - kBucketBits)) | 1);
  }
  void NoteAside(uint32_t portion) {
    if (Behind(portion, aside_)) aside_ = portion;
  }
  // Moves one of a full bucket's claims to its other one; null: these are full, too.
  Claim* ClearOne(uint64_t bucket) {
    for (Claim& claim : table_[bucket].claims) {
      Claim* place = nullptr;
      Find(table_[OtherThan(bucket, claim.rest)], claim.rest ^ kAside, &place);
      if (place == nullptr) continue;
      *place = claim;
      place->rest ^= kAside;
      NoteAside(claim.portion);
      return &claim;
    }
    return nullptr;
  }
  // Null: there is none, and `place` is where one can be, if it has room.
  Claim* Find(Bucket& bucket, uint32_t rest, Claim** place) const {
    for (Claim& claim : bucket.claims) {
      if (!Valid(claim)) {
        *place = &claim;
      } else if (claim.rest == rest) {
        return &claim;
      }
    }
    return nullptr;
  }
  Claim* Place(Claim& place, uint32_t rest) const {
    place = {rest, until_, {}, {}};
    return &place;
  }

  int shift_ = kSmallestShift;
  int unit_ = 0;
  uint32_t oldest_ = 0;   // portion that is not complete
  uint32_t current_ = 0;  // portion to which tasks are added
  uint32_t until_ = 0;    // portion with which the task in hand ends
  uint32_t latest_ = 0;   // of all claims
  uint32_t aside_ = 0;    // of those that are not in their granule's own bucket: where that is complete, there are none
  Bucket table_[kBuckets];
};

}  // namespace ropeway::cpu
