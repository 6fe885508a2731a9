#include "profile/activity_source.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <ctime>
#include <new>
#include <unordered_map>

#include "base/call_site.h"
#include "base/mutex.h"
#include "engine/task_ranges.h"
#include "runtime/runtime.h"
#include "runtime/thread_state.h"
#include "watch/audience.h"

namespace ropeway {
namespace {

uint32_t ThisThread() {
  static thread_local const auto tid = static_cast<uint32_t>(gettid());
  return tid;
}

bool IsOnDevice(const void* address, bool* known) {
  const Place place = Runtime::Get().memory().Find(address, 1).place;
  *known = *known && (place == Place::kDevice || place == Place::kPinned || place == Place::kPageable);
  return place == Place::kDevice;
}

CopyWay WayOf(const Task& task) {
  const void* dst = nullptr;
  const void* src = nullptr;
  ForEachRange(task, [&](const TaskRange& range) {
    if (range.name == "dst") dst = range.address;
    if (range.name == "src") src = range.address;
    return src == nullptr;  // of a batch, its first piece
  });
  if (dst == nullptr || src == nullptr) return CopyWay::kUnknown;
  bool known = true;
  const bool from_device = IsOnDevice(src, &known);
  const bool to_device = IsOnDevice(dst, &known);
  if (!known) return CopyWay::kUnknown;
  if (from_device) return to_device ? CopyWay::kDeviceToDevice : CopyWay::kDeviceToHost;
  return to_device ? CopyWay::kHostToDevice : CopyWay::kHostToHost;
}

int UserDevice(int physical) { return physical < 0 ? -1 : Runtime::UserIdOf(physical); }

int CurrentDevice() {
  const Context* const context = CurrentContextOrNull();
  return context == nullptr ? -1 : UserDevice(context->device());
}

bool IsEdge(TaskKind kind) { return kind == TaskKind::kSignal || kind == TaskKind::kAwaitSignal; }

// What a task says of itself, whoever asks: its slot may be another's when it is over.
Activity Described(const TaskSight& sight) {
  const Task& task = *sight.task;
  Activity activity{};
  activity.kind = Activity::Kind::kTask;
  activity.task = task.kind;
  activity.way = WayOf(task);
  activity.bytes = TaskBytes(task);
  activity.name = task.call != nullptr ? task.call : "?";
  activity.stream = sight.stream_id;
  activity.asynchronous = sight.stream_id != 0;
  activity.device = sight.stream_id != 0 ? UserDevice(sight.device) : CurrentDevice();
  if (task.kind == TaskKind::kSet || task.kind == TaskKind::kSetWords) activity.value = task.set.value;
  return activity;
}

void DescribeCommunication(const CommunicationSight& sight, Activity* task) {
  task->kind = Activity::Kind::kCommunication;
  task->domain = sight.group;
  task->value = static_cast<uint32_t>(sight.data_type);
  task->id = sight.count;
  if (t_outer_call.call != nullptr) task->name = t_outer_call.call;
}

// Tasks that have been submitted and are not over, by stream and number.
class Submits {
 public:
  void Add(uint64_t key, const Activity& task) {
    Shard& shard = ShardOf(key);
    LockGuard lock(shard.mutex);
    shard.tasks[key] = task;
  }
  // False: it was submitted before anybody listened.
  bool Find(uint64_t key, bool take, Activity* task) {
    Shard& shard = ShardOf(key);
    LockGuard lock(shard.mutex);
    const auto found = shard.tasks.find(key);
    if (found == shard.tasks.end()) return false;
    *task = found->second;
    if (take) shard.tasks.erase(found);
    return true;
  }
  void Clear() {
    for (Shard& shard : shards_) {
      LockGuard lock(shard.mutex);
      shard.tasks.clear();
    }
  }

 private:
  struct Shard {
    Mutex mutex{LockRank::kSubmits};
    std::unordered_map<uint64_t, Activity> tasks RW_GUARDED_BY(mutex);
  };
  static constexpr size_t kShards = 32;
  Shard& ShardOf(uint64_t key) { return shards_[(key ^ key >> 32) % kShards]; }
  std::array<Shard, kShards> shards_;
};

class ActivitySource final : public Watcher {
 public:
  bool HearsCalls() const override { return true; }
  void CallBegins(CallFrame& frame) override {
    frame.number = next_call_.fetch_add(1, std::memory_order_relaxed);
    ForEach([&](ActivityListener& one) { one.CallBegins(frame); });
    frame.begun_ns = RealNs();
  }
  void CallEnds(CallFrame& frame) override {
    if (frame.number == 0) return;  // it was begun before anybody listened
    Activity call{};
    call.kind = Activity::Kind::kCall;
    call.start_ns = frame.begun_ns;
    call.end_ns = RealNs();
    call.name = frame.call;
    call.code = frame.code;
    call.correlation = frame.number;
    call.thread = ThisThread();
    call.device = -1;
    ForEach([&](ActivityListener& one) { one.CallEnds(frame, call); });
  }

