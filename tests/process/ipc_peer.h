// Two processes that talk: this program started again as another mode, with a pipe each way for lines of text. Whatever the
// processes have to agree on goes through these lines, so no test waits for time to pass.
#pragma once

#include <fcntl.h>
#include <signal.h>

#include "acl/acl.h"
#include "ropeway/ropeway.h"
#include "tests/process/process_test.h"

namespace process_test {

// One line in each direction; an empty line is what a dead peer says.
inline void SayTo(int fd, const std::string& line) {
  const std::string text = line + "\n";
  static_cast<void>(!write(fd, text.data(), text.size()));
}

inline std::string HearFrom(int fd) {
  std::string line;
  for (char c; read(fd, &c, 1) == 1 && c != '\n';) line.push_back(c);
  return line;
}

// The child's side.
inline void Say(const std::string& line) { SayTo(STDOUT_FILENO, line); }
inline std::string Hear() { return HearFrom(STDIN_FILENO); }
inline int HearNumber() { return std::atoi(Hear().c_str()); }

class Peer {
 public:
  explicit Peer(const char* mode)
      : Peer([mode] {
          execl("/proc/self/exe", "process_test", mode, nullptr);
          _exit(127);
        }) {}
  // As another user: a plain fork of this process, which must not have touched the library. That user may not be allowed to start the
  // program again where the tree lies.
  Peer(void (*mode)(), uid_t uid)
      : Peer([mode, uid] {
          ropewayGetEngineName();  // whose library may lie where the other user cannot read
          if (setuid(uid) != 0) _exit(77);
          alarm(60);
          g_failures = 0;
          mode();
          std::exit(g_failures == 0 ? 0 : 1);
        }) {}
  ~Peer() { Join(); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  pid_t pid() const { return pid_; }
  void Say(const std::string& line) const { SayTo(to_, line); }
  void Say(int number) const { Say(std::to_string(number)); }
  std::string Hear() const { return HearFrom(from_); }
  int HearNumber() const { return std::atoi(Hear().c_str()); }

  // Ends it the hard way; nothing of it runs any more when this returns.
  void Kill() {
    kill(pid_, SIGKILL);
    Reap();
  }
  // Waits for its end; anything but a clean one is a failure, unless it was killed.
  void Join() {
    if (pid_ <= 0) return;
    const Child child = Reap();
    if (!child.ExitedWith(0)) Fail(__FILE__, __LINE__, "peer: " + child.Describe());
  }

 private:
  explicit Peer(const std::function<void()>& in_child) {
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
    pid_ = fork();
    if (pid_ == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      for (int fd : {in[0], in[1], out[0], out[1]}) close(fd);
      in_child();
    }
    close(in[0]);
    close(out[1]);
    to_ = in[1];
    from_ = out[0];
  }
  Child Reap() {
    Child child;
    close(to_);
    close(from_);
    waitpid(std::exchange(pid_, -1), &child.status, 0);
    return child;
  }
  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

// Device 0 with one stream, as every mode needs them.
struct OneStream {
  OneStream() {
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  }
  operator aclrtStream() const { return stream; }
  aclrtStream stream = nullptr;
};

inline std::string ExportNotify(aclrtNotify notify, uint64_t flags = ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION) {
  char key[65] = {};
  RW_CHECK_EQ(aclrtNotifyGetExportKey(notify, key, sizeof(key), flags), ACL_SUCCESS);
  return key;
}

inline aclrtNotify NewNotify() {
  aclrtNotify notify = nullptr;
  RW_CHECK_EQ(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT), ACL_SUCCESS);
  return notify;
}

inline aclrtNotify ImportNotify(const std::string& key) {
  aclrtNotify notify = nullptr;
  RW_CHECK_EQ(aclrtNotifyImportByKey(&notify, key.c_str(), 0), ACL_SUCCESS);
  return notify;
}

inline aclrtEvent NewEvent(std::string* text) {
  aclrtEvent event = nullptr;
  aclrtIpcEventHandle handle = {};
  RW_CHECK_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtIpcGetEventHandle(event, &handle), ACL_SUCCESS);
  text->assign(handle.reserved, sizeof(handle.reserved));
  return event;
}

inline aclError OpenEvent(const std::string& text, aclrtEvent* event) {
  aclrtIpcEventHandle handle = {};
  text.copy(handle.reserved, sizeof(handle.reserved));
  return aclrtIpcOpenEventHandle(handle, event);
}

}  // namespace process_test
