// A stream that is aborted while bytes of its transfer are on their way.
#pragma once

#include <gtest/gtest.h>

#include <thread>

#include "acl/acl.h"
#include "ropeway/ropeway.h"

namespace ropeway_test {

// How the host sees device memory that somebody else writes.
inline volatile uint8_t* ViewOf(void* memory, size_t size) {
  void* view = nullptr;
  EXPECT_EQ(ropewayHostView(memory, size, &view), ACL_SUCCESS);
  return static_cast<volatile uint8_t*>(view);
}

// Looks at a byte that somebody else writes at this moment, which is a race on purpose.
__attribute__((no_sanitize("thread"), noinline)) inline bool IsZero(const volatile uint8_t* byte) { return *byte == 0; }

// Lets the stream run until the first byte at `there`, 0 before, has come; then aborts it.
inline void AbortInTheMiddle(aclrtStream stream, volatile uint8_t* there) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  // Some schedules begin nothing that nobody waits for.
  std::thread waiter([&] {
    EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    aclrtSynchronizeStream(stream);
  });
  while (IsZero(there)) std::this_thread::yield();
  EXPECT_EQ(aclrtStreamAbort(stream), ACL_SUCCESS);
  waiter.join();
}

}  // namespace ropeway_test