  void Submitted(const TaskSight& sight) override {
    try {
      Activity task = Described(sight);
      if (t_communication != nullptr) DescribeCommunication(*t_communication, &task);
      task.correlation = ThisCall();
      task.submit_ns = RealNs();
      submits_.Add(KeyOf(sight), task);
    } catch (const std::bad_alloc&) {
    }
  }
  Moment Started(const TaskSight&) override { return {.real_ns = RealNs()}; }
  void Finished(const TaskSight& sight, const RunSight& run) override {
    if (IsEdge(sight.task->kind)) return;  // nobody asked for it
    Activity submitted;
    if (!submits_.Find(KeyOf(sight), !sight.inside_graph, &submitted)) return;
    Activity task = sight.inside_graph ? Described(sight) : submitted;
    task.inside_graph = sight.inside_graph;
    task.correlation = submitted.correlation;
    task.submit_ns = submitted.submit_ns;
    task.start_ns = std::max(run.started.real_ns, submitted.submit_ns);
    task.end_ns = std::max(RealNs(), task.start_ns);
    task.code = run.code;
    Tell(task);
  }
  void Dropped(const TaskSight& sight) override {
    Activity forgotten;
    submits_.Find(KeyOf(sight), true, &forgotten);
  }

  uint64_t WaitBegins(const WaitSight&) override { return 0; }
  void WaitEnds(const WaitSight&, uint64_t) override {}
  void Ordered(const OrderSight&) override {}
  void Allocated(const BlockSight& sight) override { TellBlock(sight, false); }
  void Freed(const BlockSight& sight) override { TellBlock(sight, true); }

  bool WantsMarks() const override {
    bool wants = false;
    ForEach([&](ActivityListener& one) { wants = wants || one.WantsMarks(); });
    return wants;
  }
  void Marked(const MarkSight& sight) override {
    Activity mark{};
    mark.kind = Activity::Kind::kMark;
    mark.mark = sight.kind;
    mark.in_stream = sight.in_stream;
    mark.stream = sight.stream_id;
    mark.device = UserDevice(sight.device);
    mark.id = sight.id;
    mark.name = sight.text;
    mark.domain = sight.domain;
    mark.thread = sight.in_stream ? 0 : ThisThread();
    mark.start_ns = mark.end_ns = RealNs();
    Tell(mark);
  }
  void Flush() override {
    ForEach([](ActivityListener& one) { one.ProcessEnds(); });
  }

  void Listen(Listening who, ActivityListener* listener) {
    LockGuard lock(mutex_);
    listeners_[static_cast<size_t>(who)].store(listener, std::memory_order_release);
    const bool wanted = listeners_[0].load() != nullptr || listeners_[1].load() != nullptr;
    TakeSeat(Seat::kProfiles, wanted ? this : nullptr);
    if (!wanted) submits_.Clear();
  }

 private:
  static uint64_t ThisCall() { return t_call_frame == nullptr ? 0 : t_call_frame->number; }
  // What the calling thread does by itself has no stream, and one at a time.
  static uint64_t KeyOf(const TaskSight& sight) {
    constexpr uint64_t kNoStream = uint64_t{1} << 63;
    return sight.stream_id == 0 ? kNoStream | ThisThread()
                                : static_cast<uint64_t>(sight.stream_id) << 32 | static_cast<uint32_t>(sight.sequence);
  }

  void TellBlock(const BlockSight& sight, bool freed) {
    Activity block{};
    block.kind = Activity::Kind::kBlock;
    block.freed = freed;
    block.device = UserDevice(sight.device);
    block.address = reinterpret_cast<uintptr_t>(sight.address);
    block.bytes = sight.size;
    block.end_ns = RealNs();
    block.start_ns = t_call_frame == nullptr || t_call_frame->number == 0 ? block.end_ns : t_call_frame->begun_ns;
    block.correlation = ThisCall();
    block.name = t_call_frame == nullptr ? sight.call : t_call_frame->call;
    if (block.name == nullptr) block.name = "?";
    Tell(block);
  }

  void Tell(const Activity& activity) {
    ForEach([&](ActivityListener& one) { one.Happened(activity); });
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& listener : listeners_) {
      if (ActivityListener* const one = listener.load(std::memory_order_acquire)) visit(*one);
    }
  }

  Mutex mutex_{LockRank::kListeners};  // who comes and goes
  std::array<std::atomic<ActivityListener*>, 2> listeners_{};
  std::atomic<uint64_t> next_call_{1};
  Submits submits_;
};

}  // namespace

int64_t RealNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

void Listen(Listening who, ActivityListener* listener) {
  static auto* const source = new ActivitySource;  // what ends at exit may still tell
  source->Listen(who, listener);
}

}  // namespace ropeway
