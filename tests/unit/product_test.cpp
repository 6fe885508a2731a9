// What products can do, as a table of their names.
#include "runtime/product.h"

#include <gtest/gtest.h>

#include <string_view>

#include "base/config.h"

namespace ropeway {
namespace product_test {

struct Case {
  const char* soc;
  bool peers_need_enabling, batches;
  size_t descriptor;
  bool cells, values;
};
constexpr Case kCases[] = {
    // A2
    {"Ascend910B1", true, true, 32, true, true},
    {"Ascend910B2", true, true, 32, true, true},
    {"Ascend910B2C", true, true, 32, true, true},
    {"Ascend910B3", true, true, 32, true, true},
    {"Ascend910B4", true, true, 32, true, true},
    {"Ascend910B4-1", true, true, 32, true, true},
    // A3: devices reach each other without asking
    {"Ascend910_9362", false, true, 32, true, true},
    {"Ascend910_9372", false, true, 32, true, true},
    {"Ascend910_9381", false, true, 32, true, true},
    {"Ascend910_9391", false, true, 32, true, true},
    {"Ascend910_9392", false, true, 32, true, true},
    // 950: the large descriptor
    {"Ascend950PR_9589", true, true, 64, true, true},
    {"Ascend950DT_9591", true, true, 64, true, true},
    // training: offset copies, none of the rest
    {"Ascend910A", true, false, 0, true, false},
    {"Ascend910ProA", true, false, 0, true, false},
    {"Ascend910ProB", true, false, 0, true, false},
    {"Ascend910PremiumA", true, false, 0, true, false},
    // inference and edge
    {"Ascend310", true, false, 0, false, false},
    {"Ascend310P1", true, false, 0, false, false},
    {"Ascend310P3", true, false, 0, false, false},
    {"Ascend310B1", true, false, 0, false, false},
    // no product at all
    {"", true, false, 0, false, false},
    {"Ascend", true, false, 0, false, false},
    {"Ascend9", true, false, 0, false, false},
    {"ascend910b1", true, false, 0, false, false},
    {" Ascend910B1", true, false, 0, false, false},
};

TEST(ProductTest, NamesAndAbilities) {
  for (const Case& entry : kCases) {
    const Product product = ProductOf(entry.soc);
    EXPECT_EQ(product.peers_need_enabling, entry.peers_need_enabling) << entry.soc;
    EXPECT_EQ(product.copies_batches, entry.batches) << entry.soc;
    EXPECT_EQ(product.copy_descriptor_size, entry.descriptor) << entry.soc;
    EXPECT_EQ(product.copies_by_cells, entry.cells) << entry.soc;
    EXPECT_EQ(product.has_value_waits, entry.values) << entry.soc;
  }
}

TEST(ProductTest, CountersAndSharedEvents) {
  for (const Case& entry : kCases) {
    const std::string_view name(entry.soc);
    EXPECT_EQ(ProductOf(entry.soc).counts_notifies, name.substr(0, 9) == "Ascend950") << entry.soc;
    EXPECT_EQ(ProductOf(entry.soc).shares_events, name.substr(0, 11) != "Ascend950DT") << entry.soc;
  }
}

TEST(ProductTest, VirtualMemoryDiffers) {
  EXPECT_TRUE(ProductOf("Ascend910B1").reserves_at);
  EXPECT_FALSE(ProductOf("Ascend910B1").has_fabric);
  EXPECT_TRUE(ProductOf("Ascend910_9391").reserves_at);
  EXPECT_TRUE(ProductOf("Ascend910_9391").has_fabric);
  EXPECT_FALSE(ProductOf("Ascend950PR_9589").reserves_at);
}

TEST(ProductTest, TheProcessHasTheProductOfItsSetting) {
  const Product expected = ProductOf(GetConfig().soc_name.c_str());
  EXPECT_EQ(ThisProduct().peers_need_enabling, expected.peers_need_enabling);
  EXPECT_EQ(ThisProduct().copies_batches, expected.copies_batches);
  EXPECT_EQ(ThisProduct().copy_descriptor_size, expected.copy_descriptor_size);
}

}  // namespace product_test
}  // namespace ropeway
