// The object behind a HcclDispatcher. Handles are numbers that are never used again, so a stale one is found out instead of followed.
//
// Thread safety: several threads may use one dispatcher; settings and the callback are read under its lock, and nothing is called
// with the lock held.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "dispatcher.h"
#include "hccl/base/result.h"
#include "hccl/dispatcher/recording.h"

namespace ropeway::comm {

class Dispatcher {
 public:
  // `recording` says whether InitTask has an effect.
  Dispatcher(DispatcherType type, bool recording) : type_(type), can_record_(recording) {}

  bool is_virtual() const { return type_ == DispatcherType::DISPATCHER_VIRTURAL; }
  bool can_record() const { return can_record_; }

  // Seconds that a wait for a signal may take, by the wait mode; 0 is for ever.
  u32 WaitSeconds();

  // Tells the load-task callback, if there is one. The head of the record is filled in here.
  void Report(hccl::TaskPara task, hccl::Stream& stream, u64 begin_time, bool recorded);
  // The stamp for Report: 0 when profiling is off.
  u64 BeginTime();

  // Adds to the open recording and gives the node's number; false when none is open and the caller shall queue by itself.
  bool Record(RecordedNode node, u32* index);
  void OpenRecording();
  bool recording_open();
  // Ends the recording and hands its nodes over.
  std::vector<RecordedNode> CloseRecording();

  struct Settings {
    SyncMode wait_mode = DEFAULT_TIMEWAITSYNCMODE;
    s32 exec_time_out = NOTIFY_DEFAULT_WAIT_TIME;
    bool multi_qp = false;
    bool profiling = false;
    u32 qos = INVALID_QOSCFG;
    void* callback_user = nullptr;
    void (*callback)(void*, void*, u32) = nullptr;
  };
  Settings settings();
  template <typename Change>
  void ChangeSettings(Change change) {
    std::lock_guard<std::mutex> lock(mutex_);
    change(settings_);
  }

  // The device that Init had to set, as a user id, for Destroy to reset; -1 when a context was current.
  int32_t borrowed_device = -1;

 private:
  const DispatcherType type_;
  const bool can_record_;

  std::mutex mutex_;
  Settings settings_;                // guarded
  bool open_ = false;                // guarded: between InitTask and LaunchTask
  std::vector<RecordedNode> nodes_;  // guarded
};

using DispatcherRef = std::shared_ptr<Dispatcher>;

// HCCL_E_PTR for NULL, HCCL_E_PARA for what is no live dispatcher.
Result<DispatcherRef> FindDispatcher(HcclDispatcher handle);
HcclDispatcher AddDispatcher(DispatcherRef dispatcher);
// The same results; the handle is stale afterwards.
Result<DispatcherRef> RemoveDispatcher(HcclDispatcher handle);

}  // namespace ropeway::comm
