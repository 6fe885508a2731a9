// Settings that inform kernels and nothing else: system options (rules/init.md 6), core limits, operator time limits and
// the overflow switch of streams (rules/streams.md 5, 7). They are checked, kept and given back; copies do not feel them.
#include <algorithm>
#include <array>
#include <atomic>
#include <map>

#include "api/device_facts.h"
#include "api/entry.h"
#include "base/mutex.h"
#include "runtime/capture_mode.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// --- System options -------------------------------------------------------------------------------------------------

constexpr int kProcessOptions = 4;
constexpr int kContextOptions = 3;
std::array<std::atomic<int64_t>, kProcessOptions> g_options{};

Status RequireOption(aclSysParamOpt opt, int known) {
  if (static_cast<uint32_t>(opt) < static_cast<uint32_t>(known)) return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "opt %d is not in 0..%d", static_cast<int>(opt), known - 1);
}

// --- Core limits ----------------------------------------------------------------------------------------------------

constexpr size_t kResources = 2;
constexpr uint32_t kHardware[kResources] = {kCubeCores, kVectorCores};  // in the order of the enum
using Limits = std::array<uint32_t, kResources>;                        // 0: none

class CoreLimits {
 public:
  uint32_t OfDevice(int device, size_t type) {
    LockGuard lock(mutex_);
    return OrHardware(devices_[static_cast<size_t>(device)][type], type);
  }
  void SetDevice(int device, size_t type, uint32_t value) {
    LockGuard lock(mutex_);
    devices_[static_cast<size_t>(device)][type] = value;
  }
  void ResetDevice(int device) {
    LockGuard lock(mutex_);
    devices_[static_cast<size_t>(device)] = Limits{};
  }

  // A stream without a limit of its own has its device's.
  uint32_t OfStream(void* stream, int device, size_t type) {
    LockGuard lock(mutex_);
    auto it = streams_.find(stream);
    const uint32_t own = it == streams_.end() ? 0 : it->second[type];
    return own != 0 ? own : OrHardware(devices_[static_cast<size_t>(device)][type], type);
  }
  void SetStream(void* stream, size_t type, uint32_t value) {
    LockGuard lock(mutex_);
    // Handles are never reused, so those of streams that are gone would stay for ever.
    std::erase_if(streams_, [](const auto& entry) { return Streams().Find(entry.first) == nullptr; });
    streams_[stream][type] = value;
  }
  void ResetStream(void* stream) {
    LockGuard lock(mutex_);
    streams_.erase(stream);
  }

 private:
  static uint32_t OrHardware(uint32_t limit, size_t type) { return limit != 0 ? limit : kHardware[type]; }

  Mutex mutex_{LockRank::kCoreLimits};
  std::array<Limits, kMaxDevices> devices_ RW_GUARDED_BY(mutex_){};  // by physical id
  std::map<void*, Limits> streams_ RW_GUARDED_BY(mutex_);            // by handle
};

CoreLimits& TheCoreLimits() {
  static auto* limits = new CoreLimits;
  return *limits;
}

// The stream whose limits the thread asked for; it may be gone by now.
thread_local void* t_stream_in_use = nullptr;

Result<size_t> FindResource(aclrtDevResLimitType type) {
  const auto index = static_cast<uint32_t>(type);
  if (index < kResources) return size_t{index};
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "type %d is neither cube cores (0) nor vector cores (1)", static_cast<int>(type));
}

Status RequireCores(size_t type, uint32_t value) {
  if (value >= 1 && value <= kHardware[type]) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "value %u is not in 1..%u, the cores that the device has", value, kHardware[type]);
}

// A live stream of the current context; null is its default stream.
Result<StreamHold> HoldOwnStream(aclrtStream stream) {
  RW_TRY(FindStream(stream).status());
  RW_TRY_SET(Context * context, CurrentContext());
  RW_TRY_SET(StreamHold hold, HoldStream(stream, context));
  RW_TRY(hold->RequireContext(&context->scope()));
  return hold;
}

// --- Operator time limits -------------------------------------------------------------------------------------------

// The device counts time in steps of 2^32 ns, and in a byte that keeps 255 for itself.
constexpr uint64_t kIntervalUs = (uint64_t{1} << 32) / 1000;
constexpr uint64_t kMostIntervals = 254;
std::atomic<uint64_t> g_execute_limit_us{kIntervalUs * kMostIntervals};

