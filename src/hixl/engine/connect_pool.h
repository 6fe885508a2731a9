// Connects and disconnects that nobody waits for: a few threads, started when they are needed, which take one task of a peer at a time, in
// the order in which they were asked for.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "hixl/engine/face.h"

namespace ropeway::transfer {

class ConnectPool {
 public:
  using State = ::hixl::AsyncConnectStatus;
  // Whether the peer is connected behind it.
  using Work = std::function<bool()>;

  ConnectPool(unsigned threads, unsigned capacity) : threads_(threads), capacity_(capacity) {}
  ~ConnectPool() { Stop(); }
  // RESOURCE_EXHAUSTED: too many wait already.
  Status Add(const std::string& peer, bool connect, Work work);
  State Of(const std::string& peer) const;
  ConnectStates All() const;
  // Waits for what runs, and forgets what waits.
  void Stop();

 private:
  struct Task {
    uint64_t number;
    std::string peer;
    bool connect;
    Work work;
  };
  struct Peer {
    State state;
    uint64_t task;  // the last one that was asked for: what an older one ends with counts no more
  };
  void Run();
  bool TakeTask(Task* task) RW_REQUIRES(mutex_);
  void Set(const Task& task, State state) RW_REQUIRES(mutex_);

  const unsigned threads_;
  const unsigned capacity_;
  mutable Mutex mutex_{LockRank::kHixlPool};
  Condition changed_;
  std::vector<std::thread> workers_ RW_GUARDED_BY(mutex_);
  std::deque<Task> waiting_ RW_GUARDED_BY(mutex_);
  std::set<std::string> busy_ RW_GUARDED_BY(mutex_);
  std::map<std::string, Peer> peers_ RW_GUARDED_BY(mutex_);
  uint64_t last_task_ RW_GUARDED_BY(mutex_) = 0;
  bool stopping_ RW_GUARDED_BY(mutex_) = false;
};

}  // namespace ropeway::transfer
