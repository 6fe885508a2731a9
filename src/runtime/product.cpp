#include "runtime/product.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <iterator>
#include <string>

#include "base/config.h"

namespace ropeway {
namespace {

struct Family {
  std::string_view names;  // as Plain makes them, with blanks between; * stands for any rest
  Product product;
};

// clang-format off
constexpr Family kFamilies[] = {
    //                                       enabling batches descriptor cells  waits  fabric unified counters events reserves_at
    {"910 910A 910PROA 910PROB 910PREMIUMA", {true,   false,  0,         true,  false, false, false,  false,   true,  true}},
    {"910B*",                                {true,   true,   32,        true,  true,  false, false,  false,   true,  true}},
    {"910C 910_93*",                         {false,  true,   32,        true,  true,  true,  true,   false,   true,  true}},
    {"950DT*",                               {true,   true,   64,        true,  true,  false, false,  true,    false, false}},
    {"950* 910_95*",                         {true,   true,   64,        true,  true,  false, false,  true,    true,  false}},
    {"310P 310P1 310P3 310P5 310P7",         {true,   false,  0,         false, false, false, false,  false,   true,  true}},
    {"310B 310B1 310B2 310B3 310B4",         {true,   false,  32,        false, false, false, false,  false,   true,  true}},
    {"310 310RC",                            {true,   false,  0,         false, false, false, false,  false,   true,  true}},
};
// clang-format on

// Case, blanks, hyphens and the word Ascend make no difference.
std::string Plain(std::string_view soc_name) {
  std::string plain;
  for (const char c : soc_name) {
    const auto byte = static_cast<unsigned char>(c);
    if (!std::isspace(byte) && c != '-') plain += static_cast<char>(std::toupper(byte));
  }
  constexpr std::string_view kWord = "ASCEND";
  if (const size_t at = plain.find(kWord); at != std::string::npos) plain.erase(at, kWord.size());
  return plain;
}

// One word of a family's names against a plain name.
bool Matches(std::string_view pattern, std::string_view name) {
  if (pattern.back() != '*') return name == pattern;
  pattern.remove_suffix(1);
  return name.substr(0, pattern.size()) == pattern;
}

bool IsOneOf(std::string_view patterns, std::string_view name) {
  while (!patterns.empty()) {
    const size_t end = std::min(patterns.find(' '), patterns.size());
    if (Matches(patterns.substr(0, end), name)) return true;
    patterns.remove_prefix(std::min(end + 1, patterns.size()));
  }
  return false;
}

const Product* SayUnknown(const char* soc_name) {
  const char* standard = (*SettingName("ROPEWAY_SOC")).standard;
  std::string known;
  for (const Family& family : kFamilies) known.append(" ").append(family.names);
  fprintf(stderr, "ropeway: no product is called '%s' (ROPEWAY_SOC, SOC_VERSION), so the rules of %s hold; the names are:%s\n", soc_name,
          standard, known.c_str());
  return FindProduct(standard);
}

}  // namespace

const Product* FindProduct(std::string_view soc_name) {
  const std::string name = Plain(soc_name);
  const auto* found =
      std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const Family& family) { return IsOneOf(family.names, name); });
  return found == std::end(kFamilies) ? nullptr : &found->product;
}

const Product& ThisProduct() {
  static const Product* const product = [] {
    const std::string& name = GetConfig().soc_name;
    const Product* found = FindProduct(name);
    return found != nullptr ? found : SayUnknown(name.c_str());
  }();
  return *product;
}

}  // namespace ropeway
