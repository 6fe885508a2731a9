// A one-bit flag on a device: a record sets it, a wait takes it (rules/signals.md 1). One record releases one wait. The flag lies
// here, or, for an imported notify, in the process that exported it (ipc_notify.h).
#pragma once

#include <atomic>
#include <memory>

#include "base/slab.h"
#include "base/status.h"
#include "ipc/key.h"
#include "stream/stream.h"

namespace ropeway {

class Notify;
class NotifyImport;
class NotifyOffer;
using NotifySlab = Slab<Notify, 0x51>;
NotifySlab& Notifies();
using NotifyHold = SlabRef<NotifySlab, Notify>;

class Notify final : public SlabObject {
 public:
  static Notify* Create(int device);
  // A notify of another process. As ipc::Service::Connect; 207009 when there is no room.
  static Result<Notify*> Import(const ipc::Key& key);
  static bool Destroy(void* handle);

  int id() const { return id_; }
  int device() const { return device_; }
  Status RecordOn(StreamRef stream, const FailureScope* current, const char* call);
  Status AwaitOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call);
  Status ResetOn(StreamRef stream, const FailureScope* current, const char* call);
  void Recycle();

  // --- Other processes (ipc_notify.cpp) -----------------------------------------------------------------------------------
  bool imported() const { return home_ != nullptr; }
  // Once: 507000 for the second time. `everybody`: without a list of processes.
  Result<ipc::Key> Export(bool everybody);
  // 107000 for one that was not exported.
  Status AdmitToo(const int32_t* pids, size_t count);

 private:
  friend class NotifyOffer;
  friend struct StateShape;  // api/state_table.cpp
  // Queued tasks keep the notify alive; each of these gives its reference back.
  struct Recorded final : Marker {
    explicit Recorded(Notify& notify) : notify_(notify) {}
    void Reached() override {
      notify_.flag_.Open();
      Notifies().Release(&notify_);
    }
    void Dropped() override { Notifies().Release(&notify_); }
    void Repeat() override { Notifies().Retain(&notify_); }
    Notify& notify_;
  };
  struct Passed final : Marker {
    explicit Passed(Notify& notify) : notify_(notify) {}
    void Reached() override { Notifies().Release(&notify_); }
    void Dropped() override { Notifies().Release(&notify_); }
    void Repeat() override { Notifies().Retain(&notify_); }
    int Failed(bool gate_broke, TaskFailure* failure) const override { return gate_broke ? ExplainDeath(failure) : 0; }
    Notify& notify_;
  };
  struct WasReset final : Marker {
    explicit WasReset(Notify& notify) : notify_(notify) {}
    void Reached() override {
      notify_.flag_.Close();
      Notifies().Release(&notify_);
    }
    void Dropped() override { Notifies().Release(&notify_); }
    void Repeat() override { Notifies().Retain(&notify_); }
    Notify& notify_;
  };
  Status Submit(StreamRef stream, const FailureScope* current, Task& task);
  Signal SignalOf(Signal::Role role) const {
    const auto number = static_cast<uint32_t>(id_);
    const uint64_t name = shared_name_.load(std::memory_order_relaxed);
    return name == 0 ? Signal{this, number, role, true, false} : Signal::Shared(name, number, role, true);
  }
  // How waits end when one of the processes that share the notify has died: a record may never come. A flag that is set counts.
  static int ExplainDeath(TaskFailure* failure);
  void Withdraw();

  int id_ = 0;
  int device_ = 0;
  std::atomic<uint64_t> shared_name_{0};  // of an exported one, for those who watch
  Gate flag_{Gate::Mode::kAutoReset};
  Recorded recorded_{*this};
  Passed passed_{*this};
  WasReset was_reset_{*this};
  std::shared_ptr<NotifyImport> home_;  // of an imported one; fixed while it lives
  std::shared_ptr<NotifyOffer> offer_;  // of an exported one; guarded by a mutex of ipc_notify.cpp
};

}  // namespace ropeway
