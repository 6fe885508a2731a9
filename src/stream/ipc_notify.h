// Notifies that several processes share. The flag lies in the process that exported the notify and nowhere else; importers
// ask for it to be set, taken and cleared, and their stream waits for the answer. So there is one order of all that happens to
// it.
//
// Every request is answered once. A change of the flag has a receipt in front of it, too: the wait that it ends may be all that the
// exporting process lived for, and the one who asked must not take that process's end for a failure. A take that its stream no
// longer waits for is withdrawn; if it was granted meanwhile, the importer puts the flag back.
#pragma once

#include <map>
#include <memory>

#include "base/mutex.h"
#include "ipc/service.h"
#include "stream/notify.h"
#include "stream/operation.h"

namespace ropeway {

constexpr uint32_t kNotifyOfferType = 1;

// The importer's side.
class NotifyImport final : public ipc::Listener, public std::enable_shared_from_this<NotifyImport> {
 public:
  enum Kind : uint32_t { kSet = ipc::kFirstFreeKind, kTake, kClear, kWithdraw, kPutBack };

  static Result<std::shared_ptr<NotifyImport>> Open(const ipc::Key& key);
  ~NotifyImport() override;

  int device() const { return device_; }
  int id() const { return id_; }
  uint64_t shared_name() const { return shared_name_; }
  // Queues a request that is sent when the stream comes to it, and holds the stream until it is answered.
  Status LaunchOn(StreamRef stream, const FailureScope* current, int64_t timeout_ns, Kind kind, const char* call);

  void OnMessage(ipc::Connection& connection, const ipc::Message& message, FileDescriptor fd) override;
  void OnGone(ipc::Connection& connection, bool said_goodbye) override;

 private:
  class Request;
  struct Asked {
    Kind kind;
    std::shared_ptr<Request> request;  // null: its stream no longer waits
    bool received = false;             // the exporter is carrying it out
  };
  void Ask(const std::shared_ptr<Request>& request);
  void GiveUp(uint32_t ticket);

  std::shared_ptr<ipc::Connection> connection_;
  int device_ = 0;
  int id_ = 0;
  uint64_t shared_name_ = 0;
  Mutex mutex_{LockRank::kNotifyImport};
  bool gone_ RW_GUARDED_BY(mutex_) = false;
  std::map<uint32_t, Asked> asked_ RW_GUARDED_BY(mutex_);  // by ticket
};

// The exporter's side: one for all importers of a notify, which it keeps alive.
class NotifyOffer final : public ipc::Offer, public std::enable_shared_from_this<NotifyOffer> {
 public:
  explicit NotifyOffer(Notify& notify);
  ~NotifyOffer() override;

  ipc::Key key;  // once it is published

  void OnJoined(ipc::Connection& connection, ipc::Message* welcome, int* fd) override;
  void OnMessage(ipc::Connection& connection, const ipc::Message& message, FileDescriptor fd) override;
  void OnGone(ipc::Connection& connection, bool said_goodbye) override;

 private:
  // A take that waits for the flag beside the streams of this process.
  struct Waiting;
  using Name = std::pair<uint64_t, uint32_t>;  // connection and ticket
  void Take(ipc::Connection& connection, uint32_t ticket);
  // The flag was taken for it, or never will be.
  void Grant(const Name& name);
  void Withdraw(ipc::Connection& connection, uint32_t ticket);

  Notify& notify_;
  Mutex mutex_{LockRank::kNotifyOffer};
  std::map<Name, std::unique_ptr<Waiting>> waiting_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
