#include "runtime/init_state.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error_log.h"
#include "base/no_destroy.h"
#include "runtime/device_limits.h"
#include "runtime/init_config.h"
#include "runtime/runtime.h"

namespace ropeway {

InitState& InitState::Get() {
  static NoDestroy<InitState> state;
  return state.get();
}

bool InitState::CountOneMore() {
  uint64_t count = count_;
  while (count > 0 && !count_.compare_exchange_weak(count, count + 1)) {
  }
  return count > 0;
}

Status InitState::RejectRepeated() const {
  return Reject(ACL_ERROR_REPEAT_INITIALIZE, "the library is initialised already, %llu times now; this code may be ignored",
                static_cast<unsigned long long>(count_));
}

Status InitState::Init(const char* path, const Profiler& profiler) {
  if (init_callbacks_running_ > 0 && CountOneMore()) return RejectRepeated();
  const LockGuard lock(fork_lock::init);
  if (CountOneMore()) return RejectRepeated();
  const bool with_file = path != nullptr && *path != '\0';
  std::string text;
  if (with_file) RW_TRY(ReadInitFile(path, &text));
  const size_t hash = std::hash<std::string>()(text);
  if (first_hash_.value_or(hash) != hash)
    return Reject(ACL_ERROR_INVALID_PARAM,
                  "configPath %s has other content than the first configuration of this process, which stays in force",
                  with_file ? path : "(none)");
  const auto callbacks = init_callbacks_;  // they may register and unregister
  RW_TRY(Apply(text, profiler));
  // Up before the callbacks run: they may use the library, and a callback that they register is called at once.
  config_text_ = std::move(text);
  count_ = 1;
  if (Status status = CallInitCallbacks(callbacks, with_file); !status.ok()) {
    count_ = 0;
    profiler.end();
    Runtime::SetDefaultDevice(-1);
    return status;
  }
  first_hash_ = hash;
  if (count_ > 0) finalized_ = false;
  return Ok();
}

Status InitState::Apply(const std::string& text, const Profiler& profiler) {
  RW_TRY(Runtime::RequireEngine());
  InitConfig config;
  RW_TRY(ParseInitConfig(text, &config));
  if (config.default_device >= 0 && Runtime::PhysicalId(config.default_device) < 0)
    return Reject(ACL_ERROR_FAILURE, "default_device %d in the configuration file is not one of the %d visible devices",
                  config.default_device, Runtime::VisibleCount());
  if (!config.profile_folder.empty()) RW_TRY(profiler.begin(config.profile_folder));
  ShareTextsAcrossThreads(config.share_error_texts);
  Runtime::SetDefaultDevice(config.default_device);
  if (config.simd_stack_size) SetDeviceLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, *config.simd_stack_size);
  if (config.simd_printf_fifo_size) SetDeviceLimit(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE, *config.simd_printf_fifo_size);
  return Ok();
}

Status InitState::Finalize() {
  const LockGuard lock(fork_lock::init);
  // The first call of a process succeeds even when nothing was initialised.
  if (finalized_) return Reject(ACL_ERROR_REPEAT_FINALIZE, "the library is finalised already");
  return TakeDown();
}

Status InitState::FinalizeReference(uint64_t* left) {
  const LockGuard lock(fork_lock::init);
  Status status = Ok();
  if (count_ == 0) {
    status = Reject(ACL_ERROR_REPEAT_FINALIZE, "the library is not initialised, so there is nothing to undo");
  } else if (count_ == 1) {
    status = TakeDown();
  } else {
    --count_;
  }
  *left = count_;
  return status;
}

Status InitState::TakeDown() {
  if (count_ > 0) {
    const auto callbacks = finalize_callbacks_;
    RW_TRY(CallInOrder(callbacks, {ACL_REG_TYPE_ACL_OP_COMPILER, ACL_REG_TYPE_ACL_MODEL, ACL_REG_TYPE_ACL_DVPP, ACL_REG_TYPE_OTHER},
                       [](const auto& entry) { return entry.function(entry.data); }));
  }
  count_ = 0;
  finalized_ = true;
  Runtime::SetDefaultDevice(-1);
  return Ok();
}

Status InitState::CallInitCallbacks(const Entries<aclInitCallbackFunc>& callbacks, bool with_file) {
  const auto call = [this](const auto& entry) RW_REQUIRES(fork_lock::init) { return CallInit(entry); };
  RW_TRY(CallInOrder(callbacks, {ACL_REG_TYPE_ACL_MODEL}, call));
  if (with_file) RW_TRY(CallInOrder(callbacks, {ACL_REG_TYPE_ACL_OP_EXECUTOR}, call));
  return CallInOrder(callbacks, {ACL_REG_TYPE_ACL_DVPP, ACL_REG_TYPE_OTHER}, call);
}

aclError InitState::CallInit(const Entry<aclInitCallbackFunc>& entry) {
  ++init_callbacks_running_;
  const aclError answer = entry.function(config_text_.c_str(), config_text_.size(), entry.data);
  --init_callbacks_running_;
  return answer;
}

template <typename Function, typename Call>
Status InitState::CallInOrder(const Entries<Function>& entries, std::initializer_list<aclRegisterCallbackType> types, Call call) {
  for (aclRegisterCallbackType type : types) {
    for (const auto& entry : entries) {
      if (entry.type != type) continue;
      if (const aclError answer = call(entry); answer != ACL_SUCCESS)
        return Reject(answer, "the program's own callback of type %d returned %d", static_cast<int>(type), answer);
    }
  }
  return Ok();
}

template <typename Function>
Status InitState::Add(Entries<Function>& entries, const Entry<Function>& entry) {
  const bool taken = std::any_of(entries.begin(), entries.end(), [&](const auto& other) { return other.type == entry.type; });
  if (taken && entry.type != ACL_REG_TYPE_OTHER)
    return Reject(ACL_ERROR_INTERNAL_ERROR, "type %d has a callback already; unregister it, or use ACL_REG_TYPE_OTHER",
                  static_cast<int>(entry.type));
  entries.push_back(entry);
  return Ok();
}

template <typename Function>
Status InitState::Remove(Entries<Function>& entries, aclRegisterCallbackType type, Function function) {
  auto it =
      std::find_if(entries.begin(), entries.end(), [&](const auto& entry) { return entry.type == type && entry.function == function; });
  if (it == entries.end()) return Reject(ACL_ERROR_INTERNAL_ERROR, "cbFunc is not registered for type %d", static_cast<int>(type));
  entries.erase(it);
  return Ok();
}

Status InitState::RegisterInit(aclRegisterCallbackType type, aclInitCallbackFunc function, void* data) {
  const LockGuard lock(fork_lock::init);
  RW_TRY(Add(init_callbacks_, {type, function, data}));
  if (count_ > 0) CallInit({type, function, data});  // what it says matters inside aclInit only
  return Ok();
}

Status InitState::UnregisterInit(aclRegisterCallbackType type, aclInitCallbackFunc function) {
  const LockGuard lock(fork_lock::init);
  return Remove(init_callbacks_, type, function);
}

Status InitState::RegisterFinalize(aclRegisterCallbackType type, aclFinalizeCallbackFunc function, void* data) {
  const LockGuard lock(fork_lock::init);
  return Add(finalize_callbacks_, {type, function, data});
}

Status InitState::UnregisterFinalize(aclRegisterCallbackType type, aclFinalizeCallbackFunc function) {
  const LockGuard lock(fork_lock::init);
  return Remove(finalize_callbacks_, type, function);
}

}  // namespace ropeway
