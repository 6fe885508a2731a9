#include "runtime/runtime.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <system_error>

#include "acl/acl_rt.h"
#include "base/fork.h"
#include "base/log.h"
#include "engine/watcher.h"
#include "memory/fault_message.h"
#include "runtime/engine_choice.h"
#include "runtime/product.h"
#include "runtime/thread_state.h"
#include "watch/trace.h"

namespace ropeway {
namespace {

std::atomic<bool> g_ending{false};
std::atomic<int> g_default_device{-1};

}  // namespace

std::atomic<Runtime*> Runtime::instance_{nullptr};

Status Runtime::RequireUsable() {
  if (InForkedChild()) return RefuseForkedChild();
  if (!g_ending.load(std::memory_order_acquire)) return Ok();
  return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "the process is ending and the runtime has stopped");
}

Status Runtime::Start() {
  const HeldAcrossFork lock(ForkLock::kStart);
  RW_TRY(RequireUsable());
  if (instance_.load(std::memory_order_relaxed) != nullptr) return Ok();
  const Config& config = GetConfig();
  for (const std::string& complaint : config.complaints) WriteLog(kLogWarning, complaint.c_str());
  ThisProduct();  // says a name that it does not know
  if (!config.trace_file.empty()) StartTrace(config.trace_file);
  auto runtime = std::make_unique<Runtime>();
  bool made = false;
  try {
    made = runtime->Init(config);
  } catch (const std::system_error& error) {
    return Fail(ACL_ERROR_RT_DEV_SETUP_ERROR, "no threads are to be had for the device (%s); raise the limit on processes (ulimit -u, the "
                "control group's pids.max), or ask for fewer by ROPEWAY_LANES", error.what());
  }
  if (!made)
    return Fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                "no room for the addresses of %d devices of %zu bytes; lower ROPEWAY_DEVICES or ROPEWAY_DEVICE_MEMORY, or raise "
                "the address-space limit (ulimit -v)",
                config.devices, config.device_memory);
  ExplainDeviceFaults(*runtime->memory_);
  instance_.store(runtime.release(), std::memory_order_release);
  DevicesAreUp();
  std::atexit(&Runtime::Stop);
  pthread_atfork(nullptr, nullptr, [] { t_state = ThreadState(); });
  return Ok();
}

bool Runtime::Init(const Config& config) {
  engine_ = CreateEngine(config);
  traits_ = engine_->traits();
  strict_alignment_ = config.strict_alignment;
  memory_ = Memory::Create(*engine_, config);
  if (memory_ == nullptr) return false;
  engine_->SetJudge(memory_.get());
  for (int id = 0; id < config.devices; ++id) devices_.push_back(std::make_unique<Device>(id));
  return true;
}

void Runtime::Stop() {
  if (InForkedChild()) return;  // the threads are the parent's
  g_ending.store(true, std::memory_order_release);
  // No call finds a context any more; work that is queued stays undone, host functions that have not begun never will.
  Contexts().ForEachInUse([](Context* context) {
    context->MarkDead();
    context->host_thread().Abandon();
  });
  Get().engine().Stop();
  if (Watcher* watcher = ActiveWatcher()) watcher->Flush();
}

Result<Device*> Runtime::BringUp(int user_id) {
  RW_TRY(RequireUsable());
  const int physical_id = PhysicalId(user_id);
  if (physical_id < 0)
    return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "deviceId %d is not one of the %d visible devices (0 to %d)", user_id,
                VisibleCount(), VisibleCount() - 1);
  RW_TRY(Start());
  return &Get().device(physical_id);
}

int Runtime::VisibleCount() {
  const Config& config = GetConfig();
  return config.visible_set ? static_cast<int>(config.visible.size()) : config.devices;
}

int Runtime::PhysicalId(int user_id) {
  const Config& config = GetConfig();
  if (user_id < 0 || user_id >= VisibleCount()) return -1;
  return config.visible_set ? config.visible[static_cast<size_t>(user_id)] : user_id;
}

int Runtime::UserIdOf(int physical_id) {
  const Config& config = GetConfig();
  if (!config.visible_set) return physical_id;
  auto it = std::find(config.visible.begin(), config.visible.end(), physical_id);
  return it == config.visible.end() ? -1 : static_cast<int>(it - config.visible.begin());
}

void Runtime::SetDefaultDevice(int user_id) { g_default_device.store(user_id, std::memory_order_release); }

int Runtime::default_device() { return g_default_device.load(std::memory_order_acquire); }

}  // namespace ropeway