// Returns the limit that takes effect; 0 asks for the longest.
uint64_t SetExecuteLimit(uint64_t us) {
  const uint64_t intervals = us / kIntervalUs + (us % kIntervalUs != 0);
  const uint64_t limit = kIntervalUs * (us == 0 ? kMostIntervals : std::min(intervals, kMostIntervals));
  g_execute_limit_us.store(limit, std::memory_order_relaxed);
  return limit;
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireOption(opt, kProcessOptions));
    g_options[static_cast<size_t>(opt)] = value;
    return Ok();
  });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY(RequireOption(opt, kProcessOptions));
    *value = g_options[static_cast<size_t>(opt)];
    return Ok();
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireOption(opt, kContextOptions));
    RW_TRY_SET(Context * context, CurrentContext());
    LockGuard lock(context->option_mutex);
    context->options[opt] = value;
    return Ok();
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY(RequireOption(opt, kContextOptions));
    RW_TRY_SET(Context * context, CurrentContext());
    LockGuard lock(context->option_mutex);
    auto it = context->options.find(opt);
    if (it == context->options.end())
      return Fail(ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "opt %d was never set in the current context; aclrtCtxSetSysParamOpt does",
                  static_cast<int>(opt));
    *value = it->second;
    return Ok();
  });
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY_SET(int device, FindDevice("deviceId", deviceId));
    RW_TRY_SET(size_t resource, FindResource(type));
    *value = TheCoreLimits().OfDevice(device, resource);
    return Ok();
  });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(int device, FindDevice("deviceId", deviceId));
    RW_TRY_SET(size_t resource, FindResource(type));
    RW_TRY(RequireCores(resource, value));
    TheCoreLimits().SetDevice(device, resource, value);
    return Ok();
  });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(int device, FindDevice("deviceId", deviceId));
    TheCoreLimits().ResetDevice(device);
    return Ok();
  });
}

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY(FindStream(stream).status());
    RW_TRY_SET(size_t resource, FindResource(type));
    RW_TRY_SET(StreamHold hold, HoldOwnStream(stream));
    *value = TheCoreLimits().OfStream(hold->handle(), hold->device(), resource);
    return Ok();
  });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(FindStream(stream).status());
    RW_TRY_SET(size_t resource, FindResource(type));
    RW_TRY(RequireCores(resource, value));
    RW_TRY_SET(StreamHold hold, HoldOwnStream(stream));
    TheCoreLimits().SetStream(hold->handle(), resource, value);
    return Ok();
  });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(StreamHold hold, HoldOwnStream(stream));
    TheCoreLimits().ResetStream(hold->handle());
    return Ok();
  });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(StreamHold hold, HoldOwnStream(stream));
    t_stream_in_use = hold->handle();
    return Ok();
  });
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(StreamHold hold, HoldOwnStream(stream));
    if (t_stream_in_use == hold->handle()) t_stream_in_use = nullptr;
    return Ok();
  });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("value", value));
    RW_TRY_SET(size_t resource, FindResource(type));
    RW_TRY_SET(Context * context, CurrentContext());
    const bool in_use = Streams().Find(t_stream_in_use) != nullptr;
    *value = TheCoreLimits().OfStream(in_use ? t_stream_in_use : nullptr, context->device(), resource);
    return Ok();
  });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return Entry(__func__, [&]() -> Status {
    SetExecuteLimit(uint64_t{timeout} * 1000000);
    return Ok();
  });
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
  return Entry(__func__, [&]() -> Status {
    SetExecuteLimit(uint64_t{timeout} * 1000);
    return Ok();
  });
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("actualTimeout", actualTimeout));
    *actualTimeout = SetExecuteLimit(timeout);
    return Ok();
  });
}

aclError aclrtGetOpTimeOutInterval(uint64_t* interval) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("interval", interval));
    *interval = kIntervalUs;
    return Ok();
  });
}

aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("timeoutMs", timeoutMs));
    *timeoutMs = static_cast<uint32_t>((g_execute_limit_us.load(std::memory_order_relaxed) + 999) / 1000);
    return Ok();
  });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    if (flag > 1) return Reject(ACL_ERROR_INVALID_PARAM, "flag %u is neither 0 nor 1", flag);
    RW_TRY_SET(StreamHold hold, HoldOwnStream(stream));
    RW_TRY(RequireNotCapturing(*hold));
    hold->overflow_switch.store(flag, std::memory_order_relaxed);
    return Ok();
  });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("flag", flag));
    RW_TRY_SET(StreamHold hold, HoldOwnStream(stream));
    *flag = hold->overflow_switch.load(std::memory_order_relaxed);
    return Ok();
  });
}
