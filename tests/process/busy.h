// Threads that do things over and over while others fork: whatever locks there are, somebody holds them.
#pragma once

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace process_test {

// One thread for each of `works`, with device 0 set, until this object goes.
class Busy {
 public:
  explicit Busy(const std::vector<std::function<void()>>& works) {
    for (const auto& work : works) {
      threads_.emplace_back([this, work] {
        RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        while (!stop_) work();
      });
    }
  }
  ~Busy() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace process_test
