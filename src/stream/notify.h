// A one-bit flag on a device: a record sets it, a wait takes it (runtime.md 6.1). One record releases one wait.
#pragma once

#include "base/slab.h"
#include "base/status.h"
#include "stream/stream.h"

namespace ropeway {

class Notify;
using NotifySlab = Slab<Notify, 0xD1>;
NotifySlab& Notifies();
using NotifyHold = SlabRef<NotifySlab, Notify>;

class Notify final : public SlabObject {
 public:
  static Notify* Create(int device);
  static bool Destroy(void* handle);

  int id() const { return id_; }
  int device() const { return device_; }
  Status RecordOn(StreamRef stream, const FailureScope* current, const char* call);
  Status AwaitOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call);
  Status ResetOn(StreamRef stream, const FailureScope* current, const char* call);
  void Recycle() { flag_.Close(); }

 private:
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

  int id_ = 0;
  int device_ = 0;
  Gate flag_{Gate::Mode::kAutoReset};
  Recorded recorded_{*this};
  Passed passed_{*this};
  WasReset was_reset_{*this};
};

}  // namespace ropeway
