#include "hccl/link/ucx_api.h"

#include <dlfcn.h>
#include <ucs/debug/log_def.h>

#include <csignal>
#include <cstdarg>
#include <cstdio>

#include "base/mutex.h"
#include "base/settings.h"

namespace ropeway::comm {
namespace {

Mutex message_mutex{LockRank::kUcxMessage};
char last_message[256] RW_GUARDED_BY(message_mutex);

// UCX would print to the program's standard output. Whoever asks for its log (UCX_LOG_LEVEL) gets it; else the last text waits
// for an error of ours to quote it.
ucs_log_func_rc_t KeepMessage(const char*, unsigned, const char*, ucs_log_level_t level, const ucs_log_component_config_t*,
                              const char* format, va_list arguments) {
  if (level > UCS_LOG_LEVEL_DIAG) return UCS_LOG_FUNC_RC_STOP;
  LockGuard lock(message_mutex);
  vsnprintf(last_message, sizeof last_message, format, arguments);
  return UCS_LOG_FUNC_RC_STOP;
}

template <typename Function>
bool Find(void* library, const char* name, Function* function, std::string* why) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) *why = std::string("UCX lacks ") + name + ": version 1.13 or later is needed";
  return *function != nullptr;
}

// UCX takes over the signals of crashes when it is loaded. They are the program's, and the runtime's report of device pointers.
bool GiveSignalsBack(void* ucs, std::string* why) {
  void (*disable)(int) = nullptr;
  if (!Find(ucs, "ucs_debug_disable_signal", &disable, why)) return false;
  for (int signal : {SIGILL, SIGSEGV, SIGBUS, SIGFPE}) disable(signal);
  return true;
}

bool Load(UcxApi* api, std::string* why) {
  void* ucp = dlopen("libucp.so.0", RTLD_NOW | RTLD_LOCAL);
  void* ucs = ucp == nullptr ? nullptr : dlopen("libucs.so.0", RTLD_NOW | RTLD_LOCAL);
  if (ucs == nullptr) {
    *why = std::string("UCX cannot be loaded (Debian: apt-get install libucx0): ") + dlerror();
    return false;
  }
#define RW_FIND(name) \
  if (!Find(ucp, #name, &api->name, why)) return false;
  RW_UCP_FUNCTIONS(RW_FIND)
#undef RW_FIND
  decltype(&::ucs_log_push_handler) push_handler = nullptr;
  if (!Find(ucs, "ucs_status_string", &api->ucs_status_string, why)) return false;
  if (!Find(ucs, "ucs_log_push_handler", &push_handler, why)) return false;
  if (ForeignVariable("UCX_LOG_LEVEL") == nullptr) push_handler(KeepMessage);
  return ForeignVariable("UCX_HANDLE_ERRORS") != nullptr || GiveSignalsBack(ucs, why);
}

}  // namespace

const UcxApi* LoadUcx(std::string* why) {
  static UcxApi api;
  static bool loaded = false;  // a failure is tried again: somebody may install it meanwhile
  if (!loaded) loaded = Load(&api, why);
  return loaded ? &api : nullptr;
}

std::string LastUcxMessage() {
  LockGuard lock(message_mutex);
  return last_message;
}

}  // namespace ropeway::comm
