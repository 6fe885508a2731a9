#include "base/file_descriptor.h"

#include <pthread.h>
#include <unistd.h>

#include <set>

#include "base/no_destroy.h"

namespace ropeway {
namespace {

// Never destroyed: descriptors are closed by late calls, too.
struct Known {
  std::set<int> fds RW_GUARDED_BY(fork_lock::descriptors);
  int forks RW_GUARDED_BY(fork_lock::descriptors) = 0;

  static Known& Get() {
    static NoDestroy<Known> known;
    static const int installed = pthread_atfork(nullptr, nullptr, &Known::CloseInChild);
    static_cast<void>(installed);
    return known.get();
  }
  static void CloseInChild() RW_NOT_CHECKED {  // the child has one thread; fork holds the lock, or has just let go of it
    Known& known = Get();
    for (int fd : known.fds) close(fd);
    known.fds.clear();
    ++known.forks;
  }
};

}  // namespace

FileDescriptor::FileDescriptor(int fd) try : fd_(fd), forks_(Known::Get().forks) {
  if (fd >= 0) Known::Get().fds.insert(fd);
} catch (...) {
  if (fd >= 0) close(fd);
}

bool FileDescriptor::TakeOffList() { return forks_ == Known::Get().forks && Known::Get().fds.erase(fd_) != 0; }

void FileDescriptor::Reset() {
  if (fd_ < 0) return;
  const LockGuard listing(fork_lock::descriptors);
  if (TakeOffList()) close(fd_);
  fd_ = -1;
}

int FileDescriptor::Release() {
  if (fd_ < 0) return -1;
  const LockGuard listing(fork_lock::descriptors);
  if (!TakeOffList()) fd_ = -1;
  return std::exchange(fd_, -1);
}

}  // namespace ropeway
