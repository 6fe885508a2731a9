#include "hixl/engine/connect_pool.h"

#include <algorithm>

#include "base/own_thread.h"
#include "hixl/engine/result.h"

namespace ropeway::transfer {

Status ConnectPool::Add(const std::string& peer, bool connect, Work work) {
  LockGuard lock(mutex_);
  if (waiting_.size() >= capacity_)
    return Fail(kExhausted, "%u connects and disconnects wait already (connect_pool.task_queue_capacity)", capacity_);
  waiting_.push_back({++last_task_, peer, connect, std::move(work)});
  peers_[peer] = {connect ? State::CONNECT_PENDING : State::DISCONNECT_PENDING, last_task_};
  if (workers_.size() < threads_) workers_.emplace_back([this] { Run(); });
  changed_.notify_one();
  return Ok();
}

bool ConnectPool::TakeTask(Task* task) {
  const auto next =
      std::find_if(waiting_.begin(), waiting_.end(), [this](const Task& one) RW_REQUIRES(mutex_) { return busy_.count(one.peer) == 0; });
  if (next == waiting_.end()) return false;
  *task = std::move(*next);
  waiting_.erase(next);
  busy_.insert(task->peer);
  return true;
}

void ConnectPool::Set(const Task& task, State state) {
  const auto found = peers_.find(task.peer);
  if (found == peers_.end() || found->second.task != task.number) return;
  found->second.state = state;
  if (state == State::NOT_CONNECT) peers_.erase(found);
}

void ConnectPool::Run() {
  const OwnThread self("rw-hixl-connect");
  LockGuard lock(mutex_);
  while (!stopping_) {
    Task task;
    if (!TakeTask(&task)) {
      changed_.wait(mutex_);
      continue;
    }
    Set(task, task.connect ? State::CONNECTING : State::DISCONNECTING);
    lock.unlock();
    const bool connected = task.work();
    task.work = nullptr;
    lock.lock();
    if (task.connect)
      Set(task, connected ? State::CONNECTED : State::CONNECT_FAILED);
    else
      Set(task, State::NOT_CONNECT);
    busy_.erase(task.peer);
    changed_.notify_all();
  }
}

ConnectPool::State ConnectPool::Of(const std::string& peer) const {
  LockGuard lock(mutex_);
  const auto found = peers_.find(peer);
  return found == peers_.end() ? State::NOT_CONNECT : found->second.state;
}

ConnectStates ConnectPool::All() const {
  LockGuard lock(mutex_);
  ConnectStates states;
  for (const auto& [peer, known] : peers_) states.emplace_back(peer, known.state);
  return states;
}

void ConnectPool::Stop() {
  std::vector<std::thread> workers;
  {
    LockGuard lock(mutex_);
    stopping_ = true;
    waiting_.clear();
    workers.swap(workers_);
    changed_.notify_all();
  }
  for (std::thread& worker : workers) worker.join();
}

}  // namespace ropeway::transfer
