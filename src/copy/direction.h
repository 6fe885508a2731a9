// Which way a copy goes. Pure functions: classes of addresses and the caller's word in, direction out.
#pragma once

#include "acl/acl_rt.h"

namespace ropeway {

// Location class of an address (rules/places.md 1).
enum class Place : int32_t {
  kPinned = 0,  // host memory that the runtime knows: allocated or registered
  kDevice = 1,
  kPageable = 2,  // any other host memory
  kNowhere = 3,   // memory of the runtime that is in no live block
  kManaged = 4,   // one address for host and device
};
// What two places are together; the numbers above are chosen so that this is one instruction.
enum class PlacePair { kBothPinned = 0, kRuntimeWithDevice = 1 };  // anything larger: a side is pageable, managed or nowhere
inline PlacePair Pair(Place a, Place b) { return static_cast<PlacePair>(static_cast<int>(a) | static_cast<int>(b)); }
const char* PlaceName(Place place);

// The caller's kind reconciled with where the bytes are (rules/places.md 2), for kinds 0 to 4.
struct Direction {
  bool accepted;
  aclrtMemcpyKind kind;
};
Direction CorrectKind(Place src, Place dst, aclrtMemcpyKind kind);

const char* KindName(aclrtMemcpyKind kind);

// --- The table, in the header because every asynchronous copy looks into it ------------------------------------------------

namespace direction_table {

inline constexpr uint8_t Bit(aclrtMemcpyKind kind) { return static_cast<uint8_t>(1u << kind); }
inline constexpr uint8_t kH2H = Bit(ACL_MEMCPY_HOST_TO_HOST);
inline constexpr uint8_t kH2D = Bit(ACL_MEMCPY_HOST_TO_DEVICE);
inline constexpr uint8_t kD2H = Bit(ACL_MEMCPY_DEVICE_TO_HOST);
inline constexpr uint8_t kD2D = Bit(ACL_MEMCPY_DEVICE_TO_DEVICE);

// Runtime memory on both sides corrects any kind; a pageable side has the caller's word checked instead, and only
// DEFAULT is filled in.
struct Row {
  uint8_t accepted;  // 0: every kind, corrected to `natural`
  aclrtMemcpyKind natural;
};

inline constexpr Row kTable[3][3] = {
    // src pinned, to pinned, device, pageable
    {{0, ACL_MEMCPY_HOST_TO_HOST}, {0, ACL_MEMCPY_HOST_TO_DEVICE}, {kH2H | kH2D, ACL_MEMCPY_HOST_TO_HOST}},
    // src device
    {{0, ACL_MEMCPY_DEVICE_TO_HOST}, {0, ACL_MEMCPY_DEVICE_TO_DEVICE}, {kD2H | kD2D, ACL_MEMCPY_DEVICE_TO_HOST}},
    // src pageable
    {{kH2H | kD2H, ACL_MEMCPY_HOST_TO_HOST},
     {kH2D | kD2D, ACL_MEMCPY_HOST_TO_DEVICE},
     {kH2H | kH2D | kD2H | kD2D, ACL_MEMCPY_HOST_TO_HOST}},
};

}  // namespace direction_table

inline Direction CorrectKind(Place src, Place dst, aclrtMemcpyKind kind) {
  using namespace direction_table;
  if (src == Place::kManaged || dst == Place::kManaged) return {true, kind};  // may be on either side: no check, no correction
  const Row& row = kTable[static_cast<int>(src)][static_cast<int>(dst)];
  if (row.accepted == 0 || kind == ACL_MEMCPY_DEFAULT) return {true, row.natural};
  return {(row.accepted & Bit(kind)) != 0, kind};
}

}  // namespace ropeway
