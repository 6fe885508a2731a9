#include "stream/report_mailbox.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <new>
#include <optional>

#include "acl/error_codes/rt_error_codes.h"
#include "engine/watcher.h"
#include "stream/stream.h"

namespace ropeway {
namespace {

struct Mailboxes {
  Mutex mutex{LockRank::kReportMailboxes};
  std::map<uint64_t, std::unique_ptr<ReportMailbox>> by_thread RW_GUARDED_BY(mutex);
};

Mailboxes& AllMailboxes() {
  static auto* mailboxes = new Mailboxes;
  return *mailboxes;
}

constexpr size_t kMaxThreads = 1024;

}  // namespace

ReportMailbox* ReportMailbox::Of(uint64_t thread_number, bool make) {
  Mailboxes& all = AllMailboxes();
  LockGuard lock(all.mutex);
  auto it = all.by_thread.find(thread_number);
  if (it != all.by_thread.end()) return it->second.get();
  if (!make) return nullptr;
  auto mailbox = std::make_unique<ReportMailbox>();
  mailbox->thread_number_ = thread_number;
  return all.by_thread.emplace(thread_number, std::move(mailbox)).first->second.get();
}

Status ReportMailbox::Subscribe(uint64_t thread_number, Stream& stream) {
  ReportMailbox* mailbox = Of(thread_number, true);
  LockGuard stream_lock(stream.lock());
  if (stream.family != Stream::Family::kNone)
    return Fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, "stream %d is %s; unsubscribe it first, or use another stream", stream.id(),
                stream.family == Stream::Family::kReport ? "subscribed already" : "used with aclrtLaunchHostFunc");
  LockGuard lock(mailbox->mutex_);
  if (mailbox->streams_ > 0 && mailbox->device_ != stream.device())
    return Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "threadId %llu serves streams of device %d already, the stream is on device %d",
                static_cast<unsigned long long>(thread_number), mailbox->device_, stream.device());
  if (mailbox->streams_ == 0) {
    Mailboxes& all = AllMailboxes();
    LockGuard all_lock(all.mutex);
    if (all.by_thread.size() > kMaxThreads)
      return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "no more than %zu threads can be subscribed", kMaxThreads);
  }
  ++mailbox->streams_;
  mailbox->device_ = stream.device();
  stream.family = Stream::Family::kReport;
  stream.mailbox = mailbox;
  return Ok();
}

Status ReportMailbox::Unsubscribe(uint64_t thread_number, Stream& stream) {
  {
    LockGuard stream_lock(stream.lock());
    if (stream.family != Stream::Family::kReport) return Fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, "stream %d is not subscribed", stream.id());
    if (stream.mailbox->thread_number_ != thread_number)
      return Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "threadId %llu does not serve stream %d", static_cast<unsigned long long>(thread_number),
                  stream.id());
  }
  // Blocking callbacks are part of the stream; the serving thread must still be looping.
  static_cast<void>(stream.WaitTold(stream.queue().submitted(), Deadline::Never()));
  Forget(stream);
  return Ok();
}

void ReportMailbox::Forget(Stream& stream) {
  LockGuard stream_lock(stream.lock());
  if (stream.family != Stream::Family::kReport) return;
  ReportMailbox* mailbox = std::exchange(stream.mailbox, nullptr);
  stream.family = Stream::Family::kNone;
  LockGuard lock(mailbox->mutex_);
  if (--mailbox->streams_ == 0) {
    mailbox->calls_.clear();
    mailbox->changed_.notify_all();
  }
}

Status ReportMailbox::Process(int32_t timeout_ms) {
  const auto self = static_cast<uint64_t>(pthread_self());
  ReportMailbox* mailbox = Of(self, false);
  if (mailbox == nullptr) return Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "the calling thread is not subscribed to a stream");
  LockGuard lock(mailbox->mutex_);
  std::optional<HostWait> wait;
  if (mailbox->calls_.empty()) wait.emplace(WaitReason::kReport, 0, 0);
  mailbox->changed_.wait_until(mailbox->mutex_, Deadline::AfterMs(timeout_ms).at(),
                               [mailbox]() RW_REQUIRES(mailbox->mutex_) { return !mailbox->calls_.empty() || mailbox->streams_ == 0; });
  wait.reset();
  if (mailbox->streams_ == 0) return Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, "the calling thread is not subscribed to a stream");
  if (mailbox->calls_.empty()) return Fail(ACL_ERROR_RT_REPORT_TIMEOUT, "no callback came within timeout %d ms", timeout_ms);
  while (!mailbox->calls_.empty()) {
    const HostCall call = mailbox->calls_.front();
    mailbox->calls_.pop_front();
    lock.unlock();
    call.Run();
    lock.lock();
  }
  return Ok();
}

bool ReportMailbox::Post(const HostCall& call) try {
  LockGuard lock(mutex_);
  calls_.push_back(call);
  changed_.notify_all();
  return true;
} catch (const std::bad_alloc&) {
  return false;
}

bool ReportMailbox::Retract(HostCall::Return* on_return) {
  LockGuard lock(mutex_);
  auto it = std::find_if(calls_.begin(), calls_.end(), [&](const HostCall& call) { return call.on_return == on_return; });
  if (it == calls_.end()) return false;
  calls_.erase(it);
  return true;
}

}  // namespace ropeway
