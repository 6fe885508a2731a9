// A second process to share things with: forked before this one touches the library, connected by a socket that carries plain
// data. A partner that is dead is seen as the end of the socket, never as a hang.
#pragma once

#include <signal.h>
#include <sys/socket.h>

#include "tests/process/process_test.h"

namespace process_test {

// One end of the socket between two processes.
class Link {
 public:
  explicit Link(int socket) : socket_(socket) {}

  template <class Value>
  void Send(const Value& value) {
    RW_CHECK_EQ(send(socket_, &value, sizeof(value), MSG_NOSIGNAL), static_cast<ssize_t>(sizeof(value)));
  }
  // False when the other end is gone.
  template <class Value>
  bool Receive(Value* value) {
    return recv(socket_, value, sizeof(*value), MSG_WAITALL) == static_cast<ssize_t>(sizeof(*value));
  }
  template <class Value>
  Value Get() {
    Value value{};
    RW_CHECK(Receive(&value));
    return value;
  }
  // Tells the other end that it may go on; and waits for that.
  void Go() { Send(char{1}); }
  void Await() { Get<char>(); }
  int fd() const { return socket_; }

 private:
  int socket_;
};

class Partner {
 public:
  explicit Partner(const std::function<void(Link)>& body) : Partner(Fork(body)) {}
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;
  // A partner that was not killed must end well.
  ~Partner() {
    close(link.fd());
    int status = 0;
    waitpid(pid, &status, 0);
    RW_CHECK(killed_ || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  }
  void Kill() {
    killed_ = true;
    kill(pid, SIGKILL);
    // Dead in front of everything that follows, and still to be waited for.
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
  }

  Link link;
  const pid_t pid;

 private:
  struct Forked {
    int socket;
    pid_t pid;
  };
  explicit Partner(Forked forked) : link(forked.socket), pid(forked.pid) {}
  static Forked Fork(const std::function<void(Link)>& body) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    const pid_t pid = fork();
    if (pid == 0) {
      alarm(60);
      close(ends[0]);
      g_failures = 0;
      body(Link(ends[1]));
      std::exit(g_failures == 0 ? 0 : 1);
    }
    close(ends[1]);
    return {ends[0], pid};
  }
  bool killed_ = false;
};

}  // namespace process_test
