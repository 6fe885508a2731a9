// How processes find and trust each other. Each process that exports or imports runs one thread, which listens on an abstract
// socket (nothing appears in the file system), checks who comes, and delivers messages. It sleeps in the kernel when there are
// none.
//
// Who is admitted: the same user, with the offer's whole key, from a process on the offer's list (or any, with the list
// switched off). A key that never was and one that is withdrawn are answered alike. A peer that says nothing, or nonsense,
// is dropped; it holds up nobody.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "base/clock.h"
#include "base/event_loop.h"
#include "base/mutex.h"
#include "base/status.h"
#include "ipc/connection.h"
#include "ipc/key.h"

namespace ropeway::ipc {

// How long an importer waits for an exporter that is alive and does not answer.
constexpr int64_t kPatienceMs = 10000;

// An import that was admitted.
struct Joined {
  std::shared_ptr<Connection> connection;
  Message welcome;
  FileDescriptor fd;
};

class Service {
 public:
  // Of this process; started by the first call. A forked child starts its own. 507022 when the system has no room for it.
  static Result<Service*> Get();
  // The same if it was started, else null: for those who only take something back.
  static Service* GetIfStarted();

  // Makes the offer importable under the key that is returned.
  Result<Key> Publish(std::shared_ptr<Offer> offer);
  // The same for those who can hand on one number only (number.h).
  Result<uint64_t> PublishNumber(std::shared_ptr<Offer> offer);
  // An offer that this process has published; null when there is none, or of another type.
  std::shared_ptr<Offer> Find(const Key& key, uint32_t type);
  // Nobody is admitted any more; those who were keep the offer alive and are served.
  void Withdraw(const Key& key);

  // Imports. 107000: no such key (any more), or of another type; 207006: this process is not on the list; 507022: the exporter
  // does not answer. `listener` is held weakly.
  Result<Joined> Connect(const Key& key, uint32_t type, std::weak_ptr<Listener> listener, Deadline deadline);

  size_t connections();
  bool OnOwnThread() const;
  // False in a forked child, where what the parent left may not be touched.
  bool OfThisProcess() const;

  // --- For connections ------------------------------------------------------------------------------------------------
  void WantsToSend(const Connection& connection, bool wants);
  void Forget(const Connection& connection);

 private:
  static constexpr uint64_t kDoors = 0;  // epoll's name for all listening sockets; connections count from 1
  Service() = default;
  struct Published {
    Secret secret;
    std::shared_ptr<Offer> offer;
    uint64_t door = 0;  // its own socket's name; 0 when the service's is good enough
  };

  Status Start();
  // Listens under one more name, until it is forgotten.
  Status OpenDoor(uint64_t name);
  void Run();
  Status Dial(uint64_t service, Deadline deadline, Channel* channel, Peer* peer);
  // Says hello on a connection of the list and hears the answer.
  Status Join(const Key& key, uint32_t type, Deadline deadline, Joined* joined);
  // Puts a connection on the list. From Listen on, what comes is delivered; false when the system has no room for it.
  std::shared_ptr<Connection> Adopt(Channel channel, Peer peer, std::weak_ptr<Listener> listener);
  bool Listen(const Connection& connection);
  std::shared_ptr<Connection> Find(uint64_t id);
  // On the service's thread:
  void Accept();
  void AcceptAt(uint64_t door);
  void Welcome(Channel channel, Peer peer);
  void PauseAccepting(bool pause);
  Deadline DropSilentPeers();  // until when nothing needs to be done
  void Handle(uint64_t id, uint32_t events);
  void HandleMessages(Connection& connection, uint32_t events);
  bool Deliver(Connection& connection, const Message& message, FileDescriptor fd);
  bool Greet(Connection& connection, const Message& hello);
  void End(Connection& connection, bool said_goodbye);

  int pid_ = 0;
  uint64_t name_ = 0;
  std::optional<EventLoop> loop_;
  FileDescriptor doors_;                // another epoll, of the listening sockets by their names: it is watched or not as one
  int64_t paused_until_ns_ = 0;         // of the service's thread
  std::map<uint64_t, int64_t> silent_;  // of the service's thread: who has not said hello, oldest first, and since when

  Mutex mutex_{LockRank::kService};
  uint64_t last_id_ RW_GUARDED_BY(mutex_) = 0;
  std::unordered_map<uint64_t, std::shared_ptr<Connection>> connections_ RW_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, std::shared_ptr<FileDescriptor>> open_doors_ RW_GUARDED_BY(mutex_);
  std::unordered_map<uint64_t, Published> offers_ RW_GUARDED_BY(mutex_);  // by the first word of the secret; the others decide
};

}  // namespace ropeway::ipc
