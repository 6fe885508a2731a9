// Events of the three kinds (rules/events.md). An event is a name for its latest record; a record is one point of one
// stream, with a gate that stream-side waits pass and a time at which it was reached.
//
// Classic events have a second face: a flag that a record sets and a reset clears, in stream order. Stream-side waits of
// classic events look at the flag, everything on the host side looks at the latest record.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/race_detector.h"
#include "base/slab.h"
#include "base/spin_lock.h"
#include "base/status.h"
#include "stream/stream.h"

namespace ropeway {

class Event;
class IpcEvent;

// Who releases what: the event holds its latest record; every queued task that names a record or an event holds it, too.
class Record final : public SlabObject, public Marker {
 public:
  enum class State : uint8_t { kPending, kDone, kDropped };

  State state() const {
    const State state = state_.load(std::memory_order_acquire);
    race_detector::TakeOver(this);
    return state;
  }
  int64_t time_ns() const { return time_ns_; }  // once kDone
  Gate& gate() { return gate_; }
  Marker* wait_marker() { return &wait_passed_; }
  Stream& stream() { return *stream_; }
  uint64_t sequence() const { return sequence_.load(std::memory_order_acquire); }

  // Inside a replay, whose end comes later than this point.
  bool inside_replay() const { return inside_replay_; }

  void Reached() override;
  void Dropped() override;
  void Repeat() override;
  Gate* Opens() override;
  void Recycle();

 private:
  friend class Event;
  friend struct StateShape;  // api/state_table.cpp
  // A stream-side wait for this record is over.
  class WaitPassed final : public Marker {
   public:
    explicit WaitPassed(Record& record) : record_(record) {}
    void Reached() override;
    void Dropped() override { Reached(); }

   private:
    Record& record_;
  };

  std::atomic<State> state_{State::kPending};
  int64_t time_ns_ = 0;
  Gate gate_;
  WaitPassed wait_passed_{*this};
  Event* event_ = nullptr;
  Stream* stream_ = nullptr;
  std::atomic<uint64_t> sequence_{0};
  bool inside_replay_ = false;
};

using RecordSlab = Slab<Record, 0x62>;
RecordSlab& Records();
using RecordHold = SlabRef<RecordSlab, Record>;

using EventSlab = Slab<Event, 0x61>;
EventSlab& Events();
using EventHold = SlabRef<EventSlab, Event>;

class Event final : public SlabObject {
 public:
  enum class Kind : uint8_t { kDefault, kClassic, kEx };

  static Event* Create(Kind kind, uint32_t flags, int device, FailureScope* scope);
  // The handle becomes stale; what is queued still works.
  static bool Destroy(void* handle);

  Kind kind() const { return kind_; }
  uint32_t flags() const { return flags_; }
  int device() const { return device_; }
  int id() const { return id_; }
  // Classic events take a hardware id when they are made, the others with their first record; all give it back when they
  // are destroyed.
  static uint64_t ids_in_use();
  // The failure of the context in which the event was made, in stop mode; OK once that context is gone.
  Status CheckContext() { return scope_->epoch() == scope_epoch_ ? scope_->Check() : Ok(); }
  Status DeliverContextFailure() { return scope_->epoch() == scope_epoch_ ? scope_->Deliver() : Ok(); }
  bool keeps_time() const;
  bool can_be_awaited() const;
  // Made by aclrtCreateEventWithFlag for use inside captures, too, where it means the outside.
  bool classic_external() const;

  // Queues a record, which the event stands for from now on.
  Status RecordOn(StreamRef stream, const FailureScope* current, const char* call);
  // Queues a wait, or nothing where the kind's rules say so. The stream's context has been checked by the caller.
  Status AwaitOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call);
  Status ResetOn(StreamRef stream, const FailureScope* current, const char* call);

