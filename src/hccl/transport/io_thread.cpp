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
  if (for_visitors_.load(std::memory_order_relaxed) == 0 || IsCurrent()) return false;
  return loop_.Look([this] { return Guess(); }, [this](uint64_t fd, uint32_t events) { return Ready(fd, events); }) > 0;
}

int IoThread::Guess() {
  constexpr uint32_t kGuessesForAll = 16;
  const WatchedRef usual = usual_;
  if (usual == nullptr || ++guesses_ % kGuessesForAll == 0) return EventLoop::kAsk;
  return usual->look() ? 1 : 0;
}

void IoThread::Came(const WatchedRef& from) {
  usual_ = last_ == from ? from : nullptr;
  last_ = from;
}

void IoThread::LeaveToThread(std::function<void()> function) {
  left_to_thread_ = true;
  Post([this, function = std::move(function)] {
    left_to_thread_ = false;
    function();
  });
}

bool IoThread::Watch(int fd, uint32_t events, std::function<void(uint32_t)> ready, std::function<bool()> look) {
  if (!loop_.Watch(fd, events, Name(fd))) return false;
  for_visitors_ += look ? 1 : 0;
  watched_[Name(fd)] = std::make_shared<Watched>(Watched{std::move(ready), std::move(look)});
  return true;
}

void IoThread::Forget(int fd) {
  const auto node = watched_.extract(Name(fd));
  loop_.Forget(fd);
  if (!node) return;
  for_visitors_ -= node.mapped()->look ? 1 : 0;
  if (last_ == node.mapped()) last_ = usual_ = nullptr;
}

bool IoThread::Ready(uint64_t name, uint32_t events) {
  const auto found = watched_.find(name);
  if (found == watched_.end()) return true;  // forgotten by an earlier one of this round
  const WatchedRef watched = found->second;  // it may forget itself
  if (IsVisited() && !watched->look) return false;
  if (IsVisited()) Came(watched);
  watched->ready(events);
  return true;
}

}  // namespace ropeway::comm
