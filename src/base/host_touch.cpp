#include "base/host_touch.h"

#include <setjmp.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "base/hot_tls.h"

namespace ropeway {
namespace {

struct TouchPoint {
  jmp_buf back;
  const void* volatile fault = nullptr;
};

// In the thread's own words, so that the handler finds them without a call.
thread_local TouchPoint* t_point RW_HOT_TLS = nullptr;
thread_local bool t_looked RW_HOT_TLS = false;

std::atomic<FaultHandler> g_handler{nullptr};
std::atomic<bool> g_said{false};

[[gnu::cold, gnu::noinline]] void LookAtHandler() {
  t_looked = true;
  const FaultHandler ours = g_handler.load(std::memory_order_acquire);
  struct sigaction now {};
  if (ours == nullptr || sigaction(SIGSEGV, nullptr, &now) != 0) return;
  if (((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == ours) || g_said.exchange(true)) return;
  static constexpr char kLine[] =
      "ropeway: the program has put a SIGSEGV handler in front of the library's: a copy with a host pointer that is not mapped reaches "
      "that "
      "handler and does not answer 507052\n";
  if (write(STDERR_FILENO, kLine, sizeof(kLine) - 1) < 0) return;
}

// Where a thread goes on whose touch has faulted.
[[noreturn, gnu::noinline]] void Land() {
  TouchPoint* const point = t_point;
  t_point = nullptr;
  // Streaming stores in front of the fault may still be on their way: they must not come behind those of the next task.
  __sync_synchronize();
  _longjmp(point->back, 1);
}

// Lets the thread go on there, as if it had been called, once the handler has returned; what the signal blocked is unblocked by then, and
// race detectors know that the handler is over. False: nobody has said how on this processor, and the fault stays one.
bool ContinueAt([[maybe_unused]] void (*place)(), ucontext_t& context) {
  [[maybe_unused]] auto& machine = context.uc_mcontext;
#if defined(__x86_64__)
  constexpr greg_t kRedZone = 128, kDirectionFlag = 0x400;
  machine.gregs[REG_RIP] = reinterpret_cast<greg_t>(place);
  machine.gregs[REG_RSP] = ((machine.gregs[REG_RSP] - kRedZone) & ~greg_t{15}) - greg_t{sizeof(void*)};
  machine.gregs[REG_EFL] &= ~kDirectionFlag;
  return true;
#elif defined(__aarch64__)
  machine.pc = reinterpret_cast<uintptr_t>(place);
  return true;
#else
  return false;
#endif
}

}  // namespace

// No object with a destructor, and no variable that changes behind setjmp: see there.
bool TouchHost(void (*touch)(void*), void* context, const void** fault) {
  if (!t_looked) [[unlikely]]
    LookAtHandler();
  TouchPoint point;
  if (_setjmp(point.back) != 0) {
    *fault = point.fault;
    return false;
  }
  t_point = &point;
  touch(context);
  t_point = nullptr;
  return true;
}

bool LeaveTouch(const siginfo_t& fault, void* context) {
  if (t_point == nullptr || fault.si_code <= 0) return false;  // not by an access: somebody sent the signal
  // An address that no memory can have comes without it.
  t_point->fault = fault.si_code == SI_KERNEL ? nullptr : fault.si_addr;
  return ContinueAt(&Land, *static_cast<ucontext_t*>(context));
}

void SetFaultHandler(FaultHandler handler) { g_handler.store(handler, std::memory_order_release); }

}  // namespace ropeway
