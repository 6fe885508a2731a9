// aclprof: start, stop and settings of the process's profile (docs/profiling.md). The order of the checks is behaviour.
#include <charconv>
#include <cstring>
#include <set>
#include <string_view>

#include "acl/acl_prof.h"
#include "api/entry.h"
#include "base/error_log.h"
#include "base/settings.h"
#include "profile/aclprof.h"

using namespace ropeway;
using namespace ropeway::api;

struct aclprofConfig {
  AclprofConfig config;
};

namespace ropeway::api {
namespace {

constexpr size_t kLongestPath = 4095;
constexpr size_t kLongestOption = 256;
constexpr uint32_t kMostDevices = 64;
constexpr uint64_t kKnownSwitches =
    ACL_PROF_ACL_API | ACL_PROF_TASK_TIME | ACL_PROF_AICORE_METRICS | ACL_PROF_AICPU | ACL_PROF_L2CACHE | ACL_PROF_HCCL_TRACE |
    ACL_PROF_TRAINING_TRACE | ACL_PROF_MSPROFTX | ACL_PROF_RUNTIME_API | ACL_PROF_GE_API_L0 | ACL_PROF_TASK_TIME_L0 | ACL_PROF_TASK_MEMORY |
    ACL_PROF_TASK_TIME_L2 | ACL_PROF_OP_ATTR | ACL_PROF_TASK_TIME_L3 | ACL_PROF_GE_API_L1 | ACL_PROF_API_STATS | ACL_PROF_AICORE_SHAPE;
constexpr uint64_t kUsualSwitches = ACL_PROF_ACL_API | ACL_PROF_TASK_TIME;

Status RequireLength(const char* name, const char* text, size_t length) {
  if (strnlen(text, length + 1) == length) return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "%s does not have the length %zu that is given beside it", name, length);
}

Status RequirePathWords(const char* path) {
  for (const char* at = path; *at != '\0'; ++at) {
    if (static_cast<unsigned char>(*at) >= 0x20 && *at != 0x7f && std::strchr("|;&$<>`\\\"'*?", *at) == nullptr) continue;
    return Reject(ACL_ERROR_INVALID_FILE, "profilerResultPath has the character 0x%02x, which no folder of a profile may have",
                  static_cast<unsigned char>(*at));
  }
  return Ok();
}

// The list of aclprofCreateConfig; null: something is wrong with it.
const char* WrongDevices(const uint32_t* ids, uint32_t count, std::set<int>* devices) {
  if (count > 0 && ids == nullptr) return "deviceIdList is NULL";
  const auto visible = static_cast<uint32_t>(Runtime::VisibleCount());
  if (count > kMostDevices || count > visible) return "deviceNums is more than there are devices";
  for (uint32_t i = 0; i < count; ++i) {
    if (ids[i] >= visible) return "deviceIdList has an id that no device has";
    if (!devices->insert(static_cast<int>(ids[i])).second) return "deviceIdList has an id twice";
  }
  return nullptr;
}

// A program may destroy a configuration while it looks at it elsewhere: only those that are alive count.
struct LivingConfigs {
  Mutex mutex{LockRank::kProfConfigs};
  std::set<const aclprofConfig*> all RW_GUARDED_BY(mutex);
};
LivingConfigs& TheConfigs() {
  static auto* const configs = new LivingConfigs;
  return *configs;
}

Status ReadProfConfig(const aclprofConfig* handle, AclprofConfig* config) {
  LockGuard lock(TheConfigs().mutex);
  if (TheConfigs().all.count(handle) == 0)
    return Reject(ACL_ERROR_INVALID_PARAM, "profilerConfig %p is not alive; aclprofCreateConfig makes one",
                  static_cast<const void*>(handle));
  *config = handle->config;
  return Ok();
}

Status RequireSwitches(const AclprofConfig& config) {
  if ((config.mask & ~kKnownSwitches) != 0)
    return Reject(ACL_ERROR_PROF_MODULES_UNSUPPORTED, "dataTypeConfig 0x%llx has bits outside of 0x%llx",
                  static_cast<unsigned long long>(config.mask), static_cast<unsigned long long>(kKnownSwitches));
  if (config.metrics <= ACL_AICORE_MEMORY_ACCESS || config.metrics == ACL_AICORE_NONE) return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "aicoreMetrics %u is none; use 0 to 8, or ACL_AICORE_NONE (255)", config.metrics);
}

// What a start without a configuration means: every device that is up.
AclprofConfig UsualConfig() {
  AclprofConfig config;
  config.mask = kUsualSwitches;
  config.metrics = ACL_AICORE_NONE;
  Runtime* const runtime = Runtime::GetIfStarted();
  for (int id = 0; runtime != nullptr && id < Runtime::VisibleCount(); ++id) {
    if (runtime->device(Runtime::PhysicalId(id)).active()) config.devices.insert(id);
  }
  return config;
}

