// The table of rules/places.md 2, written out row by row and independent of the one in the code.
#include "copy/direction.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

namespace ropeway {
namespace direction_test {

constexpr aclrtMemcpyKind kH2H = ACL_MEMCPY_HOST_TO_HOST, kH2D = ACL_MEMCPY_HOST_TO_DEVICE, kD2H = ACL_MEMCPY_DEVICE_TO_HOST,
                          kD2D = ACL_MEMCPY_DEVICE_TO_DEVICE, kDefault = ACL_MEMCPY_DEFAULT;
constexpr Place kPinned = Place::kPinned, kDevice = Place::kDevice, kPageable = Place::kPageable;
constexpr std::nullopt_t kRefused = std::nullopt;

struct Row {
  Place src, dst;
  std::optional<aclrtMemcpyKind> h2h, h2d, d2h, d2d, standard;  // what each given kind becomes
};

const Row kRows[] = {
    {kPinned, kDevice, kH2D, kH2D, kH2D, kH2D, kH2D},           {kDevice, kPinned, kD2H, kD2H, kD2H, kD2H, kD2H},
    {kPinned, kPinned, kH2H, kH2H, kH2H, kH2H, kH2H},           {kDevice, kDevice, kD2D, kD2D, kD2D, kD2D, kD2D},
    {kPageable, kDevice, kRefused, kH2D, kRefused, kD2D, kH2D}, {kDevice, kPageable, kRefused, kRefused, kD2H, kD2D, kD2H},
    {kPinned, kPageable, kH2H, kH2D, kRefused, kRefused, kH2H}, {kPageable, kPinned, kH2H, kRefused, kD2H, kRefused, kH2H},
    {kPageable, kPageable, kH2H, kH2D, kD2H, kD2D, kH2H},
};

TEST(DirectionTest, TheWholeTable) {
  EXPECT_EQ(std::size(kRows), 9u) << "three classes on either side";
  for (const Row& row : kRows) {
    const std::pair<aclrtMemcpyKind, std::optional<aclrtMemcpyKind>> kCells[] = {
        {kH2H, row.h2h}, {kH2D, row.h2d}, {kD2H, row.d2h}, {kD2D, row.d2d}, {kDefault, row.standard}};
    for (auto [given, expected] : kCells) {
      const Direction direction = CorrectKind(row.src, row.dst, given);
      EXPECT_EQ(direction.accepted, expected.has_value())
          << KindName(given) << " from " << PlaceName(row.src) << " to " << PlaceName(row.dst);
      if (expected && direction.accepted)
        EXPECT_EQ(direction.kind, *expected) << KindName(given) << " from " << PlaceName(row.src) << " to " << PlaceName(row.dst);
    }
  }
}

TEST(DirectionTest, ManagedMemoryLeavesTheKindAlone) {
  for (Place other : {kPinned, kDevice, kPageable, Place::kManaged}) {
    for (aclrtMemcpyKind kind : {kH2H, kH2D, kD2H, kD2D, kDefault}) {
      for (const Direction& direction : {CorrectKind(other, Place::kManaged, kind), CorrectKind(Place::kManaged, other, kind)}) {
        EXPECT_TRUE(direction.accepted);
        EXPECT_EQ(direction.kind, kind);
      }
    }
  }
}

TEST(DirectionTest, NamesAreThoseOfTheHeaders) {
  const std::map<int, std::string> kNames = {{0, "ACL_MEMCPY_HOST_TO_HOST"},
                                             {1, "ACL_MEMCPY_HOST_TO_DEVICE"},
                                             {2, "ACL_MEMCPY_DEVICE_TO_HOST"},
                                             {3, "ACL_MEMCPY_DEVICE_TO_DEVICE"},
                                             {4, "ACL_MEMCPY_DEFAULT"},
                                             {5, "ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE"},
                                             {6, "ACL_MEMCPY_INNER_DEVICE_TO_DEVICE"},
                                             {7, "ACL_MEMCPY_INTER_DEVICE_TO_DEVICE"}};
  for (const auto& [kind, name] : kNames) EXPECT_EQ(KindName(static_cast<aclrtMemcpyKind>(kind)), name);
}

TEST(DirectionTest, UnknownKindsHaveAName) {
  EXPECT_STREQ(KindName(static_cast<aclrtMemcpyKind>(8)), "an unknown kind");
  EXPECT_STREQ(KindName(static_cast<aclrtMemcpyKind>(-1)), "an unknown kind");
}

TEST(DirectionTest, PlacesHaveDifferentNames) {
  EXPECT_STRNE(PlaceName(kPinned), PlaceName(kDevice));
  EXPECT_STRNE(PlaceName(kPinned), PlaceName(kPageable));
  EXPECT_STRNE(PlaceName(kDevice), PlaceName(kPageable));
}

}  // namespace direction_test
}  // namespace ropeway
