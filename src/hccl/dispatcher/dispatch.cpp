#include "hccl/dispatcher/dispatch.h"

#include <chrono>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

namespace ropeway::comm {
namespace {

struct Table {
  std::shared_mutex mutex;
  std::unordered_map<uintptr_t, DispatcherRef> live;  // guarded
  uintptr_t last = 0;                                 // guarded
};

// Never destroyed: calls may come during static destruction, too.
Table& Dispatchers() {
  static auto* table = new Table;
  return *table;
}

Status NoDispatcher(HcclDispatcher handle) {
  return Fail(HCCL_E_PARA, "dispatcher %p is not a live dispatcher (destroyed, or not from HcclDispatcherInit)", handle);
}

}  // namespace

Result<DispatcherRef> FindDispatcher(HcclDispatcher handle) {
  RW_TRY(RequirePointer("dispatcher", handle));
  Table& table = Dispatchers();
  std::shared_lock<std::shared_mutex> lock(table.mutex);
  const auto found = table.live.find(reinterpret_cast<uintptr_t>(handle));
  if (found == table.live.end()) return NoDispatcher(handle);
  return found->second;
}

HcclDispatcher AddDispatcher(DispatcherRef dispatcher) {
  Table& table = Dispatchers();
  std::unique_lock<std::shared_mutex> lock(table.mutex);
  table.live.emplace(++table.last, std::move(dispatcher));
  return reinterpret_cast<HcclDispatcher>(table.last);
}

Result<DispatcherRef> RemoveDispatcher(HcclDispatcher handle) {
  Table& table = Dispatchers();
  std::unique_lock<std::shared_mutex> lock(table.mutex);
  const auto found = table.live.find(reinterpret_cast<uintptr_t>(handle));
  if (found == table.live.end()) return NoDispatcher(handle);
  DispatcherRef dispatcher = std::move(found->second);
  table.live.erase(found);
  return dispatcher;
}

Dispatcher::Settings Dispatcher::settings() {
  std::lock_guard<std::mutex> lock(mutex_);
  return settings_;
}

u32 Dispatcher::WaitSeconds() {
  const Settings now = settings();
  switch (now.wait_mode) {
    case CONFIGURABLE_TIMEWAITSYNCMODE:
      return static_cast<u32>(now.exec_time_out);
    case UNLIMITED_TIMEWAITSYNCMODE:
      return static_cast<u32>(NOTIFY_MAX_WAIT_TIME_910_73);
    default:
      return static_cast<u32>(NOTIFY_DEFAULT_WAIT_TIME);
  }
}

u64 Dispatcher::BeginTime() {
  if (!settings().profiling) return 0;
  return static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void Dispatcher::Report(hccl::TaskPara task, hccl::Stream& stream, u64 begin_time, bool recorded) {
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
  std::lock_guard<std::mutex> lock(mutex_);
  if (!open_) return false;
  *index = static_cast<u32>(nodes_.size());
  nodes_.push_back(std::move(node));
  return true;
}

void Dispatcher::OpenRecording() {
  std::lock_guard<std::mutex> lock(mutex_);
  open_ = true;
  nodes_.clear();
}

bool Dispatcher::recording_open() {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_;
}

std::vector<RecordedNode> Dispatcher::CloseRecording() {
  std::lock_guard<std::mutex> lock(mutex_);
  open_ = false;
  return std::exchange(nodes_, {});
}

}  // namespace ropeway::comm
