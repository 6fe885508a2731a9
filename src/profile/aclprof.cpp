#include "profile/aclprof.h"

#include <cerrno>
#include <cstring>

#include "acl/acl_prof.h"

namespace ropeway {
namespace {

constexpr uint64_t kTaskTimes = ACL_PROF_TASK_TIME | ACL_PROF_TASK_TIME_L0 | ACL_PROF_TASK_TIME_L2 | ACL_PROF_TASK_TIME_L3;

AclprofTables TablesOf(uint64_t mask) {
  AclprofTables tables;
  tables.calls = (mask & (ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API)) != 0;
  tables.tasks = (mask & kTaskTimes) != 0;
  tables.blocks = (mask & ACL_PROF_TASK_MEMORY) != 0;
  tables.communications = (mask & ACL_PROF_HCCL_TRACE) != 0;
  tables.marks = (mask & ACL_PROF_MSPROFTX) != 0;
  tables.steps = tables.tasks || (mask & ACL_PROF_TRAINING_TRACE) != 0;
  return tables;
}

// Statistics of calls go without anything else.
uint64_t Effective(uint64_t mask) { return (mask & ACL_PROF_API_STATS) != 0 ? uint64_t{ACL_PROF_API_STATS | ACL_PROF_ACL_API} : mask; }

// What a command collects: everything that there is.
constexpr uint64_t kCommanded =
    ACL_PROF_ACL_API | ACL_PROF_RUNTIME_API | ACL_PROF_TASK_TIME | ACL_PROF_TASK_MEMORY | ACL_PROF_HCCL_TRACE | ACL_PROF_MSPROFTX;

Status NoFolder(const std::string& path, const char* giver) {
  return Reject(ACL_ERROR_INVALID_FILE, "no folder for the profile can be made in %s (%s); give %s one that can be written", path.c_str(),
                strerror(errno), giver);
}

Status OtherSwitches(uint64_t mask, uint64_t running) {
  return Reject(ACL_ERROR_INVALID_PROFILING_CONFIG,
                "dataTypeConfig 0x%llx is not the 0x%llx that the running profile was started with; stop that one first",
                static_cast<unsigned long long>(mask), static_cast<unsigned long long>(running));
}

}  // namespace

Aclprof& Aclprof::Get() {
  static auto* const aclprof = new Aclprof;  // what ends at exit may still tell
  return *aclprof;
}

Aclprof::Aclprof()
    : queue_([] {
        Aclprof& aclprof = Get();
        LockGuard lock(aclprof.mutex_);
        aclprof.WriteWaiting();
      }) {}

Status Aclprof::RequireNew() const {
  RW_TRY(RequireOwn());
  if (!initialised_) return Ok();
  return Reject(ACL_ERROR_REPEAT_INITIALIZE, "the profile is initialised, for %s; aclprofFinalize comes first", path_.c_str());
}

Status Aclprof::RequireOff() {
  LockGuard lock(mutex_);
  return RequireNew();
}

Status Aclprof::Init(const std::string& path) {
  LockGuard lock(mutex_);
  RW_TRY(RequireNew());
  initialised_ = true;
  path_ = path;
  return Ok();
}

void Aclprof::SetPath(const std::string& path) {
  LockGuard lock(mutex_);
  later_path_ = path;
}

Status Aclprof::Start(const AclprofConfig& config) {
  LockGuard lock(mutex_);
  RW_TRY(RequireOwn());
  if (files_ != nullptr) return config.mask == running_.mask ? Ok() : OtherSwitches(config.mask, running_.mask);
  const std::string& path = initialised_ ? path_ : later_path_;
  const AclprofTables tables = TablesOf(Effective(config.mask));
  files_ = AclprofFiles::Create(path, config.devices, tables, config.mask);
  if (files_ == nullptr) return NoFolder(path, "aclprofInit");
  if (!initialised_) path_ = path;
  initialised_ = true;
  running_ = config;
  Run(tables.marks);
  return Ok();
}

void Aclprof::Run(bool marking) {
  queue_.Prepare();
  queue_.TakeAll();
  queue_.TakeLost();
  marking_.store(marking, std::memory_order_relaxed);
  Listen(Listening::kAclprof, this);
}

Status Aclprof::Command(const std::string& path) {
  LockGuard lock(mutex_);
  RW_TRY(RequireNew());
  files_ = AclprofFiles::Create(path, {}, TablesOf(kCommanded), kCommanded);
  if (files_ == nullptr) return NoFolder(path, "profiler.output of the configuration file");
  files_->TakeAllDevices();
  commanded_ = true;
  Run(true);
  return Ok();
}

void Aclprof::EndCommanded() {
  LockGuard lock(mutex_);
  if (commanded_) End();
}

Status Aclprof::RequireOwn() const {
  if (!commanded_) return Ok();
  return Reject(ACL_ERROR_PROF_ALREADY_RUN,
                "the configuration file of aclInit has switched a profile on, which runs until aclFinalize; take its key profiler out");
}

void Aclprof::WriteWaiting() {
  const std::vector<Activity> waiting = queue_.TakeAll();
  if (files_ == nullptr) return;
  for (const Activity& activity : waiting) files_->Write(activity);
  files_->CountLost(queue_.TakeLost());
}

void Aclprof::End() {
  if (files_ == nullptr) return;
  marking_.store(false, std::memory_order_relaxed);
  Listen(Listening::kAclprof, nullptr);
  WriteWaiting();
  files_->Complete();
  files_ = nullptr;
  commanded_ = false;
  running_ = {};
}

Status Aclprof::Stop(const AclprofConfig& config, bool everything) {
  LockGuard lock(mutex_);
  RW_TRY(RequireOwn());
  if (files_ == nullptr) return Ok();
  if (!everything && config.mask != running_.mask) return OtherSwitches(config.mask, running_.mask);
  WriteWaiting();
  for (const int device : config.devices) {
    running_.devices.erase(device);
    files_->Close(device);
  }
  if (everything || config.devices.empty() || running_.devices.empty()) End();
  return Ok();
}

Status Aclprof::Finalize() {
  LockGuard lock(mutex_);
  RW_TRY(RequireOwn());
  End();
  initialised_ = false;
  return Ok();
}

Status Aclprof::RequireWarmupTime() {
  LockGuard lock(mutex_);
  if (!initialised_) return Reject(ACL_ERROR_PROF_NOT_RUN, "the profile is not initialised; aclprofInit comes first");
  if (files_ != nullptr) return Reject(ACL_ERROR_PROF_API_CONFLICT, "the profile runs already; warm up before aclprofStart");
  return Ok();
}

void Aclprof::ProcessEnds() {
  LockGuard lock(mutex_);
  End();
}

}  // namespace ropeway
