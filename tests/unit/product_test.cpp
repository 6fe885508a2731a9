// What products can do, as a table of their names.
#include "runtime/product.h"

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "base/config.h"

namespace ropeway {
namespace product_test {

struct Row {
  std::initializer_list<const char*> names;
  bool peers_need_enabling, batches;
  size_t descriptor;
  bool cells, values, fabric, unified, counters, events, reserves_at;
};
const Row kRows[] = {
    // training: copies through two-level pointers, none of the rest
    {{"Ascend910", "Ascend910A", "Ascend910ProA", "Ascend910ProB", "Ascend910PremiumA"},
     true,
     false,
     0,
     true,
     false,
     false,
     false,
     false,
     true,
     true},
    // A2
    {{"Ascend910B", "Ascend910B1", "Ascend910B2", "Ascend910B2C", "Ascend910B3", "Ascend910B4", "Ascend910B4-1"},
     true,
     true,
     32,
     true,
     true,
     false,
     false,
     false,
     true,
     true},
    // A3: devices reach each other without asking
    {{"Ascend910C", "Ascend910_93", "Ascend910_9361", "Ascend910_9362", "Ascend910_9371", "Ascend910_9372", "Ascend910_9381",
      "Ascend910_9382", "Ascend910_9391", "Ascend910_9392"},
     false,
     true,
     32,
     true,
     true,
     true,
     true,
     false,
     true,
     true},
    // 950: the large descriptor
    {{"Ascend950", "Ascend950PR", "Ascend950PR_9589", "Ascend910_95", "Ascend910_9589"},
     true,
     true,
     64,
     true,
     true,
     false,
     false,
     true,
     true,
     false},
    {{"Ascend950DT", "Ascend950DT_9591"}, true, true, 64, true, true, false, false, true, false, false},
    // inference and edge
    {{"Ascend310P", "Ascend310P1", "Ascend310P3", "Ascend310P5", "Ascend310P7"},
     true,
     false,
     0,
     false,
     false,
     false,
     false,
     false,
     true,
     true},
    {{"Ascend310B", "Ascend310B1", "Ascend310B2", "Ascend310B3", "Ascend310B4"},
     true,
     false,
     32,
     false,
     false,
     false,
     false,
     false,
     true,
     true},
    {{"Ascend310", "Ascend310RC"}, true, false, 0, false, false, false, false, false, true, true},
};

void ExpectRow(const Row& row, const std::string& name) {
  const Product* product = FindProduct(name);
  ASSERT_NE(product, nullptr) << name;
  EXPECT_EQ(product->peers_need_enabling, row.peers_need_enabling) << name;
  EXPECT_EQ(product->copies_batches, row.batches) << name;
  EXPECT_EQ(product->copy_descriptor_size, row.descriptor) << name;
  EXPECT_EQ(product->copies_by_cells, row.cells) << name;
  EXPECT_EQ(product->has_value_waits, row.values) << name;
  EXPECT_EQ(product->has_fabric, row.fabric) << name;
  EXPECT_EQ(product->unified_addresses, row.unified) << name;
  EXPECT_EQ(product->counts_notifies, row.counters) << name;
  EXPECT_EQ(product->shares_events, row.events) << name;
  EXPECT_EQ(product->reserves_at, row.reserves_at) << name;
}

TEST(ProductTest, NamesAndAbilities) {
  for (const Row& row : kRows) {
    for (const char* name : row.names) ExpectRow(row, name);
  }
}

std::vector<std::string> Split(const std::string& text, const std::string& between) {
  std::vector<std::string> parts;
  for (size_t at = 0; at != std::string::npos;) {
    const size_t end = text.find(between, at);
    parts.push_back(text.substr(at, end == std::string::npos ? end : end - at));
    at = end == std::string::npos ? end : end + between.size();
  }
  return parts;
}

// "| a | b |" as its cells.
std::vector<std::string> Cells(const std::string& line) { return Split(line.substr(2, line.size() - 4), " | "); }

// The columns of the page behind the names, as the page writes them.
std::vector<std::string> AbilitiesOf(const Product& product) {
  auto word = [](bool able) { return std::string(able ? "yes" : "-"); };
  return {product.copy_descriptor_size == 0 ? "-" : std::to_string(product.copy_descriptor_size) + " bytes",
          word(product.copies_batches),
          word(product.copies_by_cells),
          word(product.has_value_waits),
          word(product.has_fabric),
          word(product.peers_need_enabling),
          word(product.unified_addresses),
          word(product.counts_notifies),
          word(product.shares_events),
          word(product.reserves_at)};
}

// docs/products.md has every family of the code, and says the same of it.
TEST(ProductTest, ThePageTellsWhatTheCodeDoes) {
  std::ifstream page("docs/products.md");
  ASSERT_TRUE(page) << "tests run in the folder of the sources";
  std::set<const Product*> told;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ") || line.starts_with("| family |")) continue;
    const std::vector<std::string> cells = Cells(line);
    ASSERT_EQ(cells.size(), 12u) << line;
    for (std::string name : Split(cells[1], ", ")) {
      if (name.ends_with("*")) name.back() = '7';
      const Product* product = FindProduct(name);
      ASSERT_NE(product, nullptr) << name;
      EXPECT_EQ(AbilitiesOf(*product), std::vector<std::string>(cells.begin() + 2, cells.end())) << name;
      told.insert(product);
    }
  }
  EXPECT_EQ(told.size(), std::size(kRows)) << "kRows has one row for each family";
}

TEST(ProductTest, SpellingMakesNoDifference) {
  for (const Row& row : kRows) {
    for (const std::string name : row.names) {
      std::string small;
      for (const char c : name) small += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const std::string number = name.substr(6);
      for (const std::string& spelling : {small, number, small.substr(6), "Ascend " + number, "ASCEND-" + number, "  " + name + "\t"})
        ExpectRow(row, spelling);
    }
  }
}

TEST(ProductTest, OtherNamesAreNone) {
  for (const char* name : {"", " ", "Ascend", "Ascend9", "910D", "910C1", "910_94", "910_9", "310P2", "310B5", "310Q", "95", "A2",
                           "AscendAscend910B1", "H200", "B910", "910*", "*"})
    EXPECT_EQ(FindProduct(name), nullptr) << name;
}

TEST(ProductTest, TheProcessHasTheProductOfItsSetting) { EXPECT_EQ(&ThisProduct(), FindProduct(GetConfig().soc_name)); }

}  // namespace product_test
}  // namespace ropeway
