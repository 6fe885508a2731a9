#include "hixl/engine/result.h"

#include <pthread.h>

#include "base/error_text.h"
#include "ropeway/ropeway.h"

namespace ropeway::transfer {
namespace {

enum class Use : unsigned char { kNone, kInUse, kForked };
constinit std::atomic<Use> g_use{Use::kNone};

void InChild() {
  if (g_use.load(std::memory_order_relaxed) == Use::kInUse) g_use.store(Use::kForked, std::memory_order_relaxed);
}
[[gnu::constructor]] void WatchForks() { pthread_atfork(nullptr, nullptr, &InChild); }

struct CodeRow {
  int code;
  const char* name;
};
constexpr CodeRow kCodes[] = {{kParamInvalid, "PARAM_INVALID"},   {kTimeout, "TIMEOUT"},
                              {kNotConnected, "NOT_CONNECTED"},   {kAlreadyConnected, "ALREADY_CONNECTED"},
                              {kExhausted, "RESOURCE_EXHAUSTED"}, {kFailed, "FAILED"}};

}  // namespace

const char* CodeName(int code) {
  for (const CodeRow& row : kCodes)
    if (row.code == code) return row.name;
  return "UNKNOWN";
}

Status RequireOwnProcess() {
  if (g_use.load(std::memory_order_relaxed) == Use::kInUse) [[likely]]
    return Ok();
  RW_TRY(FromRuntime("ropewayRequireUsable", ropewayRequireUsable()));
  if (g_use.load(std::memory_order_relaxed) == Use::kForked)
    return Fail(kFailed, "this process was forked from one that had used a transfer engine; fork before its first call, or exec");
  g_use.store(Use::kInUse);
  return Ok();
}

uint32_t FileFailure(const char* call, const Status& status, const void* caller) {
  char text[kErrorTextSize];
  ComposeErrorText({"EI0001", CodeName(status.code()), "the transfer engine failed"}, call, status, text);
  ropewayFileErrorText(text);
  if (caller != nullptr) ropewayTellErrorSite(caller, nullptr);
  return static_cast<uint32_t>(status.code());
}

}  // namespace ropeway::transfer
