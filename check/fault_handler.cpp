// SIGSEGV while host accesses are watched: the layer's handler comes first, whatever the program, or the library, installs. Theirs is kept
// here, shown to those who ask for it, and called for every fault that is not the layer's.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

#include "check/host_access.h"
#include "check/next.h"
#include "check/options.h"

extern "C" int __sigaction(int number, const struct sigaction* action, struct sigaction* before);  // the C library's, by its own name

namespace ropeway::check {
namespace {

// The handler may read one while the next is being written, so each has a place of its own. It is used again after many others only.
std::array<struct sigaction, 256> actions;
std::atomic<unsigned> latest{0};
std::atomic<bool> installed{false};

struct sigaction Theirs() {
  return actions[latest.load(std::memory_order_acquire) % actions.size()];
}

void Keep(const struct sigaction& action) {
  static std::atomic<unsigned> next{1};
  const unsigned at = next.fetch_add(1);
  actions[at % actions.size()] = action;
  latest.store(at, std::memory_order_release);
}

bool HasFunction(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// The process ends as it would have: an access that faults does so again, a signal that was sent is sent again.
void EndByDefault(int number, const siginfo_t& info) {
  struct sigaction by_default {};
  __sigaction(number, &by_default, nullptr);
  if (info.si_code <= 0) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

void PassOn(int number, siginfo_t* info, void* context) {
  const struct sigaction action = Theirs();
  if ((action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN && info->si_code <= 0) return;
  if (!HasFunction(action)) return EndByDefault(number, *info);
  if ((action.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) Keep({});
  if ((action.sa_flags & SA_SIGINFO) != 0) return action.sa_sigaction(number, info, context);
  action.sa_handler(number);
}

void OnSignal(int number, siginfo_t* info, void* context) {
  const int saved = errno;
  const bool again = HostAccess::OnFault(*info, context);
  errno = saved;
  if (!again) PassOn(number, info, context);
}

// As theirs would run: on which stack, and with what blocked.
int InstallInFrontOf(const struct sigaction& theirs) {
  struct sigaction ours = theirs;
  ours.sa_sigaction = &OnSignal;
  ours.sa_flags = SA_SIGINFO | (theirs.sa_flags & (SA_ONSTACK | SA_RESTART | SA_NODEFER));
  return __sigaction(SIGSEGV, &ours, nullptr);
}

__attribute__((constructor)) void Install() {
  if (GetOptions().host_access == "off") return;  // HostAccess may not know yet
  struct sigaction before {};
  if (__sigaction(SIGSEGV, nullptr, &before) != 0) return;
  Keep(before);
  installed = InstallInFrontOf(before) == 0;
}

// Whoever blocks it dies of it.
struct Unblocked {
  explicit Unblocked(const sigset_t* wanted) {
    if (wanted == nullptr) return;
    set = *wanted;
    if (installed) sigdelset(&set, SIGSEGV);
  }
  sigset_t set;
};

// What the layer stands in front of: a sanitizer's, or the C library's own. Looked up when the layer is loaded. A sanitizer that starts
// before that calls these already, when nothing but the system can be asked.
using Action = int (*)(int, const struct sigaction*, struct sigaction*);
using Handler = sighandler_t (*)(int, sighandler_t);
using Mask = int (*)(int, const sigset_t*, sigset_t*);

int AskSystem(int how, const sigset_t* set, sigset_t* before) {
  return static_cast<int>(syscall(SYS_rt_sigprocmask, how, set, before, _NSIG / 8));
}

struct Next {
  Action sigaction = &__sigaction;
  Handler signal = &ssignal;
  Mask pthread_sigmask = &AskSystem;
  Mask sigprocmask = &AskSystem;
};
constinit Next next_calls;

__attribute__((constructor)) void FindNext() {
  next_calls.sigaction = reinterpret_cast<Action>(FindInTarget("sigaction"));
  next_calls.signal = reinterpret_cast<Handler>(FindInTarget("signal"));
  next_calls.pthread_sigmask = reinterpret_cast<Mask>(FindInTarget("pthread_sigmask"));
  next_calls.sigprocmask = reinterpret_cast<Mask>(FindInTarget("sigprocmask"));
}

int ChangeMask(Mask change, int how, const sigset_t* set, sigset_t* before) {
  const Unblocked wanted(set);
  return change(how, set == nullptr || how == SIG_UNBLOCK ? set : &wanted.set, before);
}

}  // namespace
}  // namespace ropeway::check

using namespace ropeway::check;

#define RW_EXPORT extern "C" __attribute__((visibility("default")))

RW_EXPORT int sigaction(int number, const struct sigaction* action, struct sigaction* before) noexcept {
  if (number != SIGSEGV || !installed) return next_calls.sigaction(number, action, before);
  const struct sigaction theirs = Theirs();
  if (action != nullptr) {
    const struct sigaction wanted = *action;
    if (const int refused = InstallInFrontOf(wanted)) return refused;
    Keep(wanted);
  }
  if (before != nullptr) *before = theirs;
  return 0;
}

RW_EXPORT sighandler_t signal(int number, sighandler_t handler) noexcept {
  if (number != SIGSEGV || !installed) return next_calls.signal(number, handler);
  struct sigaction action {
  }, before{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

RW_EXPORT int pthread_sigmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return ChangeMask(next_calls.pthread_sigmask, how, set, before);
}

RW_EXPORT int sigprocmask(int how, const sigset_t* set, sigset_t* before) noexcept {
  return ChangeMask(next_calls.sigprocmask, how, set, before);
}
