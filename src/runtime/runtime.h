// The process: settings, engine, memory and devices; what happens at exit. Never destroyed, so calls
// from static destructors find everything in place and get an error instead of a crash.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/status.h"
#include "engine/engine.h"
#include "memory/memory.h"
#include "runtime/device.h"
#include "runtime/machine.h"

namespace ropeway {

class Runtime {
 public:
  // The started runtime. Only for code that runs behind a context or a BringUp.
  static Runtime& Get() { return *instance_.load(std::memory_order_acquire); }
  // Null while nothing has been started.
  static Runtime* GetIfStarted() { return instance_.load(std::memory_order_acquire); }

  // 507000 once the process is ending, 507033 in a child of a process that had devices up.
  static Status RequireUsable();

  // 207004 where the settings insist on a GPU and none answers. Looks for one in that case only.
  static Status RequireEngine();

  // The device behind a user id, with the runtime started. 207004 no engine, 107001 bad id, 507033 no room.
  static Result<Device*> BringUp(int user_id);

  // User ids: indexes into what ASCEND_RT_VISIBLE_DEVICES leaves visible. Physical ids index the machine.
  static int VisibleCount();
  static int PhysicalId(int user_id);  // -1: no such user id
  static int UserIdOf(int physical_id);

  // Set by the init file; -1 for none.
  static void SetDefaultDevice(int user_id);
  static int default_device();

  Engine& engine() { return *engine_; }
  const Traits& traits() const { return traits_; }
  bool strict_alignment() const { return strict_alignment_; }
  Memory& memory() { return *memory_; }
  Device& device(int physical_id) { return *devices_[static_cast<size_t>(physical_id)]; }

 private:
  friend struct StateShape;  // api/state_table.cpp
  static Status Start();
  static void Stop();  // at exit
  bool Init();

  static std::atomic<Runtime*> instance_;

  Traits traits_{};  // the engine's, at hand for every copy
  bool strict_alignment_ = false;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Memory> memory_;
  std::unique_ptr<AddressJudge> judge_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace ropeway
