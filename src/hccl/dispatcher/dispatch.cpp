#include "hccl/dispatcher/dispatch.h"

#include <chrono>
#include <utility>

namespace ropeway::comm {

// Slots are made when they are first needed, handed out again when they are free, and never freed. A handle is the slot's index
// in the lower bits and a count that only rises above them.
class DispatcherTable {
 public:
  Dispatcher* Find(HcclDispatcher handle) const {
    const auto number = reinterpret_cast<uintptr_t>(handle);
    Dispatcher* slot = slots_[number % kSlots].load(std::memory_order_acquire);
    return slot != nullptr && slot->handle_.load(std::memory_order_acquire) == number ? slot : nullptr;
  }

  Dispatcher* Add(DispatcherType type, bool can_record, HcclDispatcher* handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    for (uintptr_t i = 0; i < kSlots; ++i) {
      const uintptr_t index = (first_free_ + i) % kSlots;
      Dispatcher* slot = slots_[index].load();
      if (slot == nullptr) slots_[index].store(slot = new Dispatcher);
      if (slot->handle_.load() != 0) continue;
      first_free_ = index + 1;
      slot->Reset(type, can_record);
      const uintptr_t number = ++count_ * kSlots + index;
      slot->handle_.store(number, std::memory_order_release);
      *handle = reinterpret_cast<HcclDispatcher>(number);
      return slot;
    }
    return nullptr;
  }

  // Null when another thread was faster, or the handle is no dispatcher's.
  Dispatcher* Remove(HcclDispatcher handle) {
    std::lock_guard<std::mutex> lock(mutex_);
    Dispatcher* slot = Find(handle);
    if (slot == nullptr) return nullptr;
    slot->handle_.store(0);
    const uintptr_t index = reinterpret_cast<uintptr_t>(handle) % kSlots;
    if (index < first_free_) first_free_ = index;
    slot->CloseRecording();
    return slot;
  }

 private:
  static constexpr uintptr_t kSlots = 4096;
  std::atomic<Dispatcher*> slots_[kSlots] = {};
  std::mutex mutex_;
  uintptr_t first_free_ = 0;  // guarded: no slot below is free
  uintptr_t count_ = 0;       // guarded
};

namespace {

// Never destroyed: calls may come during static destruction, too.
DispatcherTable& Dispatchers() {
  static auto* table = new DispatcherTable;
  return *table;
}

Status NoDispatcher(HcclDispatcher handle) {
  return Fail(HCCL_E_PARA, "dispatcher %p is not a live dispatcher (destroyed, or not from HcclDispatcherInit)", handle);
}

}  // namespace

Result<Dispatcher*> FindDispatcher(HcclDispatcher handle) {
  RW_TRY(RequirePointer("dispatcher", handle));
  Dispatcher* found = Dispatchers().Find(handle);
  if (found == nullptr) return NoDispatcher(handle);
  return found;
}

Result<Dispatcher*> AddDispatcher(DispatcherType type, bool can_record, HcclDispatcher* handle) {
  Dispatcher* made = Dispatchers().Add(type, can_record, handle);
  if (made == nullptr) return Fail(HCCL_E_UNAVAIL, "all dispatchers of the process are in use; destroy some");
  return made;
}

Result<int32_t> RemoveDispatcher(HcclDispatcher handle) {
  Dispatcher* removed = Dispatchers().Remove(handle);
  if (removed == nullptr) return NoDispatcher(handle);
  return removed->borrowed_device.load();
}

void Dispatcher::Reset(DispatcherType type, bool can_record) {
  type_.store(type);
  can_record_.store(can_record);
  borrowed_device.store(-1);
  ChangeSettings([](Settings& settings) { settings = Settings(); });
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

u64 Dispatcher::Now() { return static_cast<u64>(std::chrono::steady_clock::now().time_since_epoch().count()); }

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
  std::lock_guard<std::mutex> lock(mutex_);
  if (!open_.load()) return false;
  *index = static_cast<u32>(nodes_.size());
  nodes_.push_back(std::move(node));
  return true;
}

void Dispatcher::OpenRecording() {
  std::lock_guard<std::mutex> lock(mutex_);
  open_.store(true);
  nodes_.clear();
}

std::vector<RecordedNode> Dispatcher::CloseRecording() {
  std::lock_guard<std::mutex> lock(mutex_);
  open_.store(false);
  return std::exchange(nodes_, {});
}

}  // namespace ropeway::comm
