#include "runtime/product.h"

#include <string_view>

#include "base/config.h"

namespace ropeway {

Product ProductOf(const char* soc_name) {
  const std::string_view name(soc_name);
  const auto is = [&](std::string_view family) { return name.substr(0, family.size()) == family; };
  const bool a3 = is("Ascend910_93");
  const bool a950 = is("Ascend950");
  const bool recent = a3 || a950 || is("Ascend910B");
  const bool training = is("Ascend910");
  Product product{};
  product.peers_need_enabling = !a3;
  product.copies_batches = recent;
  product.copy_descriptor_size = a950 ? 64 : recent ? 32 : 0;
  product.copies_by_cells = recent || training;
  product.has_value_waits = recent;
  product.counts_notifies = a950;
  product.shares_events = !is("Ascend950DT");
  product.reserves_at = !a950;
  product.has_fabric = a3;
  return product;
}

const Product& ThisProduct() {
  static const Product product = ProductOf(GetConfig().soc_name.c_str());
  return product;
}

}  // namespace ropeway
