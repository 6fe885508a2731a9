// Where the two sides of a copy can be, and tables of what a call answers to each pair of places and each kind.
#pragma once

#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {

enum Place { kDevice, kPinned, kRegistered, kPageable };
constexpr const char* kPlaceNames[] = {"device", "pinned", "registered", "pageable"};

// A row of such a table: the answers to kinds 0 to 4.
struct PlacePair {
  Place src;
  Place dst;
  aclError by_kind[5];
};
constexpr aclError kMoved = ACL_SUCCESS;
constexpr aclError kUnspecified = -1;

// A block of each sort that needs no registration.
class Blocks {
 public:
  explicit Blocks(size_t size) : device_(size), pinned_(size), pageable_(size) {}

  void* at(Place place) {
    return place == kDevice ? device_.get() : place == kPinned ? static_cast<void*>(pinned_.get()) : pageable_.data();
  }
  void Write(Place place, const std::vector<uint8_t>& bytes) {
    ASSERT_EQ(aclrtMemcpy(at(place), bytes.size(), bytes.data(), bytes.size(), ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
  }
  std::vector<uint8_t> Read(Place place) {
    std::vector<uint8_t> bytes(pageable_.size());
    EXPECT_EQ(aclrtMemcpy(bytes.data(), bytes.size(), at(place), bytes.size(), ACL_MEMCPY_DEFAULT), ACL_SUCCESS);
    return bytes;
  }

 private:
  DeviceBuffer device_;
  PinnedBuffer pinned_;
  std::vector<uint8_t> pageable_;
};

// Makes `call(dst, src, kind, answer)`, which looks at the answer, for every row and kind. The bytes must have moved where the answer is
// kMoved, and nowhere else.
template <typename Call>
void ExpectByKind(const std::vector<PlacePair>& rows, size_t size, Call call) {
  Blocks sources(size), targets(size);
  const auto old_bytes = Pattern(size, 5);
  const auto new_bytes = Pattern(size, 6);
  for (const PlacePair& row : rows) {
    for (int kind = 0; kind <= 4; ++kind) {
      if (row.by_kind[kind] == kUnspecified) continue;
      SCOPED_TRACE(std::string(kPlaceNames[row.src]) + " to " + kPlaceNames[row.dst] + " as kind " + std::to_string(kind));
      sources.Write(row.src, new_bytes);
      targets.Write(row.dst, old_bytes);
      call(targets.at(row.dst), sources.at(row.src), kind, row.by_kind[kind]);
      EXPECT_EQ(targets.Read(row.dst), row.by_kind[kind] == kMoved ? new_bytes : old_bytes);
    }
  }
}

}  // namespace ropeway_test::bytes
