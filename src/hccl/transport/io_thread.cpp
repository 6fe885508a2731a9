#include "hccl/transport/io_thread.h"

#include <thread>

#include "base/own_thread.h"
#include "hccl/transport/waiter_looks.h"

namespace ropeway::comm {

IoThread& IoThread::Get() {
  static IoThread& io = []() -> IoThread& {  // outlives static destructors: its thread never ends
    auto* const made = new IoThread("rw-hccl-io");
    LookAtDescriptorsOf(*made);
    return *made;
  }();
  return io;
}

IoThread::IoThread(const char* name) {
  std::thread([this, name] {
    const OwnThread self(name);
    for (;;) loop_.Turn([this](uint64_t fd, uint32_t events) { Ready(fd, events); });
  }).detach();
}

bool IoThread::Look() {
  return !IsCurrent() && loop_.Look([this](uint64_t fd, uint32_t events) { return Ready(fd, events); }) > 0;
}

void IoThread::LeaveToThread(std::function<void()> function) {
  left_to_thread_ = true;
  Post([this, function = std::move(function)] {
    left_to_thread_ = false;
    function();
  });
}

bool IoThread::Watch(int fd, uint32_t events, std::function<void(uint32_t)> ready, bool by_visitors) {
  watched_[Name(fd)] = std::make_shared<Watched>(Watched{std::move(ready), by_visitors});
  if (loop_.Watch(fd, events, Name(fd))) return true;
  watched_.erase(Name(fd));
  return false;
}

void IoThread::Forget(int fd) {
  watched_.erase(Name(fd));
  loop_.Forget(fd);
}

bool IoThread::Ready(uint64_t name, uint32_t events) {
  const auto found = watched_.find(name);
  if (found == watched_.end()) return true;                // forgotten by an earlier one of this round
  const std::shared_ptr<Watched> watched = found->second;  // it may forget itself
  if (IsVisited() && !watched->by_visitors) return false;
  watched->ready(events);
  return true;
}

}  // namespace ropeway::comm
