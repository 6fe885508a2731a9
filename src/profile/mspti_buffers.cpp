#include "profile/mspti_buffers.h"

#include <cstring>
#include <utility>

#include "base/race_detector.h"

namespace ropeway {
namespace {

thread_local int t_giving_back = 0;  // this thread is in a function of the program that takes a buffer

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
  }
  if (calls.request == nullptr) return false;
  Buffer buffer{nullptr, 0, 0};
  {
    const race_detector::UsersCode users;
    calls.request(&buffer.begin, &buffer.size, &buffer.most);
  }
  if (buffer.begin == nullptr) return false;
  const bool useful = buffer.HasRoom(MsptiRecord::kLargest);
  LockGuard lock(mutex_);
  (useful ? spare_ : full_).push_back(buffer);
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
    ++giving_back_;
  }
  ++t_giving_back;
  for (const Buffer& buffer : ready) {
    if (complete == nullptr) continue;
    const race_detector::UsersCode users;
    complete(buffer.begin, buffer.size, buffer.used);
  }
  --t_giving_back;
  {
    LockGuard lock(mutex_);
    --giving_back_;
  }
  given_back_.notify_all();
}

void MsptiBuffers::GiveBackAll() {
  GiveBack(true);
  if (t_giving_back > 0) return;  // it would wait for itself
  LockGuard lock(mutex_);
  while (giving_back_ > 0) given_back_.wait(mutex_);
}

}  // namespace ropeway