// Options that are numbers, and from where to where.
struct NumberOption {
  int type;
  int low, high;
};
constexpr NumberOption kNumberOptions[] = {
    {ACL_PROF_SYS_HARDWARE_MEM_FREQ, 1, 100},   {ACL_PROF_SYS_IO_FREQ, 1, 100},
    {ACL_PROF_SYS_INTERCONNECTION_FREQ, 1, 50}, {ACL_PROF_DVPP_FREQ, 1, 100},
    {ACL_PROF_HOST_SYS_USAGE_FREQ, 1, 50},      {ACL_PROF_LOW_POWER_FREQ, 1, 100},
};

Status BadOption(int type, std::string_view value, const char* wanted) {
  return Reject(ACL_ERROR_INVALID_PROFILING_CONFIG, "config \"%.*s\" of type %d is not %s", static_cast<int>(value.size()), value.data(),
                type, wanted);
}

bool IsHostSystemList(std::string_view list) {
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    const std::string_view word = list.substr(0, end);
    if (word != "cpu" && word != "mem" && word != "disk" && word != "network" && word != "osrt") return false;
    if (end + 1 == list.size()) return false;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return true;
}

bool IsStorageLimit(std::string_view text) {
  constexpr unsigned kLeast = 200;
  unsigned megabytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), megabytes);
  return error == std::errc() && std::string_view(end, static_cast<size_t>(text.data() + text.size() - end)) == "MB" && megabytes >= kLeast;
}

// Nothing of this machine is sampled: numbers are judged, and that is all. The path counts.
Status SetOption(int type, const std::string& value) {
  for (const NumberOption& option : kNumberOptions) {
    if (option.type != type) continue;
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error == std::errc() && end == value.data() + value.size() && number >= option.low && number <= option.high) return Ok();
    const std::string wanted = "a number from " + std::to_string(option.low) + " to " + std::to_string(option.high);
    return BadOption(type, value, wanted.c_str());
  }
  switch (type) {
    case ACL_PROF_STORAGE_LIMIT: return IsStorageLimit(value) ? Ok() : BadOption(type, value, "a size from 200MB on, such as 200MB");
    case ACL_PROF_HOST_SYS: return IsHostSystemList(value) ? Ok() : BadOption(type, value, "a list of cpu, mem, disk, network and osrt");
    case ACL_PROF_NTS_METRICS: return Reject(ACL_ERROR_INVALID_PARAM, "configType 15 is not for this product");
    case 2: return BadOption(type, value, "an option of any type; 2 is none");
    case ACL_PROF_PATH:
      RW_TRY(RequirePathWords(value.c_str()));
      if (value.empty()) return BadOption(type, value, "a path");
      Aclprof::Get().SetPath(value);
      return Ok();
    default: return Ok();
  }
}

}  // namespace
}  // namespace ropeway::api

aclError aclprofInit(const char* profilerResultPath, size_t length) {
  return Entry(__func__, [&]() -> Status {
    if (SettingText("PROFILING_MODE") == "dynamic")
      return Reject(ACL_ERROR_FEATURE_UNSUPPORTED, "PROFILING_MODE=dynamic leaves profiles to a command, which is not there; unset it");
    RW_TRY(RequirePointer("profilerResultPath", profilerResultPath));
    if (length == 0 || length > kLongestPath)
      return Reject(ACL_ERROR_INVALID_PARAM, "length %zu is not one of a path; use 1 to %zu", length, kLongestPath);
    RW_TRY(RequireLength("profilerResultPath", profilerResultPath, length));
    RW_TRY(Aclprof::Get().RequireOff());
    RW_TRY(RequirePathWords(profilerResultPath));
    return Aclprof::Get().Init(std::string(profilerResultPath, length));
  });
}

aclError aclprofFinalize() {
  return Entry(__func__, [&]() -> Status { return Aclprof::Get().Finalize(); });
}

aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums, aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents* aicoreEvents, uint64_t dataTypeConfig) {
  aclprofConfig* made = nullptr;
  Entry(__func__, [&]() -> Status {
    auto config = std::make_unique<aclprofConfig>();
    config->config.mask = dataTypeConfig;
    config->config.metrics = static_cast<uint32_t>(aicoreMetrics);
    const char* wrong = WrongDevices(deviceIdList, deviceNums, &config->config.devices);
    if (aicoreEvents != nullptr) wrong = "aicoreEvents is not NULL";
    if (deviceNums == 0 && (dataTypeConfig & ACL_PROF_MSPROFTX) == 0) wrong = "deviceNums 0 is for ACL_PROF_MSPROFTX only";
    if (wrong != nullptr) return Reject(ACL_ERROR_INVALID_PARAM, "%s", wrong);
    LockGuard lock(TheConfigs().mutex);
    TheConfigs().all.insert(config.get());
    made = config.release();
    return Ok();
  });
  return made;
}

aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("profilerConfig", profilerConfig));
    LockGuard lock(TheConfigs().mutex);
    if (TheConfigs().all.erase(profilerConfig) == 0)
      return Reject(ACL_ERROR_INVALID_PARAM, "profilerConfig %p is not alive", static_cast<const void*>(profilerConfig));
    delete profilerConfig;
    return Ok();
  });
}

aclError aclprofStart(const aclprofConfig* profilerConfig) {
  return Entry(__func__, [&]() -> Status {
    AclprofConfig config = UsualConfig();
    if (profilerConfig != nullptr) RW_TRY(ReadProfConfig(profilerConfig, &config));
    RW_TRY(RequireSwitches(config));
    return Aclprof::Get().Start(config);
  });
}

aclError aclprofStop(const aclprofConfig* profilerConfig) {
  return Entry(__func__, [&]() -> Status {
    AclprofConfig config;
    if (profilerConfig == nullptr) return Aclprof::Get().Stop(config, true);
    RW_TRY(ReadProfConfig(profilerConfig, &config));
    RW_TRY(RequireSwitches(config));
    return Aclprof::Get().Stop(config, false);
  });
}

aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength) {
  return Entry(__func__, [&]() -> Status {
    const auto type = static_cast<int>(configType);
    if (type <= ACL_PROF_ARGS_MIN || type >= ACL_PROF_ARGS_MAX)
      return Reject(ACL_ERROR_INVALID_PARAM, "configType %d is none; use 1 to 16", type);
    if (configLength > kLongestOption)
      return Reject(ACL_ERROR_INVALID_PARAM, "configLength %zu is more than %zu", configLength, kLongestOption);
    RW_TRY(RequirePointer("config", config));
    RW_TRY(RequireLength("config", config, configLength));
    return SetOption(type, std::string(config, configLength));
  });
}

// --- In no header: looked up by name --------------------------------------------------------------------------------------

extern "C" {
RW_API aclError aclprofWarmup(const aclprofConfig* profilerConfig);
RW_API int aclprofRegisterDeviceCallback(void);
RW_API int32_t aclprofGetSupportedFeatures(size_t* featuresSize, void** featuresData);
RW_API int32_t aclprofGetSupportedFeaturesV2(size_t* featuresSize, void** featuresData);
}

aclError aclprofWarmup(const aclprofConfig* profilerConfig) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("profilerConfig", profilerConfig));
    RW_TRY(Aclprof::Get().RequireWarmupTime());
    return Reject(ACL_ERROR_PROF_MODULES_UNSUPPORTED, "there is nothing to warm up; call aclprofStart");
  });
}

int aclprofRegisterDeviceCallback() { return ACL_SUCCESS; }

// None, in a table without rows.
int32_t aclprofGetSupportedFeatures(size_t* featuresSize, void** featuresData) {
  static uint64_t no_features[1] = {0};
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("featuresSize", featuresSize));
    RW_TRY(RequirePointer("featuresData", featuresData));
    if (*featuresData != nullptr) return Reject(ACL_ERROR_INVALID_PARAM, "*featuresData is %p, and should be NULL", *featuresData);
    *featuresSize = 0;
    *featuresData = no_features;
    return Ok();
  });
}

int32_t aclprofGetSupportedFeaturesV2(size_t* featuresSize, void** featuresData) {
  return aclprofGetSupportedFeatures(featuresSize, featuresData);
}

// --- Subscriptions: a description can be made, and there is no model to subscribe to (refused/operator_profiles.cpp) ---------

struct aclprofSubscribeConfig {};

aclprofSubscribeConfig* aclprofCreateSubscribeConfig(int8_t timeInfoSwitch, aclprofAicoreMetrics, void* fd) {
  aclprofSubscribeConfig* made = nullptr;
  Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("fd", fd));
    if (timeInfoSwitch != 0 && timeInfoSwitch != 1)
      return Reject(ACL_ERROR_INVALID_PARAM, "timeInfoSwitch %d is neither 0 nor 1", static_cast<int>(timeInfoSwitch));
    made = new aclprofSubscribeConfig;
    return Ok();
  });
  return made;
}

aclError aclprofDestroySubscribeConfig(const aclprofSubscribeConfig* profSubscribeConfig) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("profSubscribeConfig", profSubscribeConfig));
    delete profSubscribeConfig;
    return Ok();
  });
}
