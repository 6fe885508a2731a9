#include "ipc/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

namespace ropeway::ipc {
namespace {

// Room for one descriptor, and for noticing a second.
union Control {
  char bytes[CMSG_SPACE(2 * sizeof(int))];
  cmsghdr align;
};

// What the kernel attached. All of it has to be taken over, or it would stay open.
int TakeDescriptors(msghdr* header, int* fds, int room) {
  int count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(header); part != nullptr; part = CMSG_NXTHDR(header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const auto here = static_cast<int>((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    for (int i = 0; i < here && count < room; ++i) {
      std::memcpy(&fds[count++], CMSG_DATA(part) + static_cast<size_t>(i) * sizeof(int), sizeof(int));
    }
  }
  return count;
}

}  // namespace

Channel::Outcome Channel::Send(const Message& message, int fd) {
  iovec bytes{const_cast<Message*>(&message), sizeof(message)};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  Control control{};
  if (fd >= 0) {
    header.msg_control = &control;
    header.msg_controllen = CMSG_SPACE(sizeof(int));
    cmsghdr* part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &fd, sizeof(int));
  }
  ssize_t sent;
  do {
    sent = sendmsg(socket_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  } while (sent < 0 && errno == EINTR);
  if (sent == static_cast<ssize_t>(sizeof(message))) return Outcome::kDone;
  return sent < 0 && errno == EAGAIN ? Outcome::kLater : Outcome::kGone;
}

Channel::Outcome Channel::Receive(Message* message, FileDescriptor* fd) {
  iovec bytes{message, sizeof(*message)};
  msghdr header{};
  header.msg_iov = &bytes;
  header.msg_iovlen = 1;
  Control control{};
  header.msg_control = &control;
  header.msg_controllen = sizeof(control);
  int fds[2] = {-1, -1};
  int count = 0;
  ssize_t got = -1;
  *fd = FileDescriptor::Make([&] {
    // A peer that left something unread resets the connection; the kernel says so once, in front of what that peer had sent.
    do {
      got = recvmsg(socket_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    } while (got < 0 && (errno == EINTR || errno == ECONNRESET));
    if (got >= 0) count = TakeDescriptors(&header, fds, 2);
    return fds[0];
  });
  if (count > 1) close(fds[1]);
  if (got < 0) return errno == EAGAIN ? Outcome::kLater : Outcome::kGone;
  const bool whole = got == static_cast<ssize_t>(sizeof(*message)) && (header.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) == 0;
  return whole && count <= 1 ? Outcome::kDone : Outcome::kGone;
}

bool Channel::AwaitInput(Deadline deadline) {
  for (;;) {
    int timeout_ms = -1;
    if (!deadline.never()) {
      const int64_t left_ns = deadline.at_ns() - NowNs();
      if (left_ns <= 0) return false;
      timeout_ms = static_cast<int>(std::min<int64_t>((left_ns + 999999) / 1000000, INT_MAX));
    }
    pollfd waiting{socket_.get(), POLLIN, 0};
    if (poll(&waiting, 1, timeout_ms) > 0) return true;
  }
}

bool Channel::GetPeer(Peer* peer) const {
  ucred who{};
  socklen_t size = sizeof(who);
  if (getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return false;
  *peer = {who.pid, who.uid};
  return true;
}

void Channel::Shutdown() { shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace ropeway::ipc
