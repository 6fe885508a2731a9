// One rank of a communicator: who the others are, and one authenticated control channel to each of them, made on first
// use. What runs on top (send and receive, the one-sided service) sees messages between ranks and never a socket.
//
// Threads: everything that arrives is handled on the process's one I/O thread (io_thread.h), so handlers must not
// block, and state that only handlers touch needs no lock. Every member function may be called from any thread unless
// it says otherwise.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/slab.h"
#include "hccl/base/result.h"
#include "hccl/hccl_types.h"
#include "hccl/transport/address.h"
#include "hccl/transport/rank_connection.h"

namespace ropeway::comm {

class Communicator;
class Channels;
class Listener;
class Membership;

// What every rank knows about every rank once the communicator exists.
struct PeerInfo {
  std::string host;         // server identity: equal means "same host"
  uint64_t process = 0;     // a random number of the process: equal means "same process", also across pid namespaces
  int32_t pid = 0;          // as the peer sees itself: what aclrtIpcMemSetImportPid wants
  int32_t device = 0;       // the peer's logical device id
  uint32_t world_rank = 0;  // index in the first, largest group
  Address address;          // where the peer's process listens for control connections
};

// Message numbers: the high byte is the service's.
enum MessageType : uint16_t {
  kSendRecvMessages = 0x100,
  kOneSidedMessages = 0x200,
  kLinkMessages = 0x300,
  kBoardMessages = 0x400,
};

// A message that arrived. Copyable, so that the answer can be given later and by any thread; the caller of Call waits
// for it.
class Request {
 public:
  Request(std::weak_ptr<Communicator> to, uint32_t peer, uint16_t type, uint64_t id, std::string body)
      : to_(std::move(to)), peer_(peer), type_(type), id_(id), body_(std::move(body)) {}
  uint32_t peer() const { return peer_; }
  uint16_t type() const { return type_; }
  const std::string& body() const { return body_; }
  std::string TakeBody() { return std::move(body_); }
  bool wants_reply() const { return id_ != 0; }
  // No effect when the message wants none or the peer is gone.
  void Reply(std::string body) const;

 private:
  std::weak_ptr<Communicator> to_;
  uint32_t peer_;
  uint16_t type_;
  uint64_t id_;
  std::string body_;
};

// A part of the library that speaks over control channels. Added once per process, from a static initialiser, because a
// peer may speak before this rank has called the service's first function. All functions may be null.
struct Service {
  uint16_t messages;  // of the types [messages, messages + 0x100)
  // On the I/O thread, or on one that stands in for it if `anywhere` says so of the message: then it asks nothing of the runtime.
  void (*received)(Communicator& communicator, Request& request);
  // On the I/O thread: nothing will come from `peer` any more. HCCL_SUCCESS: it destroyed its communicator;
  // HCCL_E_REMOTE: it died; HCCL_E_TCP_TRANSFER: the link to it broke; HCCL_E_TCP_CONNECT: it was never reached.
  void (*peer_ended)(Communicator& communicator, uint32_t peer, HcclResult why);
  // Before a communicator is destroyed, on the caller's thread. A failure is HcclCommDestroy's answer.
  Status (*may_destroy)(Communicator& communicator);
  // On the I/O thread: the communicator is destroyed; what is pending must end now.
  void (*destroyed)(Communicator& communicator);
  bool (*anywhere)(Communicator& communicator, uint32_t peer, uint16_t type, std::string_view body) = nullptr;
  // Of messages with bytes behind them, as Connection::Events has these two; on any thread that stands in for the I/O thread. Both or none.
  std::optional<Bulk> (*bulk_begins)(Communicator& communicator, uint32_t peer, const Frame& frame, uint64_t size) = nullptr;
  void (*bulk_ended)(Communicator& communicator, uint32_t peer, const Frame& frame, bool taken) = nullptr;
};
void AddService(const Service* service);

// What a reason of peer_ended means, for messages: "it ...".
constexpr const char* LossText(HcclResult why) {
  return why == HCCL_SUCCESS ? "it has destroyed its communicator" : why == HCCL_E_REMOTE ? "its process is gone" : "the link to it broke";
}

// Whether such a rank has said all that it had to say, and whatever of it is on its way still comes.
constexpr bool EndedInOrder(HcclResult why) { return why == HCCL_SUCCESS || why == HCCL_E_REMOTE; }

class Communicator : public std::enable_shared_from_this<Communicator> {
 public:
  uint32_t rank() const { return rank_; }
  uint32_t size() const { return static_cast<uint32_t>(peers_.size()); }
  const std::string& name() const { return name_; }
  const PeerInfo& peer(uint32_t rank) const { return peers_[rank]; }  // rank < size()
  const PeerInfo& self() const { return peers_[rank_]; }
  bool SameProcess(uint32_t peer) const { return peers_[peer].process == self().process; }
  bool SameHost(uint32_t peer) const { return peers_[peer].host == self().host; }

  // Blocks until the control channel to `peer` is up. HCCL_E_TIMEOUT; HCCL_E_TCP_CONNECT; HCCL_E_REMOTE: the peer has
  // left. Not on the I/O thread. Nobody has to call it: Send and Call connect by themselves.
  HcclResult Connect(uint32_t peer, Deadline deadline);

