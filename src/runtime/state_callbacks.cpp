#include "runtime/state_callbacks.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/no_destroy.h"
#include "base/race_detector.h"

namespace ropeway {
namespace {

template <typename Callback>
class NamedCallbacks {
 public:
  Status Register(const char* name, Callback callback, void* args) {
    const HeldAcrossFork lock(ForkLock::kRegistries);
    if (callback == nullptr) {
      entries_.erase(name);
      return Ok();
    }
    if (!entries_.emplace(name, std::make_pair(callback, args)).second)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "regName \"%s\" is in use; register a null callback to free it", name);
    return Ok();
  }

  // A copy, so that callbacks run without the lock and may register others.
  std::vector<std::pair<Callback, void*>> All() {
    const HeldAcrossFork lock(ForkLock::kRegistries);
    std::vector<std::pair<Callback, void*>> all;
    for (const auto& [name, entry] : entries_) all.push_back(entry);
    return all;
  }

 private:
  std::map<std::string, std::pair<Callback, void*>> entries_;  // guarded by ForkLock::kRegistries
};

template <typename Callback>
NamedCallbacks<Callback>& Named() {
  static NoDestroy<NamedCallbacks<Callback>> callbacks;
  return callbacks.get();
}

}  // namespace

Status RegisterStreamState(const char* name, aclrtStreamStateCallback callback, void* args) {
  return Named<aclrtStreamStateCallback>().Register(name, callback, args);
}

Status RegisterDeviceState(const char* name, aclrtDeviceStateCallback callback, void* args) {
  return Named<aclrtDeviceStateCallback>().Register(name, callback, args);
}

Status RegisterTaskAbort(const char* name, aclrtDeviceTaskAbortCallback callback, void* args) {
  return Named<aclrtDeviceTaskAbortCallback>().Register(name, callback, args);
}

void NotifyStreamState(aclrtStream stream, aclrtStreamState state) {
  for (auto [callback, args] : Named<aclrtStreamStateCallback>().All()) {
    const race_detector::UsersCode users;
    callback(stream, state, args);
  }
}

void NotifyDeviceState(int device, aclrtDeviceState state) {
  for (auto [callback, args] : Named<aclrtDeviceStateCallback>().All()) {
    const race_detector::UsersCode users;
    callback(device, state, args);
  }
}

void NotifyTaskAbort(int device, aclrtDeviceTaskAbortStage stage, uint32_t timeout_ms) {
  for (auto [callback, args] : Named<aclrtDeviceTaskAbortCallback>().All()) {
    const race_detector::UsersCode users;
    callback(device, stage, timeout_ms, args);
  }
}

}  // namespace ropeway
