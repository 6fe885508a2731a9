// The process-wide limit of stream-side waits: aclrtSetOpWaitTimeout sets it, event and notify waits that name no limit
// of their own use it.
#pragma once

#include <atomic>
#include <cstdint>

namespace ropeway::api {

inline std::atomic<int64_t> g_op_wait_timeout_ns{0};  // 0: none

inline int64_t OpWaitTimeoutNs() { return g_op_wait_timeout_ns.load(std::memory_order_relaxed); }

}  // namespace ropeway::api
