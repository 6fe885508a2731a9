#include "stream/exception_report.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/fork.h"
#include "base/log.h"
#include "base/no_destroy.h"
#include "engine/watcher.h"
#include "stream/host_thread.h"

namespace ropeway {
namespace {

using Callback = aclrtExceptionInfoCallback;

// Taking a copy needs no memory: a change of the set makes a new one.
struct Callbacks {
  Callback slot = nullptr;
  std::shared_ptr<const std::vector<Callback>> set;  // null: empty

  bool empty() const { return slot == nullptr && (set == nullptr || set->empty()); }
  std::shared_ptr<std::vector<Callback>> CopyOfSet() const {
    return set == nullptr ? std::make_shared<std::vector<Callback>>() : std::make_shared<std::vector<Callback>>(*set);
  }
};

struct Registry {
  Callbacks callbacks;
  bool tasks_may_fail = false;
};
constinit NoDestroy<Registry> g_registry;  // guarded by fork_lock::registries

// For processes with devices.
struct Teller {
  HostThread thread{"rw-exception"};
  Mutex mutex{LockRank::kExceptionReports};
  Condition changed;
  uint64_t reported RW_GUARDED_BY(mutex) = 0;
  uint64_t told RW_GUARDED_BY(mutex) = 0;  // in the order of the reports
};

thread_local bool t_telling = false;
constinit std::atomic<bool> g_ever_reported{false};

Teller& TheTeller() {
  static NoDestroy<Teller> teller;
  return teller.get();
}

Callbacks CallbacksOfNow() {
  const LockGuard lock(fork_lock::registries);
  return g_registry.get().callbacks;
}

void Tell(void* argument) {
  std::unique_ptr<ExceptionInfo> info(static_cast<ExceptionInfo*>(argument));
  const Callbacks callbacks = CallbacksOfNow();
  auto* opaque = reinterpret_cast<aclrtExceptionInfo*>(info.get());
  t_telling = true;
  if (callbacks.slot != nullptr) callbacks.slot(opaque);
  if (callbacks.set != nullptr) {
    for (const Callback callback : *callbacks.set) callback(opaque);
  }
  t_telling = false;
  Teller& teller = TheTeller();
  LockGuard lock(teller.mutex);
  ++teller.told;
  teller.changed.notify_all();
}

// Changes the registry, with the telling thread there if the state that comes of it `needs` one.
template <typename Needs, typename Change>
void ChangeRegistry(Needs&& needs, Change&& change) {
  for (bool there = false;; there = true) {
    {
      const LockGuard lock(fork_lock::registries);
      if (there || !needs(g_registry.get())) return change(g_registry.get());
    }
    TheTeller().thread.Prepare();
  }
}

bool TasksMayFail(const Registry& registry) { return registry.tasks_may_fail; }

}  // namespace

void ReportException(const ExceptionInfo& info) {
  {
    const LockGuard lock(fork_lock::registries);
    if (g_registry.get().callbacks.empty()) return;
  }
  Teller& teller = TheTeller();
  // Counted and posted in one order, as they are told.
  LockGuard lock(teller.mutex);
  std::unique_ptr<ExceptionInfo> report(new (std::nothrow) ExceptionInfo(info));
  if (report == nullptr || !teller.thread.Post({&Tell, report.get(), nullptr}))
    return WriteLog(kLogWarning, "host memory is exhausted: an exception callback is not told of a failed task");
  static_cast<void>(report.release());
  ++teller.reported;
  g_ever_reported.store(true, std::memory_order_release);
}

void AwaitExceptionReports() {
  if (t_telling || !g_ever_reported.load(std::memory_order_acquire)) return;
  Teller& teller = TheTeller();
  LockGuard lock(teller.mutex);
  const uint64_t last = teller.reported;
  if (teller.told >= last) return;
  const HostWait wait(WaitReason::kReport, 0, 0);
  while (teller.told < last) teller.changed.wait(teller.mutex);
}

void GetReadyForExceptions() {
  ChangeRegistry([](const Registry& registry) { return !registry.callbacks.empty(); },
                 [](Registry& registry) { registry.tasks_may_fail = true; });
}

void SetExceptionCallback(Callback callback) {
  ChangeRegistry([=](const Registry& registry) { return callback != nullptr && TasksMayFail(registry); },
                 [=](Registry& registry) { registry.callbacks.slot = callback; });
}

void AddExceptionCallback(Callback callback) {
  ChangeRegistry(&TasksMayFail, [=](Registry& registry) {
    auto set = registry.callbacks.CopyOfSet();
    if (std::find(set->begin(), set->end(), callback) == set->end()) set->push_back(callback);
    registry.callbacks.set = std::move(set);
  });
}

void RemoveExceptionCallback(Callback callback) {
  const LockGuard lock(fork_lock::registries);
  auto set = g_registry.get().callbacks.CopyOfSet();
  std::erase(*set, callback);
  g_registry.get().callbacks.set = std::move(set);
}

}  // namespace ropeway
