// A file descriptor, closed with its owner. All of them are known in one list, so that a forked child can close its
// copies at once: a copy that lives on would hide the parent's death from every peer.
#pragma once

#include <utility>

#include "base/fork.h"

namespace ropeway {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)), forks_(other.forks_) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(forks_, other.forks_);
    return *this;
  }
  ~FileDescriptor() { Reset(); }

  // Takes over what `open` returns, a descriptor or -1, in one step as far as a fork is concerned. `open` may not block.
  template <typename Open>
  static FileDescriptor Make(Open open) {
    const LockGuard listing(fork_lock::descriptors);
    return FileDescriptor(open());
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void Reset();
  // The caller closes it from now on.
  int Release();

 private:
  explicit FileDescriptor(int fd) RW_REQUIRES(fork_lock::descriptors);
  // False: it was the parent's, and was closed by the fork; its number may be somebody else's by now.
  bool TakeOffList() RW_REQUIRES(fork_lock::descriptors);

  int fd_ = -1;
  int forks_ = 0;  // between the start of the program and the opening
};

}  // namespace ropeway
