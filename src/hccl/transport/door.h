// Where connections come in: the process's listening sockets, and who may pass. All communicators of a process share
// one socket per address; a caller says which communicator and which rank it wants. Strangers are bounded in bytes, in
// time and in number, and wait beside the others, never in front of them: when there are too many, the address that has the most of
// them loses its oldest. A rank tries again, a stranger is gone. Everything here belongs to the I/O thread.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "hccl/transport/handshake.h"
#include "hccl/transport/socket.h"

namespace ropeway::comm {

// A listening socket; closed with its last reference.
class Listener {
 public:
  Listener(FileDescriptor fd, const Address& address) : fd_(std::move(fd)), address_(address) {}
  ~Listener();
  const Address& address() const { return address_; }
  bool Watch();

 private:
  void Ready();
  FileDescriptor fd_;
  const Address address_;
  IoThread::Timer pause_;
};

class Door {
 public:
  static Door& Get();

  // A socket at this address. Port 0: any, and the same one for everybody who asks for this address; else exactly this
  // port. Null with the reason in *why.
  std::shared_ptr<Listener> Open(const Address& wanted, std::string* why);

  // What to do with callers of rank `to` of a communicator, once they have proved that they know its secret.
  struct Guests {
    std::string secret;
    std::function<Verdict(const Hello&)> decide;
    std::function<void(const Hello&, SecureSocket)> enter;
  };
  void Admit(const std::string& communicator, uint32_t to, Guests guests);
  void Revoke(const std::string& communicator, uint32_t to);

  void Arrived(FileDescriptor fd, const Address& from);
  // A caller could not be accepted. True when somebody was hung up on, so that it may work now.
  bool Refused(int error);
  // Why callers cannot be accepted at the moment; empty when they can.
  std::string trouble() const;

 private:
  bool HangUpOnOne();

  std::map<std::string, std::weak_ptr<Listener>> open_;  // by the address that was asked for, as text
  std::map<std::pair<std::string, uint32_t>, Guests> guests_;
  // Who is in the middle of the greeting, by the address that they call from, oldest first.
  std::map<std::string, std::deque<std::shared_ptr<Acceptor>>> strangers_;
  size_t stranger_count_ = 0;
  int trouble_ = 0;  // why the last caller could not be accepted
  Deadline trouble_lasts_;
};

}  // namespace ropeway::comm
