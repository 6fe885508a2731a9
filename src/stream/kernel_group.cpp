#include "stream/kernel_group.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

namespace ropeway {

// What the graph's task has. Replays of one graph run one after the other, so what it runs now stays until the run is judged.
class KernelGroup::Member final : public KernelCall {
 public:
  Member(std::shared_ptr<KernelGroup> group, size_t index) : group_(std::move(group)), index_(index) {}

  void Prepare(uint64_t replay, uint64_t as_of) override {
    now_ = group_->Of(replay, index_);
    now_->Prepare(replay, as_of);
  }
  void Run() override { now_->Run(); }
  int Failed(TaskFailure* failure) const override { return now_->Failed(failure); }

 private:
  const std::shared_ptr<KernelGroup> group_;
  const size_t index_;
  std::shared_ptr<KernelCall> now_;
};

// Has all the memory that it needs when its time comes. A stream that has been captured or bound meanwhile keeps it, and comes to it with
// every replay: the first one counts.
class KernelGroup::Update final : public Marker {
 public:
  Update(std::shared_ptr<KernelGroup> group, Set set, uint64_t over) : group_(std::move(group)), over_(over) {
    set_.push_back(std::move(set));
  }

  void Reached() override {
    std::list<Set> past;  // ends outside of the lock
    {
      LockGuard lock(group_->mutex_);
      std::list<Set>& sets = group_->sets_;
      sets.splice(sets.end(), set_);
      const auto last = std::find_if(sets.rbegin(), sets.rend(), [this](const Set& set) { return set.behind <= over_; });
      if (last != sets.rend()) past.splice(past.end(), sets, sets.begin(), std::prev(last.base()));
    }
    Dropped();
  }
  void Dropped() override {
    if (tasks_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void Repeat() override { tasks_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<int> tasks_{1};
  const std::shared_ptr<KernelGroup> group_;
  const uint64_t over_;
  std::list<Set> set_;
};

std::unique_ptr<KernelCall> KernelGroup::Add(const std::shared_ptr<KernelGroup>& group, std::unique_ptr<KernelCall>* kernel) {
  LockGuard lock(group->mutex_);
  Kernels& kernels = group->sets_.front().kernels;
  auto member = std::make_unique<Member>(group, kernels.size());
  kernels.emplace_back();
  try {
    kernels.back() = std::move(*kernel);
  } catch (...) {
    kernels.pop_back();
    throw;
  }
  return member;
}

size_t KernelGroup::size() const {
  LockGuard lock(mutex_);
  return sets_.front().kernels.size();  // all have as many
}

std::shared_ptr<KernelCall> KernelGroup::Of(uint64_t replay, size_t index) const {
  LockGuard lock(mutex_);
  const auto at = std::find_if(sets_.rbegin(), sets_.rend(), [replay](const Set& set) { return set.behind < replay; });
  return (at != sets_.rend() ? *at : sets_.front()).kernels[index];
}

Marker* KernelGroup::Replacement(std::shared_ptr<KernelGroup> group, Set set, uint64_t over) {
  return new Update(std::move(group), std::move(set), over);
}

KernelGroup::Kernels GroupUpdate::Take() {
  KernelGroup::Kernels taken;
  taken.reserve(kernels.size());
  for (KernelCall*& kernel : kernels) taken.emplace_back(std::exchange(kernel, nullptr));
  kernels.clear();
  return taken;
}

}  // namespace ropeway
