// One end of an import: the exporter has one for each importer, the importer one for each import. The service's thread
// delivers what comes in; anybody may send.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "base/mutex.h"
#include "base/status.h"
#include "ipc/channel.h"

namespace ropeway::ipc {

class Connection;
class Service;

// Who hears what comes in. All calls come on the service's thread, one at a time: they may send, but neither block nor Call.
class Listener {
 public:
  virtual ~Listener() = default;
  // `fd` is what came along, or empty. Receipts, and replies that no Call waits for, come here, too.
  virtual void OnMessage(Connection& connection, const Message& message, FileDescriptor fd) = 0;
  // The other end is gone, once; `said_goodbye` when it left in order, so that its process may well be alive. Not told of a
  // connection that was closed on this side.
  virtual void OnGone(Connection& connection, bool said_goodbye) = 0;
};

// Something that other processes may import; `type` keeps keys of one type from being used for another.
class Offer : public Listener {
 public:
  explicit Offer(uint32_t type) : type_(type) {}
  uint32_t type() const { return type_; }

  // An importer was admitted: `welcome` takes values for it, `fd` a descriptor that stays the offer's.
  virtual void OnJoined(Connection& connection, Message* welcome, int* fd) = 0;

  void AdmitEverybody();
  void AdmitToo(const int32_t* pids, size_t count);
  // The own process is always admitted.
  bool Admits(pid_t pid) const;

 private:
  const uint32_t type_;
  mutable Mutex mutex_{LockRank::kOffer};
  bool everybody_ RW_GUARDED_BY(mutex_) = false;
  std::set<pid_t> pids_ RW_GUARDED_BY(mutex_);
};

// The service's own kinds of messages.
enum ServiceKind : uint32_t { kHello = 1, kWelcome, kRefused, kGoodbye, kReply, kReceipt };
constexpr uint64_t kProtocol = 0x52570002;  // hello is said in this version only
enum Refusal : uint64_t { kUnknown = 1, kNotListed };

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(Service& service, uint64_t id, Channel channel, Peer peer)
      : service_(service), id_(id), channel_(std::move(channel)), peer_(peer) {}

  uint64_t id() const { return id_; }
  const Peer& peer() const { return peer_; }

  // Sends, behind everything that was sent before; never blocks. False when the other end is gone; one that does not read is left when
  // there is no memory for what waits for it.
  bool Post(const Message& message, int fd = -1);
  // Says that a request is being carried out; its reply follows. For requests whose effect others can see: whoever sees it may
  // end this process before the reply is sent, so this is sent before there is an effect. To the one who asked, the end of the
  // connection behind a receipt is as good as the reply.
  bool Receipt(uint32_t ticket) { return Post({kReceipt, ticket, {}}); }
  // Answers a request.
  bool Reply(uint32_t ticket, uint64_t code, uint64_t value = 0);
  // A ticket for a request that is sent by Post: its reply goes to the listener.
  uint32_t NewTicket();
  // Sends a request and waits for its reply. 507022 when the other end is gone or does not answer in time. Not for the
  // service's thread.
  Result<Message> Call(Message request, Deadline deadline);

  // Says goodbye and forgets the listener: a call to it that is under way may still run, no other will begin.
  void Close();

  int fd_for_test() const { return channel_.fd(); }

 private:
  friend class Service;
  // The service's thread only.
  std::shared_ptr<Listener> listener() const { return offer_ != nullptr ? offer_ : listener_.lock(); }
  bool closing() {
    LockGuard lock(mutex_);
    return closing_;
  }
  struct Outgoing {
    Message message;
    FileDescriptor fd;
  };
  struct Answer {
    bool arrived = false;
    Message message;
  };
  // True: it was the reply that a Call waits for.
  bool TakeReply(const Message& message);
  // Sends what waits. True: all of it is out.
  bool Flush();
  // Nothing comes any more: those who wait for replies are told.
  void End();

  Service& service_;
  const uint64_t id_;
  Channel channel_;
  const Peer peer_;
  std::atomic<uint32_t> last_ticket_{0};
  // Of the exporter's end: the offer, which a connection keeps alive. Of the importer's: whoever imported, unless gone.
  std::shared_ptr<Offer> offer_;
  std::weak_ptr<Listener> listener_;

  Mutex mutex_{LockRank::kConnection};
  Condition answered_;
  std::deque<Outgoing> outgoing_ RW_GUARDED_BY(mutex_);
  std::map<uint32_t, Answer*> calls_ RW_GUARDED_BY(mutex_);
  bool closing_ RW_GUARDED_BY(mutex_) = false;
  bool ended_ RW_GUARDED_BY(mutex_) = false;
};

}  // namespace ropeway::ipc
