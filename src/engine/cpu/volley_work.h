// The tasks of a volley: which of those in front of us they are, and how they move.
//
// The owner of the queue leads. It claims the bytes of task after task, cuts them into portions of about the same size, deals these out in
// order, carries some of them itself, and says which tasks are complete as the first portions are. Guests only carry portions.
//
// Who has what: a portion belongs to the leader until ready_ has passed it, then to whoever got its number from next_, and again to the
// leader when it is `done`. A guest's number may be ahead of ready_: it waits, until the portion is there or the volley is closed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "engine/backend.h"
#include "engine/cpu/address_space.h"
#include "engine/cpu/byte_claims.h"
#include "engine/cpu/kernels/fill.h"
#include "engine/cpu/kernels/kernels.h"
#include "engine/cpu/portion_work.h"
#include "engine/cpu/watched_chunks.h"
#include "engine/late_copy.h"
#include "engine/task_ranges.h"

namespace ropeway::cpu {

class VolleyWork final : public sched::SharedWork {
 public:
  // `hands`: that carry portions. What is under way is bounded by their number.
  VolleyWork(VolleyFeed& feed, WorkSharer& sharer, size_t hands, ByteClaims& claims, const AddressSpace& addresses,
             const WatchedChunks& watched, const CopyKernels& kernels, const AddressJudge* judge)
      : run_(feed.run()), feed_(feed), sharer_(sharer), under_way_(std::min(kRing, kPortionsOfAHand * hands)), claims_(claims),
        addresses_(addresses), watched_(watched), kernels_(kernels), judge_(judge), apart_(feed.KnownApart()),
        ways_(KnowsApart() ? feed.Ways() : nullptr), way_(ways_ != nullptr ? ways_->Choose() : VolleyFeed::kAroundCache),
        first_bytes_(SizeOfFirst()), portion_(std::clamp(first_bytes_, kSmallest, kLargest)), count_(feed.Count()) {
    claims_.Begin(first_bytes_);
  }

  // Takes the first tasks; false when they are not enough to be shared, and nothing was begun.
  bool Begin(size_t share_from) {
    const auto enough = [&] { return claimed_bytes_ >= share_from && claimed_ > 1; };
    while (!enough() && Grow(kRing)) {
    }
    return enough();
  }

  void Lead(const std::atomic<bool>& stop) override {
    CallForHelp();
    for (int idle = 0; !stop.load(std::memory_order_relaxed);) {
      if (Retire() || Grow(under_way_)) continue;
      // What is left when everything else is done does not wait for more to come: a volley that keeps nobody busy is over.
      if (done_ == dealt_) {
        rounds_to_wait_ = 0;
        if (Grow(under_way_)) continue;
        closing_ = true;
      }
      if (closing_ && pending_bytes_ != 0) Deal();
      if (done_ == dealt_) break;
      if (CarryNext()) {
        idle = rounds_to_wait_ = 0;
      } else {
        RelaxOrYield(idle++);
      }
    }
    closed_.store(true, std::memory_order_release);
  }
  // Complete tasks, once Lead has returned.
  size_t completed() const { return completed_; }
  // Also then: tells those who asked which tasks touch nothing of each other, and how long all of those took that are known.
  void TellFound(int64_t took_ns) {
    if (apart_ == VolleyFeed::kAsk && (refused_ || claimed_ == run_.count())) feed_.FoundApart(claimed_);
    if (ways_ != nullptr && completed_ == apart_) ways_->Took(way_, took_ns);
  }

  bool RunPortion() override {
    const uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
    for (int spins = 0; number >= ready_.load(std::memory_order_acquire); ++spins) {
      if (closed_.load(std::memory_order_acquire) && number >= ready_.load(std::memory_order_acquire)) return false;
      RelaxOrYield(spins);
    }
    Carry(portions_[number % kRing]);
    return true;
  }
  bool AllTaken() const override {
    return closed_.load(std::memory_order_acquire) && next_.load(std::memory_order_relaxed) >= ready_.load(std::memory_order_relaxed);
  }
  size_t Portions() const override { return first_bytes_ * count_ / portion_ + 1; }

