// What the product that the setting `soc` names can do, where products differ (docs/products.md).
#pragma once

#include <cstddef>
#include <string_view>

namespace ropeway {

struct Product {
  bool peers_need_enabling;     // before devices reach each other's memory
  bool copies_batches;          // A2, A3 and 950
  size_t copy_descriptor_size;  // 0: no descriptors
  bool copies_by_cells;         // two-level pointers
  bool has_value_waits;
  bool has_fabric;         // shareable handles that reach further than a machine
  bool unified_addresses;  // of all devices, as the driver tells
  bool counts_notifies;    // 950
  bool shares_events;      // with other processes: all but 950DT
  bool reserves_at;        // virtual addresses can be chosen
};

// Of this process; decided once. A name that is none of a product's is said on stderr, and the default's rules hold.
const Product& ThisProduct();

// The product of a name, however it is spelled ("Ascend 910B1", "ascend910b1", "910B1"); null when there is none.
const Product* FindProduct(std::string_view soc_name);

}  // namespace ropeway
