// Waiting without helping, and with it the state in which submitting is measured: a lane awake, with nothing left to
// do.
#pragma once

#include <sched.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>

#include "cli/acl_objects.h"
#include "cli/cold_pool.h"

namespace ropeway::cli {

constexpr size_t kWakeBytes = 2 << 20;  // large enough that a lane runs the copy, not the submitter

// Asks instead of synchronising: a thread that synchronises would run the stream itself and let the lanes sleep. A
// schedule that runs tasks late may never answer, hence the limit.
inline void AskUntilComplete(const Stream& stream) {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) {
    if (std::chrono::steady_clock::now() > give_up) {
      throw std::runtime_error("no lane ran the stream within 5 s: measure with ROPEWAY_SCHEDULE=fast");
    }
    sched_yield();
    RW_ACL(aclrtStreamQuery(stream.get(), &status));
  }
}

// Sleeps until the stream came this far, and says when that was: neither a helping hand nor a core is taken from the
// lanes.
inline std::chrono::steady_clock::time_point SleepUntilComplete(const Stream& stream) {
  struct Arrival {
    std::chrono::steady_clock::time_point when;
    std::atomic<bool> complete{false};
  } arrival;
  auto arrive = [](void* argument) {
    auto* there = static_cast<Arrival*>(argument);
    there->when = std::chrono::steady_clock::now();
    there->complete.store(true);
    there->complete.notify_one();
  };
  RW_ACL(aclrtLaunchHostFunc(stream.get(), arrive, &arrival));
  arrival.complete.wait(false);
  stream.Synchronize();  // the function may still be at work on `arrival`
  return arrival.when;
}

// Uses the first kWakeBytes of the pool.
inline void WakeLane(const ColdPool& pool, const Stream& stream) {
  RW_ACL(aclrtMemcpyAsync(pool.device(0), kWakeBytes, pool.host(0), kWakeBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
  AskUntilComplete(stream);
}

}  // namespace ropeway::cli
