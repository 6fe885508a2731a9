// A stream that is aborted while bytes of its transfer are on their way.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "ropeway/ropeway.h"

namespace ropeway_test {

// Looks at a byte that somebody else writes at this moment, which is a race on purpose.
__attribute__((no_sanitize("thread"), noinline)) inline bool IsZero(const volatile uint8_t* byte) { return *byte == 0; }

// Device memory that somebody else writes, looked at from any thread: by copies, which every engine has.
class SeenMemory {
 public:
  SeenMemory(void* memory, size_t size) : memory_(memory), size_(size) {
    EXPECT_EQ(aclrtGetCurrentContext(&context_), ACL_SUCCESS);
    ropewayHostView(memory, size, &view_);  // null where there is none
  }

  std::vector<uint8_t> Read(size_t size) const {
    std::vector<uint8_t> bytes(size);
    InItsContext([&] { EXPECT_EQ(aclrtMemcpy(bytes.data(), size, memory_, size, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS); });
    return bytes;
  }
  // Also while it is written: ThreadSanitizer would tell of a copy.
  bool FirstIsZero() const { return view_ != nullptr ? IsZero(static_cast<const uint8_t*>(view_)) : Read(1)[0] == 0; }
  void SetFirst(uint8_t value) const {
    InItsContext([&] { EXPECT_EQ(aclrtMemset(memory_, size_, value, 1), ACL_SUCCESS); });
  }
  long Count(uint8_t value, size_t size) const {
    const std::vector<uint8_t> bytes = Read(size);
    return std::count(bytes.begin(), bytes.end(), value);
  }

 private:
  template <class Function>
  void InItsContext(Function function) const {
    aclrtContext own = nullptr;
    EXPECT_EQ(aclrtGetCurrentContext(&own), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetCurrentContext(context_), ACL_SUCCESS);
    function();
    EXPECT_EQ(aclrtSetCurrentContext(own), ACL_SUCCESS);
  }

  void* const memory_;
  const size_t size_;
  aclrtContext context_ = nullptr;
  void* view_ = nullptr;
};

// Lets the stream run until the first byte of `there`, 0 before, has come; then aborts it.
inline void AbortInTheMiddle(aclrtStream stream, const SeenMemory& there) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  // Some schedules begin nothing that nobody waits for.
  std::thread waiter([&] {
    EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    aclrtSynchronizeStream(stream);
  });
  while (there.FirstIsZero()) std::this_thread::yield();
  EXPECT_EQ(aclrtStreamAbort(stream), ACL_SUCCESS);
  waiter.join();
}

}  // namespace ropeway_test
