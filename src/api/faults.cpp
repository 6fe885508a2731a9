// Where the rules of ROPEWAY_FAULTS meet calls, memory, and tasks that the calling thread carries out. Streams ask for theirs themselves.
#include "base/faults.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "api/entry.h"
#include "base/settings.h"

namespace ropeway::api {
namespace {

// Who has lost a device can still clean up, and turn to another device: calls whose names begin so do not need it.
constexpr std::string_view kNeedNoDevice[] = {"aclInit",
                                              "aclFinalize",
                                              "aclGet",
                                              "aclrtReset",
                                              "aclrtSetDevice",
                                              "aclrtGetDevice",
                                              "aclrtDestroy",
                                              "aclrtFree",
                                              "aclrtUnmapMem",
                                              "aclrtHostUnregister",
                                              "aclrtReleaseMemAddress",
                                              "aclrtSetCurrentContext",
                                              "aclrtIpcMemClose",
                                              "aclrtGetCurrentContext",
                                              "aclrtPeekAtLastError",
                                              "aclrtGetLastError",
                                              "aclrtMemPoolDestroy",
                                              "ropeway"};

bool NeedsDevice(std::string_view call) {
  return std::none_of(std::begin(kNeedNoDevice), std::end(kNeedNoDevice), [&](std::string_view name) { return call.starts_with(name); });
}

int CurrentDevice() {
  const Context* const context = CurrentContextOrNull();
  return context != nullptr ? context->device() : -1;
}

FaultTarget TargetOf(const char* call, int device, size_t size) { return {call, device < 0 ? -1 : Runtime::UserIdOf(device), size}; }

// The outer layer's codes are not for the last error.
Status Answer(const Fault& fault) {
  constexpr const char* kText = "the call was not made: the rule '%s' of ROPEWAY_FAULTS answers for it";
  return fault.code < ACL_ERROR_RT_PARAM_INVALID ? Reject(fault.code, kText, fault.rule) : Fail(fault.code, kText, fault.rule);
}

// As a stream would: later, or not at all.
Status StrikeRun(const Task& task) {
  const FaultTarget target = TargetOf(task.call, CurrentDevice(), TaskBytes(task));
  if (const auto fault = FaultOf(FaultKind::kDelay, target)) std::this_thread::sleep_for(std::chrono::nanoseconds(fault->delay_ns));
  if (const auto fault = FaultOf(FaultKind::kFail, target))
    return Fail(fault->code, "the rule '%s' of ROPEWAY_FAULTS makes it fail", fault->rule);
  return Ok();
}

}  // namespace

Status StrikeCall(const char* call) {
  if (CurrentFaultState() == FaultState::kUnread) ReadFaults(SettingText("ROPEWAY_FAULTS"));
  if (!FaultsAreOn()) return Ok();
  const int id = CurrentDevice();
  const FaultTarget target = TargetOf(call, id, 0);
  if (const auto fault = FaultOf(FaultKind::kAnswer, target)) return Answer(*fault);
  if (id < 0) return Ok();
  Device& device = Runtime::Get().device(id);
  if (const auto fault = FaultOf(FaultKind::kLost, target)) device.Lose(fault->code, fault->rule);
  return NeedsDevice(call) ? device.RequireThere() : Ok();
}

Status StrikeMemory(const char* call, int device, size_t size) {
  const auto fault = FaultOf(FaultKind::kMemory, TargetOf(call, device, size));
  if (!fault) return Ok();
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "size %zu does not fit: the rule '%s' of ROPEWAY_FAULTS leaves no memory for it", size,
              fault->rule);
}

Status RunNow(const Task& task) {
  if (!FaultsAreOn()) [[likely]]
    return RunPart(task);
  Status struck = StrikeRun(task);
  if (struck.ok()) return RunPart(task);
  ReleasePayload(task);
  return struck;
}

}  // namespace ropeway::api
