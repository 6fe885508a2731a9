#include "stream/host_thread.h"


#include <algorithm>
#include <system_error>

#include "base/own_thread.h"

namespace ropeway {

void HostThread::Prepare() {
  std::lock_guard lock(mutex_);
  if (!joining_ && !abandoned_ && !thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

void HostThread::Post(const HostCall& call) {
  std::lock_guard lock(mutex_);
  if (abandoned_) return;
  calls_.push_back(call);
  if (!joining_) StartIfNeeded();
  changed_.notify_all();
}

void HostThread::StartIfNeeded() {
  if (!calls_.empty() && !thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

bool HostThread::Retract(HostCall::Return* on_return) {
  std::lock_guard lock(mutex_);
  auto it = std::find_if(calls_.begin(), calls_.end(), [&](const HostCall& call) { return call.on_return == on_return; });
  if (it == calls_.end()) return false;
  calls_.erase(it);
  return true;
}

void HostThread::Run() {
  const OwnThread self(name_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return !calls_.empty() || joining_ || abandoned_; });
    if (calls_.empty()) return;
    RunPosted(lock);
  }
}

void HostThread::RunPosted(std::unique_lock<std::mutex>& lock) {
  while (!calls_.empty()) {
    const HostCall call = calls_.front();
    calls_.pop_front();
    lock.unlock();
    call.Run();
    lock.lock();
  }
}

void HostThread::Join() {
  std::unique_lock lock(mutex_);
  if (joining_ || !thread_.joinable()) return;
  joining_ = true;
  changed_.notify_all();
  std::thread thread = std::move(thread_);
  lock.unlock();
  thread.join();
  lock.lock();
  joining_ = false;
  // What came while the thread was on its way out gets a new one: never two at a time. Or this one, when there is no other.
  try {
    StartIfNeeded();
  } catch (const std::system_error&) {
    RunPosted(lock);
  }
}

void HostThread::Abandon() {
  std::lock_guard lock(mutex_);
  abandoned_ = true;
  calls_.clear();
  changed_.notify_all();
  if (thread_.joinable()) thread_.detach();
}

}  // namespace ropeway
