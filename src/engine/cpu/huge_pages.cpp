#include "engine/cpu/huge_pages.h"

#include <sys/mman.h>

#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "base/own_thread.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

namespace ropeway::cpu {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
// The first look comes soon; each later one when twice the time has passed.
constexpr std::chrono::milliseconds kFirstPause{100};
constexpr int kRounds = 9;

bool Collapse(char* page) { return madvise(page, kHugePage, MADV_COLLAPSE) == 0; }

}  // namespace

HugePages::~HugePages() {
  LockGuard lock(mutex_);
  stop_ = true;
  changed_.notify_all();
  while (running_) changed_.wait(mutex_);
}

void HugePages::Want(void* memory, size_t size) {
  madvise(memory, size, MADV_HUGEPAGE);
  LockGuard lock(mutex_);
  try {
    wanted_[static_cast<char*>(memory)] = {size, std::vector<bool>(size / kHugePage)};
    renewed_ = true;
    changed_.notify_all();
    if (!running_) std::thread(&HugePages::Run, this).detach();
    running_ = true;
  } catch (const std::exception&) {
    // Neither memory nor a thread: the system makes the pages huge when it gets to it.
  }
}

void HugePages::Forget(void* memory) {
  LockGuard lock(mutex_);
  while (busy_ == memory) changed_.wait(mutex_);
  wanted_.erase(static_cast<char*>(memory));
}

void HugePages::Run() {
  const OwnThread self("rw-huge-pages");
  LockGuard lock(mutex_);
  auto pause = kFirstPause;
  for (int round = 0; round < kRounds && !stop_; ++round, pause *= 2) {
    changed_.wait_until(mutex_, std::chrono::steady_clock::now() + pause, [this]() RW_REQUIRES(mutex_) { return stop_; });
    if (std::exchange(renewed_, false)) {
      round = 0;
      pause = kFirstPause;
    }
    if (Round()) break;
  }
  wanted_.clear();
  running_ = false;  // the last word, together with the lock
  changed_.notify_all();
}

bool HugePages::Round() {
  bool all_done = true;
  char* at = nullptr;
  for (auto it = wanted_.begin(); it != wanted_.end() && !stop_; it = wanted_.upper_bound(at)) {
    at = it->first;
    std::vector<bool> done = std::move(it->second.done);
    busy_ = at;
    size_t left = 0;
    {
      const LockGap gap(mutex_);
      for (size_t i = 0; i < done.size(); ++i) {
        if (!done[i]) done[i] = Collapse(at + i * kHugePage);
        left += !done[i];
      }
    }
    busy_ = nullptr;
    changed_.notify_all();
    // While the range was busy nobody could forget it.
    if (left == 0) {
      wanted_.erase(at);
    } else {
      it->second.done = std::move(done);
      all_done = false;
    }
  }
  return all_done;
}

}  // namespace ropeway::cpu
