// A file descriptor of this room, closed with its owner. All of them are known in one list, so that a forked child can close its
// copies at once: a copy that lives on would hide the parent's death from every peer.
#pragma once

#include <utility>

namespace ropeway::ipc {

class Descriptor {
 public:
  Descriptor() = default;
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)), forks_(other.forks_) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(forks_, other.forks_);
    return *this;
  }
  ~Descriptor() { Reset(); }

  // Takes over what `open` returns, a descriptor or -1, in one step as far as a fork is concerned. `open` may not block.
  template <typename Open>
  static Descriptor Make(Open open) {
    const Listing listing;
    return Descriptor(open());
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  void Reset();
  // The caller closes it from now on.
  int Release();

 private:
  // Holds the list while it lives.
  class Listing {
   public:
    Listing();
    ~Listing();
    Listing(const Listing&) = delete;
    Listing& operator=(const Listing&) = delete;
  };
  explicit Descriptor(int fd);
  // False: it was the parent's, and was closed by the fork; its number may be somebody else's by now.
  bool TakeOffList();

  int fd_ = -1;
  int forks_ = 0;  // between the start of the program and the opening
};

}  // namespace ropeway::ipc
