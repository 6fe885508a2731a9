#include "hccl/api/product.h"

#include <cctype>
#include <string_view>

#include "acl/acl.h"

namespace ropeway::comm {
namespace {

using Allowed = bool (*)(HcclDataType type, HcclReduceOp op);

bool Everything(HcclDataType, HcclReduceOp) { return true; }
bool LikeA2(HcclDataType type, HcclReduceOp op) {
  return op != HCCL_REDUCE_PROD || (type != HCCL_DATA_TYPE_INT16 && type != HCCL_DATA_TYPE_BFP16);
}
bool Like910(HcclDataType type, HcclReduceOp) { return type != HCCL_DATA_TYPE_INT16; }
bool Like310P(HcclDataType type, HcclReduceOp op) { return type != HCCL_DATA_TYPE_INT16 || op == HCCL_REDUCE_SUM; }

// The first that a name begins with.
constexpr struct {
  std::string_view name;
  Allowed allowed;
} kProducts[] = {
    {"910_95", Everything}, {"950", Everything}, {"910B", LikeA2},     {"910C", LikeA2},    {"910_93", LikeA2},
    {"910", Like910},       {"310P", Like310P},  {"310B", Everything}, {"310", Everything},
};

Allowed RuleOf(const std::string& name) {
  for (const auto& row : kProducts) {
    if (std::string_view(name).substr(0, row.name.size()) == row.name) return row.allowed;
  }
  return LikeA2;
}

}  // namespace

// The house's rule for names: case, blanks, hyphens and the word "Ascend" make no difference.
std::string PlainProductName() {
  const char* const name = aclrtGetSocName();
  std::string plain;
  for (const char c : std::string_view(name == nullptr ? "" : name)) {
    if (c != ' ' && c != '-') plain.push_back(static_cast<char>(std::toupper(static_cast<unsigned char>(c))));
  }
  return plain.rfind("ASCEND", 0) == 0 ? plain.substr(6) : plain;
}

Status RequireReducibleHere(HcclDataType type, HcclReduceOp op) {
  static const Allowed allowed = RuleOf(PlainProductName());
  if (allowed(type, op)) return Ok();
  return Fail(HCCL_E_NOT_SUPPORT, "dataType %d cannot be reduced with op %d on an %s; ROPEWAY_SOC names another product", type, op,
              PlainProductName().c_str());
}

}  // namespace ropeway::comm
