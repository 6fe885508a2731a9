#include "hccl/transport/io_thread.h"

#include <thread>

#include "base/own_thread.h"

namespace ropeway::comm {

IoThread& IoThread::Get() {
  static IoThread* const io = new IoThread("rw-hccl-io");  // outlives static destructors: its thread never ends
  return *io;
}

IoThread::IoThread(const char* name) {
  std::thread([this, name] {
    const OwnThread self(name);
    for (;;) loop_.Turn([this](uint64_t fd, uint32_t events) { Ready(fd, events); });
  }).detach();
}

bool IoThread::Watch(int fd, uint32_t events, std::function<void(uint32_t)> ready) {
  watched_[Name(fd)] = std::make_shared<std::function<void(uint32_t)>>(std::move(ready));
  if (loop_.Watch(fd, events, Name(fd))) return true;
  watched_.erase(Name(fd));
  return false;
}

void IoThread::Forget(int fd) {
  watched_.erase(Name(fd));
  loop_.Forget(fd);
}

void IoThread::Ready(uint64_t name, uint32_t events) {
  const auto found = watched_.find(name);
  if (found == watched_.end()) return;  // forgotten by an earlier one of this round
  const auto ready = found->second;     // it may forget itself
  (*ready)(events);
}

}  // namespace ropeway::comm