  // --- Capture (rules/graphs.md 3; event_capture.cpp) ------------------------------------------------------------------------
  // Recorded last inside a capture that still runs.
  bool TakesPartInCapture();
  // Operations with the EXTERNAL flag, on a stream that is being captured.
  Status CaptureExternal(StreamRef stream, bool record, const char* call);
  // For a replay: a new record, with one reference for its task and one for AdoptRecord; null when there is none left.
  Record* MakeRecord(Stream* on, bool inside_replay);
  // The task of the record was queued as `sequence`, or it was not.
  void AdoptRecord(Record* record, uint64_t sequence, bool queued);
  // Its latest record is a stored task of a model built by hand, which no thread can wait for.
  bool recorded_in_model();
  // What a replay waits for: the latest record, or nothing.
  RecordHold BindWait(ReplayBinding* binding);

  // What stands behind an event with ACL_EVENT_IPC, null for the others: its records may be of other processes.
  IpcEvent* ipc() const { return ipc_.get(); }
  // An event that stands for one of another process.
  static Event* Adopt(std::shared_ptr<IpcEvent> opened, int device, FailureScope* scope);

  RecordHold latest();
  bool HasOutstandingWaits() const { return waits_.load(std::memory_order_acquire) > 0; }

  void Recycle();

  // Which flag the first record and the first wait used: they bind the event for good (rules/events.md 2).
  SpinLock& lock() RW_RETURN_CAPABILITY(lock_) { return lock_; }
  int record_flag RW_GUARDED_BY(lock_) = -1;
  int wait_flag RW_GUARDED_BY(lock_) = -1;

 private:
  friend class Record;
  friend struct StateShape;  // api/state_table.cpp
  class FlagWaitPassed final : public Marker {
   public:
    explicit FlagWaitPassed(Event& event) : event_(event) {}
    void Reached() override;
    void Dropped() override { Reached(); }
    void Repeat() override;

   private:
    Event& event_;
  };
  class FlagReset final : public Marker {
   public:
    explicit FlagReset(Event& event) : event_(event) {}
    void Reached() override;
    void Dropped() override;
    void Repeat() override;

   private:
    Event& event_;
  };

  // A classic event is set by a captured task.
  class FlagSet final : public Marker {
   public:
    explicit FlagSet(Event& event) : event_(event) {}
    void Reached() override;
    void Dropped() override;
    void Repeat() override;

   private:
    Event& event_;
  };
  // Where in a capture the event was recorded last.
  struct CapturedPoint {
    void* model = nullptr;  // handle: stale when the capture failed
    uint32_t edge = 0;
  };

  CapturedPoint captured_point();
  Status RecordInCapture(Stream& stream, class Model& model, const char* call);
  // Streams of models built by hand know classic events alone.
  Status RequireStorable(const Stream& stream) const;
  Status StoreRecord(StreamRef stream, const FailureScope* current, const char* call);
  Status AwaitCaptured(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call, bool* handled);
  void ForgetLatest(const Record* only_if);
  // Streams look at the flag of a classic event alone; the others' waits name their record.
  Signal SignalOf(Signal::Role role) const {
    return kind_ == Kind::kClassic ? Signal{this, static_cast<uint32_t>(id_), role, false, false} : Signal{};
  }
  void TakeId();
  Status AwaitRecord(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call);
  Status AwaitFlag(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call);

  static Event* Make(Kind kind, uint32_t flags, int device, FailureScope* scope, std::shared_ptr<IpcEvent> ipc);

  Kind kind_ = Kind::kDefault;
  uint32_t flags_ = 0;
  int device_ = 0;
  int id_ = 0;
  FailureScope* scope_ = nullptr;
  uint32_t scope_epoch_ = 0;
  std::shared_ptr<IpcEvent> ipc_;  // fixed while the event lives
  Gate flag_;                      // classic events only
  FlagWaitPassed flag_wait_passed_{*this};
  FlagReset flag_reset_{*this};
  FlagSet flag_set_{*this};
  std::atomic<int> waits_{0};
  std::atomic<bool> has_id_{false};
  SpinLock lock_{LockRank::kEvent};
  Record* latest_ RW_GUARDED_BY(lock_) = nullptr;
  CapturedPoint captured_ RW_GUARDED_BY(lock_);
  bool used_externally_ RW_GUARDED_BY(lock_) = false;
  bool recorded_in_model_ RW_GUARDED_BY(lock_) = false;
};

}  // namespace ropeway