 private:
  static constexpr size_t kRing = 128;
  // With more of them the tasks and claims of a portion have left the cache before it is complete: 64 of two hands cost 6 %.
  static constexpr size_t kPortionsOfAHand = 8;
  static constexpr size_t kSlotsAhead = 16;
  static constexpr size_t kDescriptorsAhead = 8;
  static constexpr size_t kCut = 64;  // whole words, for those who set them, and whole cache lines
  static constexpr size_t kSmallest = size_t{64} << 10, kLargest = size_t{256} << 10;
  static_assert((kRing + 1) * (kLargest + kLargest / 2) / Traits::kSmallestStreamed <= kMostBegun, "what is claimed and not complete");

  struct alignas(64) Portion {
    PortionCursor from, to;
    std::atomic<bool> done{false};
  };

  // --- Leading ---
  // Claims tasks until a portion is full, and deals it out; false: none is, or `most` are under way.
  bool Grow(size_t most) {
    if (closing_ || dealt_ - done_ >= most) return false;
    while (pending_bytes_ < portion_) {
      if (end_.offset == 0 && !Claim()) return false;
      AddToPending();
    }
    Deal();
    return true;
  }
  // The rest of the task at the end, or as much as makes the portion full. A tail that is not worth a portion of its own goes along.
  void AddToPending() {
    const size_t room = portion_ - pending_bytes_;
    const size_t left = SizeOf(end_.item) - end_.offset;
    const bool whole = left <= room + portion_ / 2;
    const size_t taken = whole ? left : (room + kCut - 1) / kCut * kCut;
    pending_bytes_ += taken;
    end_ = whole ? PortionCursor{end_.item + 1, 0} : PortionCursor{end_.item, end_.offset + taken};
  }
  void Deal() {
    Portion& portion = portions_[dealt_ % kRing];
    portion.from = begin_;
    portion.to = begin_ = end_;
    portion.done.store(false, std::memory_order_relaxed);
    ready_.store(++dealt_, std::memory_order_release);
    pending_bytes_ = 0;
    claims_.NextPortion();
  }
  // The task at the end becomes one of the volley. False: there is none yet, or it has to wait for the end of the volley.
  bool Claim() {
    if (claimed_ == count_ && !LookForMore()) return false;
    // Whoever has just submitted a task has it in his cache: ask some tasks ahead.
    if (claimed_ + kSlotsAhead < count_) __builtin_prefetch(&run_[claimed_ + kSlotsAhead]);
    if (claimed_ + kDescriptorsAhead < count_) ExpectLate(run_[claimed_ + kDescriptorsAhead]);
    const Task& task = run_[claimed_];
    refused_ = closing_ = !(KnowsApart() ? claimed_ < apart_ && IsPrivate(task) : Fits(task)) || !feed_.Begins(claimed_);
    if (closing_) return false;
    claimed_bytes_ += SizeOf(claimed_++);
    return true;
  }
  // Every look takes the submitter's line away from him: where there was little, some time goes by before the next.
  bool LookForMore() {
    constexpr size_t kLittle = 16;
    constexpr int kRoundsBetween = 64;
    if (rounds_to_wait_ > 0) {
      --rounds_to_wait_;
      return false;
    }
    count_ = std::max(feed_.Count(), claimed_);
    if (count_ - claimed_ < kLittle) rounds_to_wait_ = kRoundsBetween;
    CallForHelp();
    return count_ > claimed_;
  }
  // Once, as soon as what is in front of us, dealt out or not claimed yet, is worth waking a lane: a long loop begins with a few copies,
  // and is one volley.
  void CallForHelp() {
    if (!called_) called_ = sharer_.CallForHelp((dealt_ - done_) * portion_ + (count_ - claimed_) * first_bytes_);
  }
  bool KnowsApart() const { return apart_ != 0 && apart_ != VolleyFeed::kAsk; }
  // Of what fitted before: somebody may look at the memory by now.
  bool IsPrivate(const Task& task) const {
    if (!watched_.Private(task.kind == TaskKind::kCopy ? task.copy.dst : task.set.dst, TaskBytes(task))) return false;
    return task.kind != TaskKind::kCopy || addresses_.IsPinned(task.copy.src) || watched_.Private(task.copy.src, task.copy.size);
  }
  bool Fits(const Task& task) {
    if (task.flags != 0) return false;
    if (IsLate(task) && !Resolve(task)) return false;
    claims_.NextTask(SizeOf(claimed_) / portion_ + 1);
    switch (task.kind) {
      case TaskKind::kCopy:
      case TaskKind::kCopyByDesc:
      case TaskKind::kCopyByCells: {
        const CopyDescriptor copy = CopyOf(claimed_);
        return Writes(copy.dst, copy.size) && Reads(copy.src, copy.size);
      }
      case TaskKind::kSet:
      case TaskKind::kSetWords: return Writes(task.set.dst, TaskBytes(task));
      default: return false;
    }
  }
  // What it will say lies in the cache of who wrote it.
  void ExpectLate(const Task& task) const {
    if (!IsLate(task)) [[likely]]
      return;
    ForEachRange(task, [this](const TaskRange& range) {
      __builtin_prefetch(addresses_.View(range.address));
      return true;
    });
  }
  // What the next task says it copies, if that is settled: nobody who is not done yet writes where it says so. What would fail does so in
  // its turn; and where the same tasks come again they may say something else.
  bool Resolve(const Task& task) {
    if (apart_ != 0 || (late_ == nullptr && (late_ = LateCopiesOfThisThread()) == nullptr)) return false;
    claims_.NextTask(1);
    const bool settled = ForEachRange(task, [this](const TaskRange& range) { return Reads(range.address, range.extent); });
    TaskFailure unsaid;
    return settled && ResolveLateCopy(task, *judge_, Reader(), &late_[claimed_ % kMostBegun], &unsaid) == 0;
  }
  bool Writes(const void* dst, size_t size) {
    return size >= Traits::kSmallestStreamed && watched_.Private(dst, size) && claims_.Write(dst, size);
  }
  // Behind Writes: a copy that overlaps itself reads what it writes. Pinned memory is never written here.
  bool Reads(const void* src, size_t size) { return addresses_.IsPinned(src) || (watched_.Private(src, size) && claims_.Read(src, size)); }
  // Says which tasks are complete now; false when none has become so.
  bool Retire() {
    uint64_t complete = done_;
    while (complete < dealt_ && portions_[complete % kRing].done.load(std::memory_order_acquire)) ++complete;
    if (complete == done_) return false;
    if (apart_ != VolleyFeed::kAsk) claims_.Complete(complete - done_);  // else all are held against all
    done_ = complete;
    const size_t before = std::exchange(completed_, portions_[(complete - 1) % kRing].to.item);
    if (completed_ != before) feed_.Completed(completed_);
    return true;
  }
  bool CarryNext() {
    uint64_t number = next_.load(std::memory_order_relaxed);
    if (number >= dealt_) return false;
    if (next_.compare_exchange_strong(number, number + 1, std::memory_order_relaxed)) Carry(portions_[number % kRing]);
    return true;
  }

