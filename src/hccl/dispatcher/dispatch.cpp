#include "hccl/dispatcher/dispatch.h"

#include <utility>

#include "base/clock.h"

namespace ropeway::comm {

namespace {

constinit Slab<Dispatcher, 0x4d> g_dispatchers;

Status NoDispatcher(HcclDispatcher handle) {
  return Fail(HCCL_E_PARA, "dispatcher %p is not a live dispatcher (destroyed, or not from HcclDispatcherInit)", handle);
}

}  // namespace

Result<Dispatcher*> FindDispatcher(HcclDispatcher handle) {
  RW_TRY(RequirePointer("dispatcher", handle));
  Dispatcher* found = g_dispatchers.Find(handle);
  if (found == nullptr) return NoDispatcher(handle);
  return found;
}

Result<Dispatcher*> AddDispatcher(DispatcherType type, bool can_record, HcclDispatcher* handle) {
  Dispatcher* made = g_dispatchers.Take();
  if (made == nullptr) return Fail(HCCL_E_UNAVAIL, "all dispatchers of the process are in use; destroy some");
  made->Reset(type, can_record);
  *handle = g_dispatchers.Publish(made);
  return made;
}

Result<int32_t> RemoveDispatcher(HcclDispatcher handle) {
  Dispatcher* found = g_dispatchers.Acquire(handle);
  // Null or false when another thread was faster, or the handle is no dispatcher's.
  const bool ours = found != nullptr && g_dispatchers.Retire(found, g_dispatchers.GenerationOf(handle));
  const int32_t borrowed = found != nullptr ? found->borrowed_device.load() : -1;
  if (ours) g_dispatchers.Release(found);
  if (found != nullptr) g_dispatchers.Release(found);
  if (!ours) return NoDispatcher(handle);
  return borrowed;
}

void Dispatcher::Reset(DispatcherType type, bool can_record) {
  type_.store(type);
  can_record_.store(can_record);
  borrowed_device.store(-1);
  ChangeSettings([](Settings& settings) { settings = Settings(); });
}

Dispatcher::Settings Dispatcher::settings() {
  LockGuard lock(mutex_);
  return settings_;
}

u32 Dispatcher::WaitSeconds() {
  const Settings now = settings();
  switch (now.wait_mode) {
    case CONFIGURABLE_TIMEWAITSYNCMODE: return static_cast<u32>(now.exec_time_out);
    case UNLIMITED_TIMEWAITSYNCMODE: return static_cast<u32>(NOTIFY_MAX_WAIT_TIME_910_73);
    default: return static_cast<u32>(NOTIFY_DEFAULT_WAIT_TIME);
  }
}

u64 Dispatcher::Now() { return static_cast<u64>(NowNs()); }

void Dispatcher::TellCallback(hccl::TaskPara task, hccl::Stream& stream, u64 begin_time, bool recorded) {
  const Settings now = settings();
  if (now.callback == nullptr) return;
  task.profilerType = hccl::ProfilerType::TASK_ALL;
  task.stream = stream.ptr();
  task.isMainStream = stream.IsMainStream();
  task.isFftsDispatcher = recorded;
  task.beginTime = begin_time;
  now.callback(now.callback_user, &task, sizeof(task));
}

bool Dispatcher::Record(RecordedNode node, u32* index) {
  LockGuard lock(mutex_);
  if (!open_.load()) return false;
  *index = static_cast<u32>(nodes_.size());
  nodes_.push_back(std::move(node));
  return true;
}

void Dispatcher::OpenRecording() {
  LockGuard lock(mutex_);
  open_.store(true);
  nodes_.clear();
}

std::vector<RecordedNode> Dispatcher::CloseRecording() {
  LockGuard lock(mutex_);
  open_.store(false);
  return std::exchange(nodes_, {});
}

}  // namespace ropeway::comm
