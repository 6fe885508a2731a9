// One connection to another process (or to this one): a SOCK_SEQPACKET socket that carries messages of one fixed size, each with
// a descriptor where one is wanted. Nothing here blocks or raises a signal.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/clock.h"
#include "base/file_descriptor.h"

namespace ropeway::ipc {

// What travels: plain numbers, whose meaning belongs to the kind. Both ends run on one machine, so there is one byte order.
struct Message {
  uint32_t kind = 0;
  uint32_t ticket = 0;  // of a call and its reply; 0 for what needs none
  uint64_t value[6] = {};
};
static_assert(sizeof(Message) == 56);

// Kinds below this one are the service's own.
constexpr uint32_t kFirstFreeKind = 16;

struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
};

class Channel {
 public:
  enum class Outcome {
    kDone,
    kLater,  // nothing there, or no room
    kGone,   // closed, or what came is no message
  };

  Channel() = default;
  explicit Channel(FileDescriptor socket) : socket_(std::move(socket)) {}

  Outcome Send(const Message& message, int fd = -1);
  // `fd` is empty when none came along.
  Outcome Receive(Message* message, FileDescriptor* fd);
  // Waits until something can be received or the other end is gone; false when the deadline passed.
  bool AwaitInput(Deadline deadline);
  // Who is at the other end, as the kernel knows it; false when it is not known.
  bool GetPeer(Peer* peer) const;
  // Both directions end here; whoever polls the socket wakes up.
  void Shutdown();
  int fd() const { return socket_.get(); }

 private:
  FileDescriptor socket_;
};

}  // namespace ropeway::ipc
