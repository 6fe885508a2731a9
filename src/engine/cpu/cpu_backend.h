// Moves bytes with the cores of this machine: device memory is host memory behind a second mapping, and a kernel chosen at
// run time copies it. Knows nothing of queues and order.
#pragma once

#include "base/host_touch.h"
#include "engine/backend.h"
#include "engine/cpu/address_space.h"
#include "engine/cpu/copy_profile.h"
#include "engine/cpu/shared_chunks.h"
#include "engine/cpu/watched_chunks.h"
#include "engine/sched/shared_work.h"

namespace ropeway::cpu {

class CpuBackend final : public Backend {
 public:
  CpuBackend(WorkSharer& sharer, bool host_access, const CopyProfile& profile = ThisProfile().profile);

  const Traits& traits() const override { return traits_; }
  void* ReserveDevices(size_t window, size_t size, uintptr_t wanted) override;
  void* ReserveHost(size_t size) override;
  bool Commit(void* address, size_t size, bool huge_pages) override;
  void Decommit(void* address, size_t size) override;
  bool Register(void*, size_t) override { return true; }
  void Unregister(void*) override {}
  void* HostView(const void* device_address, size_t size) override;
  std::shared_ptr<SharedPages> CreatePages(size_t size, PagePlace place) override;
  std::shared_ptr<SharedPages> AdoptPages(int descriptor, size_t size) override;
  std::shared_ptr<SharedPages> SharePages(void* address, size_t size) override;
  bool MapPages(const SharedPages& pages, const Mapping& mapping) override;
  void UnmapPages(void* address, size_t size) override;
  bool MovedMeanwhile(const void* address) const override;
  bool LeaveTouch(const siginfo_t& fault, void* context) const override { return ropeway::LeaveTouch(fault, context); }
  void SetJudge(const AddressJudge* judge) override { judge_ = judge; }

  std::unique_ptr<Line> NewLine() override { return nullptr; }
  void ExpectCopy(void* dst, const void* src, size_t size) override;
  int Start(const Task& task, const Behind& behind, Line* line, TaskFailure* failure) override;
  size_t RunVolley(VolleyFeed& feed) override;
  int Finish(Line*, TaskFailure*) override { return 0; }
  bool finishes_at_once() const override { return true; }
  uint64_t LoadWord(const void* address) override;

 private:
  // Runs `move`, which touches memory on this thread and nothing else. 507052 where some of that is the program's, and is not there.
  template <class Move>
  int Touch(const TouchedRange& range, TaskFailure* failure, Move move);
  void MoveBytes(void* dst, const void* src, size_t size, CopyMethod method) const;
  int Copy(void* dst, const void* src, size_t size, CopyMethod method, TaskFailure* failure);
  int CopyShared(void* dst, const void* src, size_t size, TaskFailure* failure);
  template <class Move>
  struct Faults;
  template <class Move>
  int ShareRange(size_t bytes, const TouchedRange& range, TaskFailure* failure, const Move& move);
  struct RowsMove;
  int CopyRows(const Task& task, TaskFailure* failure);
  int CopyBatch(const Task& task, TaskFailure* failure);
  int CopyLate(const Task& task, const Behind& behind, TaskFailure* failure);
  int Set(const Task& task, TaskFailure* failure);
  void Store(const Task& task);

  WorkSharer& sharer_;
  const bool host_access_;
  const CopyKernels kernels_;
  const Traits traits_;
  const size_t lanes_;
  AddressSpace addresses_;
  WatchedChunks watched_;
  SharedChunks shared_;
  const AddressJudge* judge_ = nullptr;
};

}  // namespace ropeway::cpu