  // --- Carrying ---
  void Carry(Portion& portion) const {
    Move(portion.from, portion.to);
    portion.done.store(true, std::memory_order_release);
  }
  ReadDeviceBytes Reader() const {
    return [this](void* out, const void* address, size_t size) { std::memcpy(out, addresses_.View(address), size); };
  }
  // It is the head's turn: its descriptor may be read.
  size_t SizeOfFirst() const {
    const Task& task = run_[0];
    if (task.kind != TaskKind::kCopyByDesc) return TaskBytes(task);
    char bytes[descriptor_layout::kLargest];
    Reader()(bytes, task.by_desc.descriptor, task.by_desc.size);
    return ReadDescriptor(bytes, task.by_desc.size).size;
  }
  // Room for kMostBegun. Null: there is no memory for them.
  static CopyDescriptor* LateCopiesOfThisThread() {
    static thread_local std::unique_ptr<CopyDescriptor[]> copies(new (std::nothrow) CopyDescriptor[kMostBegun]);
    return copies.get();
  }
  static bool IsLate(const Task& task) { return task.kind == TaskKind::kCopyByDesc || task.kind == TaskKind::kCopyByCells; }
  static bool IsCopy(const Task& task) { return task.kind == TaskKind::kCopy || IsLate(task); }
  CopyDescriptor CopyOf(size_t i) const {
    const Task& task = run_[i];
    return task.kind == TaskKind::kCopy ? CopyDescriptor{task.copy.dst, task.copy.src, task.copy.size} : late_[i % kMostBegun];
  }
  size_t SizeOf(size_t i) const { return IsCopy(run_[i]) ? CopyOf(i).size : TaskBytes(run_[i]); }
  // Copies that continue each other on both sides are moved as one, as the pieces of a batch are.
  void Move(PortionCursor from, PortionCursor to) const {
    const size_t last = to.offset > 0 ? to.item : to.item - 1;
    for (size_t i = from.item; i <= last; ++i) __builtin_prefetch(&run_[i]);  // they are in the leader's cache
    size_t begin = from.offset;
    for (size_t i = from.item; i <= last; ++i, begin = 0) {
      const size_t first = i;
      size_t bytes = EndOf(i, to) - begin;
      for (; i < last && Continues(i); ++i) bytes += EndOf(i + 1, to);
      if (i < last && IsCopy(run_[i + 1])) {
        const CopyDescriptor next = CopyOf(i + 1);
        kernels_.Prefetch(addresses_.View(next.src), next.size);
      }
      MoveBytes(first, begin, bytes);
    }
  }
  size_t EndOf(size_t i, PortionCursor to) const { return i < to.item ? SizeOf(i) : to.offset; }
  bool Continues(size_t i) const {
    if (!IsCopy(run_[i]) || !IsCopy(run_[i + 1])) return false;
    const CopyDescriptor copy = CopyOf(i), next = CopyOf(i + 1);
    return static_cast<char*>(copy.dst) + copy.size == next.dst && static_cast<const char*>(copy.src) + copy.size == next.src;
  }
  // As a rule all of it is more than a cache should be filled with.
  void MoveBytes(size_t i, size_t begin, size_t bytes) const {
    const Task& task = run_[i];
    if (IsCopy(task)) {
      const CopyDescriptor copy = CopyOf(i);
      if (way_ == VolleyFeed::kThroughCache)
        kernels_.Cached(At(copy.dst, begin), At(copy.src, begin), bytes);
      else
        kernels_.Stream(At(copy.dst, begin), At(copy.src, begin), bytes);
    } else if (task.kind == TaskKind::kSetWords) {
      FillWords(At(task.set.dst, begin), task.set.value, bytes / sizeof(uint32_t));
    } else {
      kernels_.StreamSet(At(task.set.dst, begin), static_cast<int>(task.set.value), bytes);
    }
  }
  char* At(const void* address, size_t offset) const { return static_cast<char*>(addresses_.View(address)) + offset; }