  // One message, in order with all others to this peer; connects first when needed. What cannot be delivered is dropped
  // and Service::peer_ended says so. `rest`: of its body, for as long as the call takes.
  void Send(uint32_t peer, uint16_t type, std::string body, std::string_view rest = {}, Leaves leaves = Leaves::kTogether);
  // The same with bytes behind it, if the channel is up, on the I/O thread: false when nothing was sent. `gone`: their memory is needed no
  // more; not called when the channel ends before.
  bool SendWithBulk(uint32_t peer, uint16_t type, std::string body, Bulk bulk, std::function<void()> gone);
  // Sends a message and hands its answer to `done`, on the I/O thread; or an error when the peer ends first.
  void Call(uint32_t peer, uint16_t type, std::string body, std::function<void(HcclResult, std::string reply)> done);
  // The same, waiting. Not on the I/O thread.
  HcclResult Call(uint32_t peer, uint16_t type, std::string body, Deadline deadline, std::string* reply);

  // HCCL_E_REMOTE once `peer` has left or died, else HCCL_SUCCESS. On the I/O thread.
  HcclResult Ended(uint32_t peer) const;

  // The first error stays: HcclGetCommAsyncError gives it. `text` says who and why, for the messages of what fails
  // because of it.
  void SetAsyncError(HcclResult error, const std::string& text);
  HcclResult async_error() const;
  std::string async_error_text() const;

  // Suspended, it takes no new work. What ranks count together, they count anew in each life: HcclCommResume begins the next one, which has
  // no error yet.
  bool suspended() const { return suspended_.load(std::memory_order_acquire); }
  void Suspend() { suspended_.store(true, std::memory_order_release); }
  void BeginLife();
  uint64_t life() const { return life_.load(std::memory_order_acquire); }

  // What the configuration said that has no effect here.
  HcclOpExpansionMode op_expansion_mode() const { return op_expansion_mode_; }
  const std::string& algorithm() const { return algorithm_; }

  // The state of a service for this communicator: made by `make` on the first call with this service, gone with the
  // communicator.
  std::shared_ptr<void> State(const Service& service, const std::function<std::shared_ptr<void>()>& make);
  // The same for as long as the communicator is held: as a rule without a lock.
  template <typename Make>
  void* StateHere(const Service& service, const Make& make) {
    for (const MadeEntry& made : made_) {
      const Service* const owner = made.owner.load(std::memory_order_acquire);
      if (owner == &service) return made.state;
      if (owner == nullptr) break;
    }
    return State(service, make).get();
  }

  // Time limits of the environment when the communicator was made: HCCL_CONNECT_TIMEOUT and HCCL_EXEC_TIMEOUT.
  Deadline ConnectDeadline() const { return Deadline::After(connect_timeout_); }
  Deadline ExecDeadline() const;

 private:
  friend class Joining;
  friend struct Parts;
  Communicator() = default;

  // Constant once the communicator is handed out.
  uint32_t rank_ = 0;
  std::string name_;
  std::pair<std::string, uint32_t> present_;  // what it was made from, and as which rank
  std::vector<PeerInfo> peers_;
  HcclOpExpansionMode op_expansion_mode_ = HCCL_OP_EXPANSION_MODE_HOST;
  std::string algorithm_;
  std::chrono::milliseconds connect_timeout_{120'000};
  std::chrono::milliseconds exec_timeout_{1836'000};  // 0: no limit

  // Synchronise themselves, or belong to the I/O thread.
  std::atomic<HcclResult> async_error_{HCCL_SUCCESS};
  std::atomic<bool> suspended_{false};
  std::atomic<uint64_t> life_{0};
  std::shared_ptr<Channels> channels_;  // this and the next two: null once the communicator is destroyed
  std::shared_ptr<Membership> membership_;
  std::shared_ptr<Listener> listener_;

  mutable Mutex mutex_{LockRank::kHcclCommunicator};
  std::string async_error_text_ RW_GUARDED_BY(mutex_);
  // For a look without the lock, in the same order; what finds no room here is found under it.
  struct MadeEntry {
    std::atomic<const Service*> owner{nullptr};  // written behind the state, once
    void* state = nullptr;
  };
  std::array<MadeEntry, 16> made_;
  std::vector<std::pair<const Service*, std::shared_ptr<void>>> states_ RW_GUARDED_BY(mutex_);
};

// The communicator behind a handle, kept alive and marked as in use for as long as this lives; null for an unknown handle. HcclCommDestroy
// answers HCCL_E_AGAIN while another thread has one, so have it for the length of a call only.
struct RegisteredCommunicator : SlabObject {
  void Recycle() {}
  std::shared_ptr<Communicator> communicator;
};
class CommunicatorHold {
 public:
  CommunicatorHold() = default;
  explicit CommunicatorHold(RegisteredCommunicator* acquired) : row_(acquired) {}
  CommunicatorHold(CommunicatorHold&& other) noexcept : row_(std::exchange(other.row_, nullptr)) {}
  CommunicatorHold& operator=(CommunicatorHold&&) = delete;
  CommunicatorHold(const CommunicatorHold&) = delete;
  CommunicatorHold& operator=(const CommunicatorHold&) = delete;
  ~CommunicatorHold();
  explicit operator bool() const { return row_ != nullptr; }
  Communicator& operator*() const { return *row_->communicator; }
  Communicator* operator->() const { return row_->communicator.get(); }
  // For what outlives the call.
  const std::shared_ptr<Communicator>& shared() const { return row_->communicator; }

 private:
  RegisteredCommunicator* row_ = nullptr;
};
CommunicatorHold FindCommunicator(HcclComm comm);

}  // namespace ropeway::comm
