#include "ipc/descriptor.h"

#include <pthread.h>
#include <unistd.h>

#include <set>

#include "base/fork.h"

namespace ropeway::ipc {
namespace {

// Never destroyed: descriptors are closed by late calls, too.
struct Known {
  std::set<int> fds;  // guarded by ForkLock::kDescriptors, as the next
  int forks = 0;

  static Known& Get() {
    static Known* known = [] {
      pthread_atfork(nullptr, nullptr, &Known::CloseInChild);
      return new Known;
    }();
    return *known;
  }
  static void CloseInChild() {
    Known& known = Get();
    for (int fd : known.fds) close(fd);
    known.fds.clear();
    ++known.forks;
  }
};

}  // namespace

Descriptor::Listing::Listing() { MutexOf(ForkLock::kDescriptors).lock(); }

Descriptor::Listing::~Listing() { MutexOf(ForkLock::kDescriptors).unlock(); }

Descriptor::Descriptor(int fd) : fd_(fd), forks_(Known::Get().forks) {
  if (fd >= 0) Known::Get().fds.insert(fd);
}

bool Descriptor::TakeOffList() { return forks_ == Known::Get().forks && Known::Get().fds.erase(fd_) != 0; }

void Descriptor::Reset() {
  if (fd_ < 0) return;
  const Listing listing;
  if (TakeOffList()) close(fd_);
  fd_ = -1;
}

int Descriptor::Release() {
  if (fd_ < 0) return -1;
  const Listing listing;
  if (!TakeOffList()) fd_ = -1;
  return std::exchange(fd_, -1);
}

}  // namespace ropeway::ipc
