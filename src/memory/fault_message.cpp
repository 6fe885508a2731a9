#include "memory/fault_message.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <iterator>

#include "base/call_site.h"
#include "base/fork.h"
#include "base/host_touch.h"
#include "memory/memory.h"

namespace ropeway {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS};  // the second for files that have become shorter than their mapping

const Memory* g_memory = nullptr;
struct sigaction g_before[std::size(kFaults)];

void WriteSite(const void* caller, char* text, size_t room) {
  Dl_info where{};
  if (const char* const place = NameOfPlace(caller)) {
    snprintf(text, room, "called at %s", place);
  } else if (caller != nullptr && dladdr(caller, &where) != 0 && where.dli_fname != nullptr) {
    snprintf(text, room, "called from %s+0x%zx", where.dli_fname,
             reinterpret_cast<uintptr_t>(caller) - reinterpret_cast<uintptr_t>(where.dli_fbase));
  } else {
    snprintf(text, room, "called from ?");
  }
}

// Lookups take no lock and snprintf of numbers does not allocate, so this is fit for a signal handler that is about to
// end the process anyway.
void Explain(const void* address) {
  const BlockInfo block = g_memory->FindBlock(address);
  char line[512];
  int length;
  if (block.found()) {
    char site[256];
    WriteSite(block.caller, site, sizeof(site));
    length = snprintf(line, sizeof(line),
                      "ropeway: host code touched device address %p: byte %zu of a block of %zu bytes at 0x%zx on device %d, made by "
                      "%s (%s). Device memory is not host memory: use aclrtMemcpy, or set "
                      "ROPEWAY_HOST_ACCESS=1\n",
                      address, reinterpret_cast<uintptr_t>(address) - block.base, block.size, block.base, block.device, block.call, site);
  } else if (const Registration registration = g_memory->FindAlias(address); registration.found()) {
    length = snprintf(
        line, sizeof(line),
        "ropeway: host code touched %p: byte %zu of the device alias of %zu bytes of host memory registered at 0x%zx. Use the host "
        "address (aclrtHostRegister got it), ropewayHostView, or ROPEWAY_HOST_ACCESS=1\n",
        address, reinterpret_cast<uintptr_t>(address) - registration.alias, registration.size, registration.base);
  } else if (g_memory->IsRemote(address)) {
    length = snprintf(line, sizeof(line),
                      "ropeway: host code touched %p, an address that stands for memory of another host: use HcclMemcpyAsync, HcclBatchPut "
                      "or HcclBatchGet\n",
                      address);
  } else {
    length = snprintf(line, sizeof(line),
                      "ropeway: host code touched %p, a device address that belongs to no live block (freed, or never "
                      "allocated)\n",
                      address);
  }
  if (write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) return;
}

// Without a look at the blocks, which another thread of the parent may have been changing, and without the loader's lock. Nor is a
// move of memory waited for: in a child it has no end.
void ExplainInForkedChild(const void* address) {
  char line[160];
  const int length =
      snprintf(line, sizeof(line), "ropeway: host code touched device address %p in a forked child, which has no devices\n", address);
  if (write(STDERR_FILENO, line, static_cast<size_t>(length)) < 0) return;
}

void OnFault(int number, siginfo_t* info, void* context) {
  if (InForkedChild()) {
    if (g_memory->InDeviceSpace(info->si_addr)) ExplainInForkedChild(info->si_addr);
  } else {
    if (g_memory->MovedMeanwhile(info->si_addr)) return;  // the access is tried again
    if (g_memory->LeaveTouch(*info, context)) return;     // the task fails
    if (g_memory->InDeviceSpace(info->si_addr) || g_memory->IsRemote(info->si_addr)) Explain(info->si_addr);
  }
  const struct sigaction& before = g_before[number == kFaults[0] ? 0 : 1];
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  } else {
    // Back to the default, and return: the access faults again and ends the process with the right core and status.
    signal(number, SIG_DFL);
  }
}

}  // namespace

void HandleFaults(const Memory& memory) {
  g_memory = &memory;
  struct sigaction action {};
  action.sa_sigaction = &OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(kFaults); ++i) sigaction(kFaults[i], &action, &g_before[i]);
  SetFaultHandler(&OnFault);
}

}  // namespace ropeway
