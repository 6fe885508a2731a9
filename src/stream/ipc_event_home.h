// The records of an IPC event, in the process that created it, and what it tells those who opened it elsewhere.
#pragma once

#include <utility>
#include <vector>

#include "base/mutex.h"
#include "ipc/service.h"
#include "stream/ipc_event.h"
#include "stream/shared_name.h"

namespace ropeway {

constexpr uint32_t kEventOfferType = 2;

// What processes say to each other about an event.
enum EventMessage : uint32_t {
  kEventRegister = ipc::kFirstFreeKind,  // call: code, the number of a new record, and this kind again
  kEventFinish,                          // record, end; receipt, and an answer when the home knows
  kEventLook,                            // call: state and number of the latest record
  kEventWatch,                           // the same; kEventTold follows if it is pending
  kEventUnwatch,                         // watch
  kEventTold,                            // to the importer: watch, code
};

class EventHome final : public IpcEvent {
 public:
  static constexpr size_t kMostOutstanding = 8192;

  explicit EventHome(int device) : device_(device) {}

  Result<ipc::Key> Export() override;
  int device() const override { return device_; }
  uint64_t shared_name() const override { return shared_name_; }
  void Withdraw() override;

 private:
  friend class EventOffer;
  static constexpr uint64_t kThisProcess = 0;     // in place of a connection
  using Watcher = std::pair<uint64_t, uint64_t>;  // connection and watch
  struct Record {
    uint64_t recorder;  // a connection
    std::vector<std::pair<Watcher, Told>> watchers;
  };

  Result<uint64_t> Register() override { return RegisterFor(kThisProcess); }
  void Finish(uint64_t record, End end, Told heard) override;
  Result<Latest> Look() override;
  Result<Latest> Watch(uint64_t watch, Told told) override { return WatchFor({kThisProcess, watch}, std::move(told)); }
  void Unwatch(uint64_t watch) override { UnwatchFor({kThisProcess, watch}); }

  Result<uint64_t> RegisterFor(uint64_t recorder);
  // False: `recorder` has no such record.
  bool FinishFor(uint64_t recorder, uint64_t record, End end);
  // For another process `told` is called under the lock, and only sends.
  Latest WatchFor(Watcher watcher, Told told);
  void UnwatchFor(Watcher watcher);
  // An importer is gone, with all that it recorded and watched.
  void Forget(uint64_t connection, End end);

  const int device_;
  const uint64_t shared_name_ = NewSharedName();
  Mutex mutex_{LockRank::kEventHome};
  uint64_t last_record_ RW_GUARDED_BY(mutex_) = 0;
  Latest latest_ RW_GUARDED_BY(mutex_);
  std::map<uint64_t, Record> outstanding_ RW_GUARDED_BY(mutex_);  // by number
  std::shared_ptr<ipc::Offer> offer_ RW_GUARDED_BY(mutex_);       // once exported
  ipc::Key key_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
