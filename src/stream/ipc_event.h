// Events that several processes share (rules/events.md 8). The process that created the event keeps its records (EventHome); the
// others speak to it (EventImport). A record is made known to the home before the call returns, so that every later wait,
// in whatever process, finds it; its end is made known when the stream gets there, and the stream goes on once the home
// has heard of it.
#pragma once

#include <map>
#include <memory>

#include "base/mutex.h"
#include "base/status.h"
#include "ipc/key.h"
#include "stream/operation.h"
#include "stream/stream.h"

namespace ropeway {

class IpcEvent : public std::enable_shared_from_this<IpcEvent> {
 public:
  virtual ~IpcEvent() = default;
  // The event of another process, or of this one. As ipc::Service::Connect.
  static Result<std::shared_ptr<IpcEvent>> Open(const ipc::Key& key);
  // The key under which others open it, the same every time. An event that was opened has none: 107000.
  virtual Result<ipc::Key> Export() = 0;
  // The device on which the event was created, by its physical id.
  virtual int device() const = 0;
  // The same in all processes that share it.
  virtual uint64_t shared_name() const = 0;
  // The handle is gone: nobody else may open it.
  virtual void Withdraw() = 0;

  // Told once how the record ended, 0 or a code; without any lock, on any thread. An object and not a function, because those who are told
  // are there already: telling takes no memory.
  class Ear {
   public:
    virtual ~Ear() = default;
    virtual void Tell(int code) = 0;
  };

  Status RecordOn(StreamRef stream, const FailureScope* current, const char* call);
  Status AwaitOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, const char* call);
  // Whether the latest record is done, or there is none. 507022: it never will be.
  Result<bool> Query();
  // 0, 507047, 107023 when the own stream was aborted, 507022.
  Status Synchronize(Deadline deadline);

 protected:
  enum class State : uint64_t { kNothing, kPending, kFailed };  // of the latest record
  enum class End : uint64_t { kDone, kDropped, kFailed };       // of any record
  struct Latest {
    State state = State::kNothing;
    uint64_t record = 0;
  };
  using Told = std::shared_ptr<Ear>;

  // A new record, which is the latest from now on.
  virtual Result<uint64_t> Register() = 0;
  // How a record ended; `heard` is told when the home knows, unless it is null.
  virtual void Finish(uint64_t record, End end, Told heard) = 0;
  virtual Result<Latest> Look() = 0;
  // As Look; if the record is pending, `told` is kept under the name `watch` until it is told.
  virtual Result<Latest> Watch(uint64_t watch, Told told) = 0;
  virtual void Unwatch(uint64_t watch) = 0;

  static uint64_t NewWatch();
  Signal SignalOf(uint64_t record, Signal::Role role) const;

 private:
  class RecordOperation;
  class WaitOperation;
  class Latch;
  // A record of this process that its stream has not come to.
  struct Own {
    Stream* stream = nullptr;  // with a reference
    uint64_t sequence = 0;
  };
  void AddOwn(std::map<uint64_t, Own>::node_type place, uint64_t record, Stream* stream);
  void NumberOwn(uint64_t record, uint64_t sequence);
  void ForgetOwn(uint64_t record);
  StreamHold FindOwn(uint64_t record, uint64_t* sequence);

  Mutex own_mutex_{LockRank::kIpcEvent};
  std::map<uint64_t, Own> own_ RW_GUARDED_BY(own_mutex_);
};

}  // namespace ropeway
