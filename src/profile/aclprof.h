// The one profile of the process that aclprof makes: off, initialised, running with a set of devices, or commanded by the file of aclInit
// (docs/profiling.md has the table of states). What arguments must be is for the API.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "profile/aclprof_files.h"
#include "profile/activity_queue.h"
#include "profile/activity_source.h"

namespace ropeway {

struct AclprofConfig {
  std::set<int> devices;  // as the program counts
  uint32_t metrics = 0;
  uint64_t mask = 0;
};

class Aclprof final : public ActivityListener {
 public:
  static Aclprof& Get();

  // 100002: it is initialised; 100042, as for the next ones: it is commanded.
  Status RequireOff();
  Status Init(const std::string& path);
  // For a Start without Init.
  void SetPath(const std::string& path);
  // 100010: it runs with other switches; 100003: the folder cannot be made.
  Status Start(const AclprofConfig& config);
  // 100010: it runs with other switches. `everything`: whatever runs.
  Status Stop(const AclprofConfig& config, bool everything);
  Status Finalize();
  // Runs from aclInit to aclFinalize, with everything that there is, on every device. 100003: the folder cannot be made; 100002: the
  // program has a profile of its own.
  Status Command(const std::string& path);
  void EndCommanded();
  Status RequireNotCommanded() {
    LockGuard lock(mutex_);
    return RequireOwn();
  }
  // 100043 or 148047, as aclprofWarmup answers before it refuses.
  Status RequireWarmupTime();

  // Marks of the program are collected.
  bool marking() const { return marking_.load(std::memory_order_relaxed); }

  void CallEnds(const CallFrame&, const Activity& call) override { Happened(call); }
  void Happened(const Activity& activity) override { queue_.Put({&activity, 1}); }
  bool WantsMarks() const override { return marking(); }
  void ProcessEnds() override;

 private:
  Aclprof();
  Status RequireNew() const RW_REQUIRES(mutex_);
  Status RequireOwn() const RW_REQUIRES(mutex_);
  void Run(bool marking) RW_REQUIRES(mutex_);
  void End() RW_REQUIRES(mutex_);
  void WriteWaiting() RW_REQUIRES(mutex_);

  Mutex mutex_{LockRank::kProfiling};
  bool initialised_ RW_GUARDED_BY(mutex_) = false;
  bool commanded_ RW_GUARDED_BY(mutex_) = false;
  std::string path_ RW_GUARDED_BY(mutex_);
  std::string later_path_ RW_GUARDED_BY(mutex_) = "./";
  AclprofConfig running_ RW_GUARDED_BY(mutex_);
  std::unique_ptr<AclprofFiles> files_ RW_GUARDED_BY(mutex_);  // while it runs
  std::atomic<bool> marking_{false};
  ActivityQueue queue_;
};

}  // namespace ropeway