  // Everybody reads these all the time, so nothing that is written lies on their cache lines: a guest looks at them for every task.
  alignas(64) const TaskRun run_;
  VolleyFeed& feed_;
  WorkSharer& sharer_;
  const size_t under_way_;  // portions, at most
  ByteClaims& claims_;
  const AddressSpace& addresses_;
  const WatchedChunks& watched_;
  const CopyKernels& kernels_;
  const AddressJudge* const judge_;
  const size_t apart_;  // VolleyFeed::KnownApart
  FasterWay* const ways_;
  const FasterWay::Way way_;
  const size_t first_bytes_;
  const size_t portion_;
  CopyDescriptor* late_ = nullptr;  // what the late copies that have begun say, by their place; set with the first of them

  // The leader's.
  alignas(64) size_t count_;  // of tasks that are there, as last told
  size_t claimed_ = 0;
  size_t claimed_bytes_ = 0;
  PortionCursor begin_, end_;  // of the portion that is not dealt out yet
  size_t pending_bytes_ = 0;   // in it
  uint64_t dealt_ = 0;
  uint64_t done_ = 0;
  size_t completed_ = 0;
  int rounds_to_wait_ = 0;  // before the next look for more
  bool closing_ = false;    // no task is claimed any more
  bool refused_ = false;    // because the next touches others, or is of another kind
  bool called_ = false;     // for help

  alignas(64) std::atomic<uint64_t> ready_{0};
  std::atomic<bool> closed_{false};
  alignas(64) std::atomic<uint64_t> next_{0};
  Portion portions_[kRing];
};

}  // namespace ropeway::cpu
