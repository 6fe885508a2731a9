#include "ipc/connection.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <new>

#include "acl/error_codes/rt_error_codes.h"
#include "ipc/service.h"

namespace ropeway::ipc {
namespace {

// What may wait for a peer that does not read. One that is this far behind is stopped or broken.
constexpr size_t kMostWaiting = 65536;

FileDescriptor Duplicate(int fd) {
  return FileDescriptor::Make([&] { return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0); });
}

}  // namespace

void Offer::AdmitEverybody() {
  LockGuard lock(mutex_);
  everybody_ = true;
}

void Offer::AdmitToo(const int32_t* pids, size_t count) {
  LockGuard lock(mutex_);
  pids_.insert(pids, pids + count);
}

bool Offer::Admits(pid_t pid) const {
  if (pid == getpid()) return true;
  LockGuard lock(mutex_);
  return everybody_ || pids_.contains(pid);
}

bool Connection::Post(const Message& message, int fd) {
  if (!service_.OfThisProcess()) return false;
  LockGuard lock(mutex_);
  if (ended_ || closing_) return false;
  if (outgoing_.empty()) {
    const Channel::Outcome outcome = channel_.Send(message, fd);
    if (outcome != Channel::Outcome::kLater) return outcome == Channel::Outcome::kDone;
    service_.WantsToSend(*this, true);
  }
  if (outgoing_.size() >= kMostWaiting) {
    channel_.Shutdown();  // the service's thread finds it gone
    return false;
  }
  try {
    outgoing_.push_back({message, Duplicate(fd)});
  } catch (const std::bad_alloc&) {
    channel_.Shutdown();
    return false;
  }
  return true;
}

bool Connection::Flush() {
  LockGuard lock(mutex_);
  while (!outgoing_.empty()) {
    const Outgoing& next = outgoing_.front();
    const Channel::Outcome outcome = channel_.Send(next.message, next.fd.get());
    if (outcome == Channel::Outcome::kLater) return false;
    if (outcome == Channel::Outcome::kGone) {
      outgoing_.clear();
      break;
    }
    outgoing_.pop_front();
  }
  service_.WantsToSend(*this, false);
  return true;
}

bool Connection::Reply(uint32_t ticket, uint64_t code, uint64_t value) { return Post({kReply, ticket, {code, value}}); }

uint32_t Connection::NewTicket() {
  uint32_t ticket;
  do {
    ticket = last_ticket_.fetch_add(1, std::memory_order_relaxed) + 1;
  } while (ticket == 0);
  return ticket;
}

Result<Message> Connection::Call(Message request, Deadline deadline) {
  if (service_.OnOwnThread()) return Fail(ACL_ERROR_RT_IPC_ERROR, "another process cannot be asked from inside a notification");
  Answer answer;
  request.ticket = NewTicket();
  {
    LockGuard lock(mutex_);
    calls_[request.ticket] = &answer;
  }
  const bool sent = Post(request);
  LockGuard lock(mutex_);
  if (sent) answered_.wait_until(mutex_, deadline.at(), [&]() RW_REQUIRES(mutex_) { return answer.arrived || ended_; });
  calls_.erase(request.ticket);
  if (answer.arrived) return answer.message;
  if (sent && !ended_) return Fail(ACL_ERROR_RT_IPC_ERROR, "process %d, which exported this, does not answer", peer_.pid);
  return Fail(ACL_ERROR_RT_IPC_ERROR, "process %d, which exported this, is gone", peer_.pid);
}

bool Connection::TakeReply(const Message& message) {
  LockGuard lock(mutex_);
  auto call = calls_.find(message.ticket);
  if (message.kind != kReply || call == calls_.end()) return false;
  *call->second = {true, message};
  answered_.notify_all();
  return true;
}

void Connection::End() {
  LockGuard lock(mutex_);
  ended_ = true;
  outgoing_.clear();
  answered_.notify_all();
}

void Connection::Close() {
  if (!service_.OfThisProcess()) return;
  Post({kGoodbye, 0, {}});
  bool all_sent;
  {
    LockGuard lock(mutex_);
    if (closing_) return;
    closing_ = true;
    all_sent = outgoing_.empty();
  }
  if (all_sent) service_.Forget(*this);  // otherwise the service's thread does it behind the goodbye
}

}  // namespace ropeway::ipc
