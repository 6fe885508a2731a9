#include "hccl/membership/registry.h"

#include <new>

#include "base/mutex.h"

namespace ropeway::comm {
namespace {

using Registry = Slab<RegisteredCommunicator, 0x4c>;

Registry& TheRegistry() {
  static Registry registry;
  return registry;
}

// Of those who take one out.
Mutex& RemovalMutex() {
  static Mutex mutex{LockRank::kHcclRegistry};
  return mutex;
}

}  // namespace

CommunicatorHold::~CommunicatorHold() {
  if (row_ != nullptr) TheRegistry().Release(row_);
}

HcclComm AddCommunicator(std::shared_ptr<Communicator> communicator) {
  RegisteredCommunicator* const row = TheRegistry().Take();
  if (row == nullptr) throw std::bad_alloc();
  row->communicator = std::move(communicator);
  return TheRegistry().Publish(row);
}

CommunicatorHold FindCommunicator(HcclComm comm) { return CommunicatorHold(TheRegistry().Acquire(comm)); }

HcclComm HandleOfName(std::string_view name, int32_t device) {
  HcclComm first = nullptr, best = nullptr;
  TheRegistry().ForEachInUse([&](RegisteredCommunicator* row) {
    if (row->communicator->name() != name) return;
    const HcclComm comm = TheRegistry().HandleOf(row);
    if (first == nullptr) first = comm;
    if (best == nullptr && row->communicator->self().device == device) best = comm;
  });
  return best != nullptr ? best : first;
}

HcclResult RemoveCommunicator(HcclComm comm, std::shared_ptr<Communicator>* communicator) {
  LockGuard lock(RemovalMutex());
  RegisteredCommunicator* const row = TheRegistry().Find(comm);
  if (row == nullptr) return HCCL_E_PARA;
  if (!TheRegistry().RetireUnused(row)) return HCCL_E_AGAIN;
  *communicator = std::move(row->communicator);
  TheRegistry().Discard(row);
  return HCCL_SUCCESS;
}

}  // namespace ropeway::comm
