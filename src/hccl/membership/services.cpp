#include "hccl/membership/services.h"

namespace ropeway::comm {
namespace {

// Filled by static initialisers of this library, so before anybody reads it, and read-only afterwards.
std::vector<const Service*>& List() {
  static auto* const list = new std::vector<const Service*>;
  return *list;
}

}  // namespace

void AddService(const Service* service) { List().push_back(service); }

const std::vector<const Service*>& AllServices() { return List(); }

const Service* ServiceOf(uint16_t type) {
  for (const Service* service : List()) {
    if (service->messages == (type & 0xff00)) return service;
  }
  return nullptr;
}

}  // namespace ropeway::comm
