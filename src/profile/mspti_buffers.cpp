#include "profile/mspti_buffers.h"

#include <cstring>
#include <utility>

#include "base/race_detector.h"

namespace ropeway {
namespace {

thread_local int t_in_program = 0;  // this thread is in a function of the program that gives or takes a buffer

}  // namespace

void MsptiBuffers::Register(const MsptiBufferCalls& calls) {
  LockGuard lock(mutex_);
  calls_ = calls;
}

void MsptiBuffers::Put(const MsptiRecord& record) {
  std::memcpy(filling_->begin + filling_->used, record.bytes, record.size);
  filling_->used += record.size;
  ++filling_->records;
}

bool MsptiBuffers::Fill() {
  const std::vector<Activity> more = queue_.TakeAll();
  unwritten_.insert(unwritten_.end(), more.begin(), more.end());
  for (; !unwritten_.empty(); unwritten_.pop_front()) {
    const MsptiRecord record = MakeMsptiRecord(unwritten_.front());
    if (filling_ && (filling_->NearlyFull() || !filling_->HasRoom(record.size))) full_.push_back(*std::exchange(filling_, std::nullopt));
    if (!filling_) {
      if (spare_.empty()) return false;
      filling_ = spare_.back();
      spare_.pop_back();
    }
    Put(record);
  }
  if (filling_ && filling_->NearlyFull()) full_.push_back(*std::exchange(filling_, std::nullopt));
  return true;
}

bool MsptiBuffers::Request() {
  MsptiBufferCalls calls;
  {
    LockGuard lock(mutex_);
    calls = calls_;
    if (calls.request == nullptr) return false;
    if (unwritten_.empty() || !spare_.empty()) return true;  // another thread was faster
    ++under_way_;
  }
  Buffer buffer{nullptr, 0, 0};
  ++t_in_program;
  {
    const race_detector::UsersCode users;
    calls.request(&buffer.begin, &buffer.size, &buffer.most);
  }
  --t_in_program;
  const bool useful = buffer.begin != nullptr && buffer.HasRoom(MsptiRecord::kLargest);
  {
    LockGuard lock(mutex_);
    if (buffer.begin != nullptr) (useful ? spare_ : full_).push_back(buffer);
    --under_way_;
  }
  arrived_.notify_all();
  return useful;
}

void MsptiBuffers::Write() {
  for (bool all = false; !all;) {
    {
      LockGuard lock(mutex_);
      all = Fill();
    }
    GiveBack(false);
    if (all || Request()) continue;
    LockGuard lock(mutex_);
    unwritten_.clear();
    break;
  }
  GiveBack(false);
}

void MsptiBuffers::GiveBack(bool all) {
  std::vector<Buffer> ready;
  msptiBuffersCallbackCompleteFunc complete;
  {
    LockGuard lock(mutex_);
    ready = std::exchange(full_, {});
    if (all && filling_) ready.push_back(*std::exchange(filling_, std::nullopt));
    if (all) {
      ready.insert(ready.end(), spare_.begin(), spare_.end());
      spare_.clear();
    }
    if (ready.empty()) return;
    complete = calls_.complete;
    ++under_way_;
  }
  ++t_in_program;
  for (const Buffer& buffer : ready) {
    if (complete == nullptr) continue;
    const race_detector::UsersCode users;
    complete(buffer.begin, buffer.size, buffer.used);
  }
  --t_in_program;
  {
    LockGuard lock(mutex_);
    --under_way_;
  }
  arrived_.notify_all();
}

// What another thread has asked for may come when there is nothing left to write.
void MsptiBuffers::GiveBackAll() {
  AwaitOthers();
  GiveBack(true);
  AwaitOthers();
}

void MsptiBuffers::AwaitOthers() {
  if (t_in_program > 0) return;  // it would wait for itself
  LockGuard lock(mutex_);
  while (under_way_ > 0) arrived_.wait(mutex_);
}

}  // namespace ropeway
