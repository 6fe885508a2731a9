// The control channels of one rank: a TCP connection per peer, made by whoever has something to say first, or no
// connection at all when both ranks live in one process. Everything here belongs to the I/O thread.
//
// Two ranks may call each other at the same moment; then the higher rank's call stands: it answers "busy" to the lower
// one, which waits. The higher rank alone decides, so there is never more than one channel.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hccl/membership/communicator.h"
#include "hccl/transport/handshake.h"
#include "hccl/transport/rank_connection.h"

namespace ropeway::comm {

class Channels : public std::enable_shared_from_this<Channels> {
 public:
  using Answer = std::function<void(HcclResult, std::string)>;
  using Up = std::function<void(HcclResult)>;
  // A connection of the link to the same peer: welcomed ones are handed on.
  using LinkEntered = std::function<void(uint32_t peer, SecureSocket fd)>;

  Channels(std::string communicator, std::string secret, uint32_t rank, uint32_t size);
  ~Channels();
  // From here on peers may call.
  void Begin(const std::shared_ptr<Communicator>& owner);

  void Send(uint32_t peer, Frame frame, std::string_view rest = {}, Leaves leaves = Leaves::kTogether);
  // With bytes behind it, over a channel that is up; `gone` as in Connection::SendWithBulk. False: nothing was sent.
  bool SendWithBulk(uint32_t peer, const Frame& frame, Bulk bulk, std::function<void()> gone);
  void Call(uint32_t peer, Frame frame, Answer answer);
  void Reply(uint32_t peer, uint64_t id, std::string body);
  void WhenUp(uint32_t peer, Up up);
  HcclResult Ended(uint32_t peer) const;
  // Whether further connections to `peer`, whose channel is up, are made by this side: the one that made the channel, since the other one
  // may not be able to (address translation, a firewall).
  bool Calls(uint32_t peer) const;

  // News from the lifeline. It counts only while there is no channel: a channel's own end comes after everything said
  // on it.
  void Heard(uint32_t peer, HcclResult why);
  // Nobody tells any more who has left: a peer that refuses connections for a moment counts as gone. (Before, it may be one that only calls
  // and cannot be called, because of address translation.)
  void NoMoreNews() { no_more_news_ = true; }
  // Says good-bye on every channel and ends what is pending.
  void Leave();

  const std::string& communicator() const { return communicator_; }
  const std::string& secret() const { return secret_; }
  LinkEntered link_entered;

 private:
  struct Slot {
    bool up = false;
    bool ended = false;
    bool called = false;                     // by this side
    std::shared_ptr<Connection> connection;  // null while up: same process
    std::shared_ptr<Caller> caller;
    IoThread::Timer retry;
    IoThread::Timer give_up;
    std::optional<Deadline> patience;  // with a peer that refuses, once nobody tells of it
    std::vector<Frame> waiting;
    std::vector<Up> waiters;
    std::map<uint64_t, Answer> calls;
    std::string last_failure;
  };

  Verdict Decide(const Hello& hello);
  void Enter(const Hello& hello, SecureSocket fd);
  void Connect(uint32_t peer);
  void StartCall(uint32_t peer);
  void Answered(uint32_t peer, SecureSocket fd, Verdict verdict, const std::string& why);
  void Rise(uint32_t peer, std::shared_ptr<Connection> connection);
  std::shared_ptr<Connection> Open(uint32_t peer, SecureSocket fd);
  bool IsForAnyone(uint32_t peer, const Frame& frame) const;
  void Deliver(uint32_t peer, Frame frame);
  void End(uint32_t peer, HcclResult why, const std::string& text);
  void Drop(Slot& slot);

  const std::string communicator_;
  const std::string secret_;
  const uint32_t rank_;
  const uint32_t size_;
  std::weak_ptr<Communicator> owner_;
  bool left_ = false;
  bool no_more_news_ = false;
  uint64_t last_call_ = 0;
  std::map<uint32_t, Slot> slots_;  // of the peers that there was something to say to or to hear from
};

}  // namespace ropeway::comm
