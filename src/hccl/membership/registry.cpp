#include "hccl/membership/registry.h"

#include <map>

#include "base/mutex.h"

namespace ropeway::comm {
namespace {

struct Row {
  std::shared_ptr<Communicator> communicator;
  int users = 0;
};

struct Registry {
  Mutex mutex{LockRank::kHcclRegistry};
  std::map<HcclComm, Row> rows RW_GUARDED_BY(mutex);
  uintptr_t last RW_GUARDED_BY(mutex) = 0;
};

Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

// No address of a program lies up there, so that a pointer that is no handle is never taken for one; and it fits an int64_t.
constexpr uintptr_t kHandleBase = uintptr_t{0x4c} << 56;

void Leave(HcclComm comm) {
  Registry& registry = TheRegistry();
  LockGuard lock(registry.mutex);
  --registry.rows.at(comm).users;  // a row with users is not removed
}

}  // namespace

HcclComm AddCommunicator(std::shared_ptr<Communicator> communicator) {
  Registry& registry = TheRegistry();
  LockGuard lock(registry.mutex);
  const HcclComm comm = reinterpret_cast<HcclComm>(kHandleBase + ++registry.last);
  registry.rows[comm] = {std::move(communicator), 0};
  return comm;
}

std::shared_ptr<Communicator> FindCommunicator(HcclComm comm) {
  Registry& registry = TheRegistry();
  LockGuard lock(registry.mutex);
  const auto found = registry.rows.find(comm);
  if (found == registry.rows.end()) return nullptr;
  ++found->second.users;
  const std::shared_ptr<Communicator>& communicator = found->second.communicator;
  return {communicator.get(), [comm, communicator](Communicator*) { Leave(comm); }};
}

HcclComm HandleOfName(std::string_view name, int32_t device) {
  Registry& registry = TheRegistry();
  LockGuard lock(registry.mutex);
  HcclComm first = nullptr;
  for (const auto& [comm, row] : registry.rows) {
    if (row.communicator->name() != name) continue;
    if (row.communicator->self().device == device) return comm;
    if (first == nullptr) first = comm;
  }
  return first;
}

HcclResult RemoveCommunicator(HcclComm comm, std::shared_ptr<Communicator>* communicator) {
  Registry& registry = TheRegistry();
  LockGuard lock(registry.mutex);
  const auto found = registry.rows.find(comm);
  if (found == registry.rows.end()) return HCCL_E_PARA;
  if (found->second.users > 0) return HCCL_E_AGAIN;
  *communicator = std::move(found->second.communicator);
  registry.rows.erase(found);
  return HCCL_SUCCESS;
}

}  // namespace ropeway::comm
