#include "stream/host_thread.h"

#include <algorithm>
#include <exception>

#include "base/own_thread.h"

namespace ropeway {

void HostThread::Prepare() {
  LockGuard lock(mutex_);
  if (!joining_ && !abandoned_) StartIfNeeded();
}

bool HostThread::Post(const HostCall& call) {
  LockGuard lock(mutex_);
  if (abandoned_) return true;
  std::list<HostCall> posted;
  try {
    posted.push_back(call);
    if (!joining_) StartIfNeeded();
  } catch (const std::exception&) {
    return false;
  }
  calls_.splice(calls_.end(), posted);
  changed_.notify_all();
  return true;
}

void HostThread::StartIfNeeded() {
  if (!thread_.joinable()) thread_ = std::thread([this] { Run(); });
}

bool HostThread::Retract(HostCall::Return* on_return) {
  LockGuard lock(mutex_);
  auto it = std::find_if(calls_.begin(), calls_.end(), [&](const HostCall& call) { return call.on_return == on_return; });
  if (it == calls_.end()) return false;
  calls_.erase(it);
  return true;
}

void HostThread::Run() {
  const OwnThread self(name_);
  LockGuard lock(mutex_);
  for (;;) {
    while (calls_.empty() && !joining_ && !abandoned_) changed_.wait(mutex_);
    if (calls_.empty()) return;
    RunPosted();
  }
}

void HostThread::RunPosted() {
  while (!calls_.empty()) {
    const HostCall call = calls_.front();
    calls_.pop_front();
    const LockGap gap(mutex_);
    call.Run();
  }
}

void HostThread::Join() {
  LockGuard lock(mutex_);
  if (joining_ || !thread_.joinable()) return;
  joining_ = true;
  changed_.notify_all();
  std::thread thread = std::move(thread_);
  {
    const LockGap gap(mutex_);
    thread.join();
  }
  joining_ = false;
  // What came while the thread was on its way out gets a new one: never two at a time. Or this one, when there is no other.
  if (calls_.empty()) return;
  try {
    StartIfNeeded();
  } catch (const std::exception&) {
    RunPosted();
  }
}

void HostThread::Abandon() {
  LockGuard lock(mutex_);
  abandoned_ = true;
  calls_.clear();
  changed_.notify_all();
  if (thread_.joinable()) thread_.detach();
}

}  // namespace ropeway
