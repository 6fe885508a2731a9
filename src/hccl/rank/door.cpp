#include "hccl/rank/door.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

namespace ropeway::comm {

Listener::~Listener() {
  IoThread::Get().Cancel(pause_);
  IoThread::Get().Forget(fd_.get());
}

bool Listener::Watch() {
  return IoThread::Get().Watch(fd_.get(), EPOLLIN, [this](uint32_t) { Ready(); });
}

void Listener::Ready() {
  Fd fd = Accept(fd_.get());
  if (fd.valid()) return Door::Get().Arrived(std::move(fd));
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
  // No descriptors or no memory: the caller stays in the backlog, and asking again at once would only burn a core.
  IoThread::Get().Change(fd_.get(), 0);
  pause_ = IoThread::Get().At(IoThread::Clock::now() + std::chrono::milliseconds(50),
                              [this] { IoThread::Get().Change(fd_.get(), EPOLLIN); });
}

Door& Door::Get() {
  static Door* const door = new Door;  // the I/O thread may need it after static destructors
  return *door;
}

std::shared_ptr<Listener> Door::Open(const Address& wanted, std::string* why) {
  const std::string key = wanted.Text();
  for (const auto& [asked, weak] : open_) {
    const std::shared_ptr<Listener> open = weak.lock();
    if (open && (asked == key || open->address().Text() == key)) return open;
  }
  Address address = wanted;
  Fd fd = Listen(&address, why);
  if (!fd.valid()) return nullptr;
  auto listener = std::make_shared<Listener>(std::move(fd), address);
  if (!listener->Watch()) {
    *why = "the kernel watches no more descriptors";
    return nullptr;
  }
  open_[key] = listener;
  return listener;
}

void Door::Admit(const std::string& communicator, uint32_t to, Guests guests) {
  guests_[{communicator, to}] = std::move(guests);
}

void Door::Revoke(const std::string& communicator, uint32_t to) { guests_.erase({communicator, to}); }

void Door::Arrived(Fd fd) {
  auto find = [this](const Hello& hello) { return guests_.find({hello.communicator, hello.to}); };
  auto judge = [this, find](const Hello& hello, std::string* secret) {
    const auto found = find(hello);
    if (found == guests_.end()) return false;
    *secret = found->second.secret;
    return true;
  };
  auto decide = [this, find](const Hello& hello) {
    const auto found = find(hello);
    return found == guests_.end() ? Verdict::kRefused : found->second.decide(hello);
  };
  auto done = [this, find](Acceptor* self, const Hello& hello, Fd entered) {
    std::erase_if(strangers_, [self](const auto& stranger) { return stranger.get() == self; });
    const auto found = find(hello);
    if (!entered.valid() || found == guests_.end()) return;
    const auto enter = found->second.enter;  // it may revoke itself
    enter(hello, std::move(entered));
  };
  strangers_.push_back(Acceptor::Start(std::move(fd), judge, decide, done));
  if (strangers_.size() > kMostStrangers) strangers_.pop_front();
}

}  // namespace ropeway::comm
