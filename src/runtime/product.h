// What the product that the setting `soc` names can do, where products differ (copy-and-memory.md).
#pragma once

#include <cstddef>

namespace ropeway {

struct Product {
  bool peers_need_enabling;     // before devices reach each other's memory
  bool copies_batches;          // A2, A3 and 950
  size_t copy_descriptor_size;  // 0: no descriptors
  bool copies_by_cells;         // two-level pointers
  bool has_value_waits;
  bool counts_notifies;         // 950
  bool shares_events;           // with other processes: all but 950DT
  bool reserves_at;             // virtual addresses can be chosen
  bool has_fabric;              // shareable handles that reach further than a machine
};

// Of this process; decided once.
const Product& ThisProduct();

// As above for any name: for tests.
Product ProductOf(const char* soc_name);

}  // namespace ropeway
