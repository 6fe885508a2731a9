// Brings the CPU engine to the state in which submitting is measured: a lane awake, with nothing left to do.
#pragma once

#include <sched.h>

#include <chrono>
#include <cstddef>
#include <stdexcept>

#include "bench/cold_pool.h"
#include "cli/acl_objects.h"

namespace ropeway::bench {

constexpr size_t kWakeBytes = 2 << 20;  // large enough that a lane runs the copy, not the submitter

// Uses the first kWakeBytes of the pool. Asks instead of synchronising: a thread that synchronises would run the copy
// itself and let the lanes sleep. A schedule that runs tasks late may never answer, hence the limit.
inline void WakeLane(const ColdPool& pool, const cli::Stream& stream) {
  RW_ACL(
      aclrtMemcpyAsync(pool.device(0), kWakeBytes, pool.host(0), kWakeBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) {
    if (std::chrono::steady_clock::now() > give_up) {
      throw std::runtime_error("no lane ran a copy within 5 s: measure with ROPEWAY_SCHEDULE=fast");
    }
    sched_yield();
    RW_ACL(aclrtStreamQuery(stream.get(), &status));
  }
}

}  // namespace ropeway::bench
