// What the programs of this folder share: checks that count, children that run this same program in another mode or
// environment, and a time limit. Each program exits with 0 when all is well and says on stderr what was not.
#pragma once

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#if defined(ROPEWAY_ASAN) || defined(ROPEWAY_TSAN)
#define RW_SANITIZED 1
#else
#define RW_SANITIZED 0
#endif

#if defined(ROPEWAY_ASAN) && !defined(RW_LOOKS_FOR_LEAKS)
// Programs that end in the middle of things leave memory behind; that is their subject, not a leak.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() { return "detect_leaks=0"; }
#endif

namespace process_test {

inline int g_failures = 0;

inline void Fail(const char* file, int line, const std::string& text) {
  ++g_failures;
  std::cerr << file << ":" << line << ": " << text << std::endl;
}

#define RW_CHECK(condition)                                                            \
  do {                                                                                 \
    if (!(condition)) process_test::Fail(__FILE__, __LINE__, "not true: " #condition); \
  } while (false)

#define RW_CHECK_EQ(actual, expected)                                                                                                      \
  do {                                                                                                                                     \
    const auto rw_actual = (actual);                                                                                                       \
    const auto rw_expected = (expected);                                                                                                   \
    if (!(rw_actual == rw_expected)) {                                                                                                     \
      process_test::Fail(__FILE__, __LINE__,                                                                                               \
                         std::string(#actual) + " is " + process_test::Show(rw_actual) + ", expected " + process_test::Show(rw_expected)); \
    }                                                                                                                                      \
  } while (false)

inline std::string Show(const std::string& value) { return "\"" + value + "\""; }
inline std::string Show(const char* value) { return Show(std::string(value)); }
template <class Value>
std::string Show(const Value& value) {
  return std::to_string(value);
}

// A variable for a child's environment; null takes it away.
using Env = std::vector<std::pair<const char*, const char*>>;

struct Child {
  int status = -1;
  std::string out, err;

  bool ExitedWith(int code) const { return WIFEXITED(status) && WEXITSTATUS(status) == code; }
  bool KilledBy(int signal) const { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }
  std::string Describe() const {
    std::string text =
        WIFSIGNALED(status) ? "killed by signal " + std::to_string(WTERMSIG(status)) : "exit status " + std::to_string(WEXITSTATUS(status));
    return text + (err.empty() ? "" : "; stderr: " + err);
  }
};

// Reads both pipes until both are closed.
inline void Drain(int out_fd, int err_fd, Child& child) {
  pollfd fds[] = {{out_fd, POLLIN, 0}, {err_fd, POLLIN, 0}};
  std::string* texts[] = {&child.out, &child.err};
  for (int open = 2; open > 0;) {
    if (poll(fds, 2, -1) < 0) break;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      char buffer[4096];
      ssize_t count = read(fds[i].fd, buffer, sizeof(buffer));
      if (count > 0) {
        texts[i]->append(buffer, static_cast<size_t>(count));
      } else {
        close(std::exchange(fds[i].fd, -1));
        --open;
      }
    }
  }
}

// Starts this program again as `mode`, with the given changes of the environment, and waits for it.
inline Child RunSelf(const char* mode, const Env& env = {}) {
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0) std::abort();
  pid_t pid = fork();
  if (pid == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (int fd : {out[0], out[1], err[0], err[1]}) close(fd);
    for (const auto& [name, value] : env) {
      if (value == nullptr) {
        unsetenv(name);
      } else {
        setenv(name, value, 1);
      }
    }
    execl("/proc/self/exe", "process_test", mode, nullptr);
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  Child child;
  Drain(out[0], err[0], child);
  waitpid(pid, &child.status, 0);
  return child;
}

// Runs `body` in a plain fork of this process, which must not have touched the library. True: all checks were good.
inline bool InChild(const std::function<void()>& body) {
  pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    g_failures = 0;
    body();
    std::exit(g_failures == 0 ? 0 : 1);
  }
  Child child;
  waitpid(pid, &child.status, 0);
  if (!child.ExitedWith(0)) std::cerr << "child: " << child.Describe() << std::endl;
  return child.ExitedWith(0);
}

struct Mode {
  const char* name;
  void (*run)();
};

// What main returns where nothing can be looked at: said aloud, and counted by run_all.sh.
inline int Skip(const std::string& why) {
  std::cerr << "SKIPPED: " << why << std::endl;
  return 77;
}

// Without an argument: `main_mode`. With one: the mode of that name. A hang ends by SIGALRM and so is a failure.
inline int Main(int argc, char** argv, void (*main_mode)(), std::initializer_list<Mode> modes) {
  alarm(argc < 2 ? 200 : 60);
  if (argc < 2) {
    main_mode();
    return g_failures == 0 ? 0 : 1;
  }
  for (const Mode& mode : modes) {
    if (std::strcmp(mode.name, argv[1]) == 0) {
      mode.run();
      return g_failures == 0 ? 0 : 1;
    }
  }
  std::cerr << "unknown mode " << argv[1] << std::endl;
  return 2;
}

// Runs a mode of this program and counts anything but a clean exit as a failure.
inline void ExpectClean(const char* mode, const Env& env = {}) {
  Child child = RunSelf(mode, env);
  if (!child.ExitedWith(0)) Fail(__FILE__, __LINE__, std::string("mode ") + mode + ": " + child.Describe());
}

}  // namespace process_test
