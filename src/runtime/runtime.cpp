#include "runtime/runtime.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "acl/acl_rt.h"
#include "base/fork.h"
#include "engine/watcher.h"
#include "memory/fault_message.h"
#include "runtime/machine.h"
#include "runtime/product.h"
#include "runtime/thread_state.h"
#include "stream/exception_report.h"
#include "watch/trace.h"

namespace ropeway {
namespace {

std::atomic<bool> g_ending{false};
std::atomic<int> g_default_device{-1};

// What tasks find out when they run: where memory is, and whether their device has been given access to it.
class ReachJudge final : public AddressJudge {
 public:
  explicit ReachJudge(Runtime& runtime) : runtime_(runtime), memory_(runtime.memory()) {}
  Verdict Judge(const void* address, size_t size, uint64_t as_of) const override { return memory_.Judge(address, size, as_of); }
  bool MayReach(int executing, int owner) const override {
    return !ThisProduct().peers_need_enabling || runtime_.device(executing).CanReach(owner);
  }

 private:
  Runtime& runtime_;
  const Memory& memory_;
};

trace::Side SideOf(const void* address) {
  using trace::Side;
  switch (Runtime::Get().memory().Find(address, 1).place) {
    case Place::kDevice: return Side::kDevice;
    case Place::kPinned: return Side::kPinned;
    case Place::kPageable: return Side::kPageable;
    default: return Side::kUnknown;
  }
}

}  // namespace

std::atomic<Runtime*> Runtime::instance_{nullptr};

Status Runtime::RequireUsable() {
  if (InForkedChild()) return RefuseForkedChild();
  if (!g_ending.load(std::memory_order_acquire)) return Ok();
  return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "the process is ending and the runtime has stopped");
}

Status Runtime::RequireEngine() {
  if (GetConfig().engine != "cuda" || ThisMachine().engine == "cuda") return Ok();
  return Fail(ACL_ERROR_RT_NO_DEVICE,
              "the engine is %s; ROPEWAY_ENGINE=auto takes the CPU where no GPU answers, `ropeway doctor` says more",
              ThisMachine().reason.c_str());
}

Status Runtime::Start() {
  const LockGuard lock(fork_lock::start);
  RW_TRY(RequireUsable());
  if (instance_.load(std::memory_order_relaxed) != nullptr) return Ok();
  const Config& config = GetConfig();
  ThisProduct();               // says a name that it does not know
  static bool traced = false;  // once, though a start may be refused
  if (!config.trace_file.empty() && !std::exchange(traced, true))
    StartTrace({config.trace_file, config.rank, ThisMachine().engine, &SideOf});
  auto runtime = std::make_unique<Runtime>();
  bool made = false;
  try {
    made = runtime->Init();
  } catch (const std::system_error& error) {
    return Fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                "no threads are to be had for the device (%s); raise the limit on processes (ulimit -u, the "
                "control group's pids.max), or ask for fewer by ROPEWAY_LANES",
                error.what());
  }
  if (!made)
    return Fail(ACL_ERROR_RT_DEV_SETUP_ERROR,
                "no room for the addresses of %d devices of %zu bytes; lower ROPEWAY_DEVICES or ROPEWAY_DEVICE_MEMORY, or raise "
                "the address-space limit (ulimit -v)",
                ThisMachine().devices, ThisMachine().device_memory);
  HandleFaults(*runtime->memory_);
  instance_.store(runtime.release(), std::memory_order_release);
  DevicesAreUp();
  std::atexit(&Runtime::Stop);
  pthread_atfork(nullptr, nullptr, [] { t_state = ThreadState(); });
  return Ok();
}

bool Runtime::Init() {
  const Machine& machine = ThisMachine();
  engine_ = CreateEngine();
  traits_ = engine_->traits();
  strict_alignment_ = GetConfig().strict_alignment;
  memory_ = Memory::Create(*engine_,
                           {static_cast<size_t>(machine.devices), machine.device_memory, GetConfig().host_access ? size_t{1} : size_t{2}});
  if (memory_ == nullptr) return false;
  judge_ = std::make_unique<ReachJudge>(*this);
  engine_->SetJudge(judge_.get());
  for (int id = 0; id < machine.devices; ++id) devices_.push_back(std::make_unique<Device>(id));
  GetReadyForExceptions();
  return true;
}

void Runtime::Stop() {
  if (InForkedChild()) return;  // the threads are the parent's
  g_ending.store(true, std::memory_order_release);
  // No call finds a context any more; work that is queued stays undone, host functions that have not begun never will.
  Contexts().ForEachInUse([](Context* context) {
    context->MarkDead();
    context->host_thread().Abandon();
    context->kernel_thread().Abandon();
  });
  Get().memory().Stop();
  Get().engine().Stop();
  if (Watcher* watcher = ActiveWatcher()) watcher->Flush();
}

Result<Device*> Runtime::BringUp(int user_id) {
  RW_TRY(RequireUsable());
  RW_TRY(RequireEngine());
  const int physical_id = PhysicalId(user_id);
  if (physical_id < 0)
    return Fail(ACL_ERROR_RT_INVALID_DEVICEID, "deviceId %d is not one of the %d visible devices (0 to %d)", user_id, VisibleCount(),
                VisibleCount() - 1);
  RW_TRY(Start());
  return &Get().device(physical_id);
}

int Runtime::VisibleCount() {
  const Machine& machine = ThisMachine();
  return machine.visible ? static_cast<int>(machine.visible->size()) : machine.devices;
}

int Runtime::PhysicalId(int user_id) {
  const Machine& machine = ThisMachine();
  if (user_id < 0 || user_id >= VisibleCount()) return -1;
  return machine.visible ? (*machine.visible)[static_cast<size_t>(user_id)] : user_id;
}

int Runtime::UserIdOf(int physical_id) {
  const Machine& machine = ThisMachine();
  if (!machine.visible) return physical_id;
  auto it = std::find(machine.visible->begin(), machine.visible->end(), physical_id);
  return it == machine.visible->end() ? -1 : static_cast<int>(it - machine.visible->begin());
}

void Runtime::SetDefaultDevice(int user_id) { g_default_device.store(user_id, std::memory_order_release); }

int Runtime::default_device() { return g_default_device.load(std::memory_order_acquire); }

}  // namespace ropeway
