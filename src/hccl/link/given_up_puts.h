// Puts that were given up and are not over: bytes of them may be on their way over any connection, and must not come later than those of a
// put that is asked for now. Who takes memory away tells, so nobody has to look for it. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <utility>

#include "base/mutex.h"
#include "hccl/transport/window.h"

namespace ropeway::comm {

class GivenUpPuts {
 public:
  // While it lives, the end of the lease gives the put up.
  class Watch final : public Lease::Reader {
   public:
    Watch(GivenUpPuts& puts, uint64_t put, std::shared_ptr<Lease> lease) : puts_(puts), put_(put), lease_(std::move(lease)) {
      if (!lease_->Add(this)) puts_.Add(put_);
    }
    ~Watch() override { lease_->Remove(this); }
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
    void Rescue() override { puts_.Add(put_); }

   private:
    GivenUpPuts& puts_;
    const uint64_t put_;
    const std::shared_ptr<Lease> lease_;
  };

  void Add(uint64_t put) {
    LockGuard lock(mutex_);
    puts_.insert(put);
  }
  // Nothing of it comes any more.
  void Over(uint64_t put) {
    LockGuard lock(mutex_);
    puts_.erase(put);
  }
  // The earliest; beyond all numbers when there is none.
  uint64_t First() const {
    LockGuard lock(mutex_);
    return puts_.empty() ? UINT64_MAX : *puts_.begin();
  }

 private:
  mutable Mutex mutex_{LockRank::kHcclGivenUp};
  std::set<uint64_t> puts_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway::comm
