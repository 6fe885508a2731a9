#include "hccl/base/result.h"

#include <pthread.h>

#include "base/error_text.h"
#include "base/settings.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {
namespace {

void InForkedChild() {
  if (g_use.load(std::memory_order_relaxed) == Use::kInUse) g_use.store(Use::kForked, std::memory_order_relaxed);
}

[[gnu::constructor]] void WatchForks() { pthread_atfork(nullptr, nullptr, &InForkedChild); }

}  // namespace

constinit std::atomic<Use> g_use{Use::kNone};

Status BeginUse() {
  RW_TRY(FromRuntime("ropewayRequireUsable", ropewayRequireUsable()));
  if (g_use.load(std::memory_order_relaxed) == Use::kForked)
    return Fail(HCCL_E_RUNTIME, "this process was forked from one that had used libhccl; fork before its first call, or exec");
  ReadFaults(GivenSetting("ROPEWAY_FAULTS", &ForeignVariable).value_or(""));  // what is wrong with them is the runtime's to say
  g_use.store(Use::kInUse);                                                   // visible before any lock of this library is
  return Ok();
}

Status StrikeCall(const char* call) {
  const auto fault = FaultOf(FaultKind::kAnswer, {call});
  if (!fault) return Ok();
  return Fail(fault->code, "the call was not made: the rule '%s' of ROPEWAY_FAULTS answers for it", fault->rule);
}

Status RuntimeRefused(const char* runtime_call, aclError code) {
  return Fail(HCCL_E_RUNTIME, "%s answered %d; its own message follows", runtime_call, code);
}

// EI is the family of texts that readers know from this library.
HcclResult FileFailure(const char* call, const Status& status, const void* caller) {
  const auto code = static_cast<HcclResult>(status.code());
  char text[kErrorTextSize];
  ComposeErrorText({"EI0001", ResultName(code), ResultMeaning(code)}, call, status, text);
  ropewayFileErrorText(text);
  if (caller != nullptr) ropewayTellErrorSite(caller, nullptr);
  return code;
}

}  // namespace ropeway::comm
