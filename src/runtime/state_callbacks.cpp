#include "runtime/state_callbacks.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/fork.h"
#include "base/no_destroy.h"
#include "base/race_detector.h"

namespace ropeway {
namespace {

template <typename Callback>
class NamedCallbacks {
 public:
  using Entries = std::map<std::string, std::pair<Callback, void*>>;

  Status Register(const char* name, Callback callback, void* args) {
    const LockGuard lock(fork_lock::registries);
    auto changed = entries_ == nullptr ? std::make_shared<Entries>() : std::make_shared<Entries>(*entries_);
    if (callback == nullptr) {
      changed->erase(name);
    } else if (!changed->emplace(name, std::make_pair(callback, args)).second) {
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "regName \"%s\" is in use; register a null callback to free it", name);
    }
    entries_ = std::move(changed);
    return Ok();
  }

  // Those of this moment: callbacks run without the lock and may register others. Takes no memory, since destroys cannot do without.
  template <typename Call>
  void ForEach(Call call) {
    std::shared_ptr<const Entries> entries;
    {
      const LockGuard lock(fork_lock::registries);
      entries = entries_;
    }
    if (entries == nullptr) return;
    for (const auto& [name, entry] : *entries) {
      const race_detector::UsersCode users;
      call(entry.first, entry.second);
    }
  }

 private:
  std::shared_ptr<const Entries> entries_ RW_GUARDED_BY(fork_lock::registries);
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
  Named<aclrtStreamStateCallback>().ForEach([&](auto callback, void* args) { callback(stream, state, args); });
}

void NotifyDeviceState(int device, aclrtDeviceState state) {
  Named<aclrtDeviceStateCallback>().ForEach([&](auto callback, void* args) { callback(device, state, args); });
}

void NotifyTaskAbort(int device, aclrtDeviceTaskAbortStage stage, uint32_t timeout_ms) {
  Named<aclrtDeviceTaskAbortCallback>().ForEach([&](auto callback, void* args) { callback(device, stage, timeout_ms, args); });
}

}  // namespace ropeway
