#include "hccl/api/state_callbacks.h"

#include <map>
#include <string>

#include "base/mutex.h"
#include "hccl/hccl_comm.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

struct Registration {
  HcclCommStateCallback function;
  void* argument;
};
struct Callbacks {
  Mutex mutex{LockRank::kHcclStateCallbacks};
  std::map<std::string, Registration> by_name RW_GUARDED_BY(mutex);
};
Callbacks& TheCallbacks() {
  static auto* const callbacks = new Callbacks;
  return *callbacks;
}

}  // namespace

Status TellStateCallbacks(HcclComm comm, HcclCommStatePhase phase) {
  std::map<std::string, Registration> all;  // a callback may register others
  {
    LockGuard lock(TheCallbacks().mutex);
    all = TheCallbacks().by_name;
  }
  for (const auto& [name, one] : all) {
    const HcclResult answer = one.function(comm, phase, one.argument);
    if (answer != HCCL_SUCCESS) return Fail(answer, "the callback %s answered %d in phase %d", name.c_str(), answer, phase);
  }
  return Ok();
}

}  // namespace ropeway::comm

HcclResult HcclCommRegCommStateCallback(const char* regName, HcclCommStateCallback cb, void* args) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("regName", regName));
    ropeway::LockGuard lock(TheCallbacks().mutex);
    auto& by_name = TheCallbacks().by_name;
    if (cb != nullptr) {
      by_name[regName] = {cb, args};
    } else if (by_name.erase(regName) == 0) {
      return Fail(HCCL_E_NOT_FOUND, "cb is NULL, and no callback %s is registered that it could end", regName);
    }
    return Ok();
  });
}
