// The object behind a HcclDispatcher, in a slab as the runtime's objects are (base/slab.h).
//
// Thread safety: several threads may use one dispatcher. Nothing is called with its lock held. A call that goes on while another
// thread destroys the dispatcher finishes with the settings of then or of the next owner.
#pragma once

#include <atomic>
#include <vector>

#include "base/mutex.h"
#include "base/slab.h"
#include "dispatcher.h"
#include "hccl/base/result.h"
#include "hccl/dispatcher/recording.h"

namespace ropeway::comm {

class Dispatcher : public SlabObject {
 public:
  struct Settings {
    SyncMode wait_mode = DEFAULT_TIMEWAITSYNCMODE;
    s32 exec_time_out = NOTIFY_DEFAULT_WAIT_TIME;
    bool multi_qp = false;
    bool profiling = false;
    u32 qos = INVALID_QOSCFG;
    void* callback_user = nullptr;
    void (*callback)(void*, void*, u32) = nullptr;
  };

  bool is_virtual() const { return type_.load() == DispatcherType::DISPATCHER_VIRTURAL; }
  // Whether InitTask has an effect.
  bool can_record() const { return can_record_.load(); }

  Settings settings();
  template <typename Change>
  void ChangeSettings(Change change) {
    LockGuard lock(mutex_);
    change(settings_);
    profiling_.store(settings_.profiling);
    observed_.store(settings_.callback != nullptr);
  }
  // Seconds that a wait for a signal may take, by the wait mode; 0 is for ever.
  u32 WaitSeconds();

  // Tells the load-task callback, if there is one. The head of the record is filled in here.
  void Report(const hccl::TaskPara& task, hccl::Stream& stream, u64 begin_time, bool recorded) {
    if (observed_.load(std::memory_order_acquire)) [[unlikely]]
      TellCallback(task, stream, begin_time, recorded);
  }
  bool observed() const { return observed_.load(std::memory_order_acquire); }
  // The stamp for Report: 0 when profiling is off.
  u64 BeginTime() const { return profiling_.load(std::memory_order_relaxed) ? Now() : 0; }

  void OpenRecording();
  bool recording_open() const { return open_.load(std::memory_order_acquire); }
  // Adds to the open recording and gives the node's number; false when none is open and the caller shall queue by itself.
  bool Record(RecordedNode node, u32* index);
  // Ends the recording and hands its nodes over.
  std::vector<RecordedNode> CloseRecording();

  // For the table of dispatchers: a new owner's, and nobody's.
  void Reset(DispatcherType type, bool can_record);
  void Recycle() { CloseRecording(); }

  // The device that Init had to set, as a user id, for Destroy to reset; -1 when a context was current.
  std::atomic<int32_t> borrowed_device{-1};

 private:
  void TellCallback(hccl::TaskPara task, hccl::Stream& stream, u64 begin_time, bool recorded);
  static u64 Now();

  std::atomic<DispatcherType> type_{DispatcherType::DISPATCHER_NORMAL};
  std::atomic<bool> can_record_{false};
  std::atomic<bool> profiling_{false};  // copies of settings that every copy asks for
  std::atomic<bool> observed_{false};
  std::atomic<bool> open_{false};  // between InitTask and LaunchTask; changed under the lock

  Mutex mutex_{LockRank::kHcclDispatcher};
  Settings settings_ RW_GUARDED_BY(mutex_);
  std::vector<RecordedNode> nodes_ RW_GUARDED_BY(mutex_);
};

// HCCL_E_PTR for NULL, HCCL_E_PARA for what is no live dispatcher.
Result<Dispatcher*> FindDispatcher(HcclDispatcher handle);
// Makes a dispatcher and its handle; HCCL_E_UNAVAIL when the process has too many.
Result<Dispatcher*> AddDispatcher(DispatcherType type, bool can_record, HcclDispatcher* handle);
// Makes the handle stale and hands out the device to reset; the results of FindDispatcher but for NULL.
Result<int32_t> RemoveDispatcher(HcclDispatcher handle);

}  // namespace ropeway::comm
