// Activities as records of mspti, and which kinds of them the program wants.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mspti/mspti_activity.h"
#include "profile/activity.h"

namespace ropeway {

// Bytes of a record of a kind; 0: there is none of that kind.
size_t MsptiRecordSize(uint32_t kind);

// The kinds that are enabled, as bits; a look costs one load.
class MsptiKinds {
 public:
  static bool Known(uint32_t kind) { return kind > MSPTI_ACTIVITY_KIND_INVALID && kind < MSPTI_ACTIVITY_KIND_COUNT; }
  bool Has(uint32_t kind) const { return Known(kind) && (bits_.load(std::memory_order_relaxed) >> kind & 1) != 0; }
  bool Any() const { return bits_.load(std::memory_order_relaxed) != 0; }
  void Set(uint32_t kind, bool on) { on ? bits_.fetch_or(1u << kind) : bits_.fetch_and(~(1u << kind)); }

 private:
  std::atomic<uint32_t> bits_{0};
};

// A record in its final form.
struct MsptiRecord {
  static constexpr size_t kLargest = 72;
  size_t size = 0;
  alignas(8) std::byte bytes[kLargest];
};

// The kind of record that an activity becomes; MSPTI_ACTIVITY_KIND_INVALID: none. Of a call there are several, and `value` says which.
msptiActivityKind MsptiKindOf(const Activity& activity);
MsptiRecord MakeMsptiRecord(const Activity& activity);

}  // namespace ropeway
