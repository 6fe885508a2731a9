#include "hixl/engine/channel.h"

#include "base/mutex.h"
#include "hccl/transport/sha256.h"
#include "hixl/engine/result.h"
#include "hixl/engine/wire.h"

namespace ropeway::transfer {

using comm::IoThread;

std::string DoorName(const std::string& engine) {
  return std::string(comm::BytesOf(comm::Sha256("engine " + engine))).substr(0, comm::kCommunicatorBytes);
}

std::shared_ptr<comm::Caller> CallDoor(const EngineName& remote, const std::string& secret, comm::Purpose purpose, uint32_t link,
                                       comm::Caller::Done done) {
  comm::Hello hello;
  hello.communicator = DoorName(remote.text);
  hello.from = link;
  hello.purpose = purpose;
  return comm::Caller::Start(remote.address, hello, secret, std::move(done));
}

// What a caller waits for.
struct Channel::Answer {
  Mutex mutex{LockRank::kHixlAnswer};
  Condition changed;
  bool there RW_GUARDED_BY(mutex) = false;
  std::string body RW_GUARDED_BY(mutex);
  std::string failure RW_GUARDED_BY(mutex);

  void Give(std::string answer, std::string why) {
    LockGuard lock(mutex);
    if (there) return;
    there = true;
    body = std::move(answer);
    failure = std::move(why);
    changed.notify_all();
  }
  Result<std::string> Take(Deadline deadline) {
    LockGuard lock(mutex);
    if (!changed.wait_until(mutex, deadline.at(), [this]() RW_REQUIRES(mutex) { return there; }))
      return Fail(kTimeout, "the other engine did not answer in time");
    if (!failure.empty()) return Fail(kFailed, "%s", failure.c_str());
    return std::move(body);
  }
};

Result<std::shared_ptr<Channel>> Channel::Open(const EngineName& remote, const std::string& secret, Events events, Deadline deadline) {
  std::shared_ptr<Channel> channel(new Channel(std::move(events)));
  const auto connected = std::make_shared<Answer>();
  IoThread::Get().Post([=] {
    channel->caller_ = CallDoor(remote, secret, comm::Purpose::kControl, 0,
                                [channel, connected](comm::SecureSocket fd, comm::Verdict, const std::string& why) {
                                  channel->caller_.reset();
                                  if (!fd) return connected->Give("", why.empty() ? "it refuses the connection" : why);
                                  channel->Enter(std::move(fd));
                                  connected->Give("", "");
                                });
  });
  Result<std::string> outcome = connected->Take(deadline);
  if (outcome.ok()) return channel;
  channel->Close();
  Status status = outcome.status();
  return Fail(status.code(), "%s cannot be reached: %s", remote.text.c_str(), status.text());
}

void Channel::Enter(comm::SecureSocket fd) {
  if (!end_.empty()) return;
  const std::weak_ptr<Channel> weak = weak_from_this();
  comm::Connection::Events events;
  events.received = [weak](const comm::Frame& frame) {
    if (const auto self = weak.lock()) self->Received(frame);
  };
  events.closed = [weak](bool, const std::string& why) {
    if (const auto self = weak.lock()) self->Ended("the connection to the other engine ended: " + why);
  };
  connection_ = comm::Connection::Open(std::move(fd), std::move(events));
}

void Channel::Received(const comm::Frame& frame) {
  if (frame.type == kGone) {
    events_.gone(frame.id);
    if (connection_) connection_->Send({kGoneHeard, frame.id, ""});
    return;
  }
  const auto node = asked_.extract(frame.id);
  if (node && frame.type == kAnswer) node.mapped()->Give(frame.body, "");
}

void Channel::Ended(const std::string& why) {
  if (!end_.empty()) return;
  end_ = why;
  connection_.reset();
  for (const auto& [id, answer] : std::exchange(asked_, {})) answer->Give("", why);
  events_.closed(why);
}

Result<std::string> Channel::Ask(uint16_t type, std::string body, Deadline deadline) {
  const auto answer = std::make_shared<Answer>();
  IoThread::Get().Post([self = shared_from_this(), answer, type, body = std::move(body)] {
    if (!self->connection_) return answer->Give("", self->end_.empty() ? "there is no connection" : self->end_);
    self->asked_[++self->last_] = answer;
    self->connection_->Send({type, self->last_, body});
  });
  return answer->Take(deadline);
}

void Channel::Close() {
  IoThread::Get().Post([self = shared_from_this()] {
    if (self->end_.empty()) self->end_ = "the link was dropped";
    self->caller_.reset();
    if (self->connection_) self->connection_->Close();
    self->connection_.reset();
    for (const auto& [id, answer] : std::exchange(self->asked_, {})) answer->Give("", self->end_);
  });
}

}  // namespace ropeway::transfer
