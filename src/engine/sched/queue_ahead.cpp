// Records of events and waits for them where a device keeps the order by itself: the owner marks a point of its line, whoever waits for the
// record follows it, and what is behind the wait is started before the host has seen the end of what is in front. What the host tells
// (completed_, markers, failures) stays where it was: a task that was started ahead is gone through again in its turn, when all that is in
// front of it is done.
#include <new>

#include "base/clock.h"
#include "base/spin_lock.h"
#include "engine/sched/queue.h"
#include "engine/sched/workshop.h"

namespace ropeway::sched {
namespace {

// So far the owner goes ahead of what is told.
constexpr uint64_t kMostAhead = 64;
// How long it stays with a wait that nobody has foretold: the record may just be on its way to the device, in the hands of another lane.
constexpr int64_t kUnforetoldNs = 5000;
// And with one that is followed, to start what else comes. Then it parks, as everybody does.
constexpr int64_t kFollowedNs = 100000;

constexpr bool StartsAhead(const Task& task) {
  return task.flags == 0 && (task.kind == TaskKind::kCopy || task.kind == TaskKind::kSet || task.kind == TaskKind::kSetWords);
}

// A limit is the host's to watch.
constexpr bool CanBeFollowed(const Task& wait) { return (wait.flags & Task::kOfEvent) != 0 && wait.await.timeout_ns == 0; }

bool WantedByOthers(const std::atomic<int>* rivals) { return rivals != nullptr && rivals->load(std::memory_order_relaxed) > 0; }

}  // namespace

void LaneQueue::SettleBefore(const Task& task, const Share& share) {
  follows_ = false;
  // A watcher is told when each task begins and ends, so nothing begins before its turn.
  if (!has_points_ || ActiveWatcher() != nullptr) return void(Settle());
  if (task.kind == TaskKind::kMark) return SettleBeforeMark(share);
  if (ahead_ == 0) Settle();
  if (task.kind != TaskKind::kAwait || !CanBeFollowed(task)) return;
  follows_ = ahead_ == 0;
  StayAtWait(*task.await.gate, share);
}

void LaneQueue::SettleBeforeMark(const Share& share) {
  if (ahead_ == 0 && !(line_busy_ && StartNextAhead())) return void(Settle());
  StartAhead(share);
  const std::shared_ptr<DevicePoint> point = points_.front();
  TaskFailure failure;
  const int code = shop_.backend->FinishUpTo(
      *point, [&] { StartAhead(share); }, &failure);
  EndOfBytes(code, failure.text);
  if (executed_ != completed_.load(std::memory_order_relaxed)) Publish();
}

// Nobody else starts what comes behind the wait, so the owner stays for a while, unless its lane is wanted elsewhere.
void LaneQueue::StayAtWait(const Gate& gate, const Share& share) {
  const int64_t start = NowNs();
  while (!gate.open()) {
    StartAhead(share);
    if (WantsOut() || WantedByOthers(share.rivals)) return;
    if (NowNs() - start > (ahead_ == 0 ? kUnforetoldNs : kFollowedNs)) return;
    CpuRelax();
  }
}

void LaneQueue::StartAhead(const Share& share) {
  const uint64_t before = ahead_;
  while (ahead_ < kMostAhead && executed_ + ahead_ < share.up_to && !WantsOut() && SeesMoreAhead() && StartNextAhead()) {
  }
  if (ahead_ != before) shop_.backend->Hurry(line_.get());
}

bool LaneQueue::SeesMoreAhead() { return executed_ + ahead_ < submitted_seen_ || (SeeMore() && executed_ + ahead_ < submitted_seen_); }

bool LaneQueue::StartNextAhead() {
  const Task& task = At(executed_ + ahead_);
  bool started = false;
  if (task.kind == TaskKind::kMark) {
    started = MarkAhead(task);
  } else if (task.kind == TaskKind::kAwait) {
    started = FollowAhead(task);
  } else if (ahead_ != 0 && StartsAhead(task) && shop_.backend->StartsSoon(task)) {
    StartBytesAhead(task);
    started = true;
  }
  if (started) ++ahead_;
  return started;
}

bool LaneQueue::MarkAhead(const Task& mark) {
  Gate* const gate = mark.mark.marker->Opens();
  if (gate == nullptr) return false;
  std::shared_ptr<DevicePoint> point;
  try {
    point = shop_.backend->MarkPoint(line_.get());
    if (point == nullptr) return false;
    points_.push_back(point);
  } catch (const std::bad_alloc&) {
    return false;  // then the host sends on whoever waits
  }
  gate->Foretell(std::move(point));
  return true;
}

// Not behind bytes: those would be told complete only with what is behind the wait, since no point is between the two.
bool LaneQueue::FollowAhead(const Task& wait) {
  if (!CanBeFollowed(wait) || (ahead_ != 0 && MovesBytes(At(executed_ + ahead_ - 1).kind))) return false;
  const std::shared_ptr<DevicePoint> point = wait.await.gate->foretold();
  if (point == nullptr) return ahead_ != 0 && wait.await.gate->open();
  follows_ = false;  // it does, or cannot
  if (!shop_.backend->Follow(line_.get(), *point)) return false;
  line_busy_ = true;
  return true;
}

void LaneQueue::StartBytesAhead(const Task& task) {
  TaskFailure failure;
  const int code = shop_.backend->Start(task, {}, line_.get(), &failure);
  line_busy_ = true;
  if (code != 0) [[unlikely]]
    Report(task, executed_ + ahead_ + 1, code, failure.text);
}

// The head was started ahead, and the device is done with it. Others may have followed it, so it is not dropped.
bool LaneQueue::EndStarted() {
  const Task& task = Head();
  if (ahead_ == 0 || task.kind == TaskKind::kAwait) return false;
  if (task.kind == TaskKind::kMark) task.mark.marker->Reached();
  Advance();
  return true;
}

void LaneQueue::PassHead() {
  if (ahead_ != 0) [[unlikely]] {
    if (Head().kind == TaskKind::kMark) points_.pop_front();
    --ahead_;
  }
  ++executed_;
}

void LaneQueue::Foretold() {
  place_.store(nullptr, std::memory_order_release);
  GoOnWithHead();
}

}  // namespace ropeway::sched
