// Memory of the program that the I/O thread reads or writes. The program may take it away at any moment (a stream is
// aborted, and its buffers are freed): once Close has returned, nobody touches it any more. Uses are short: one system
// call that does not block.
#pragma once

#include <cstdint>
#include <mutex>

namespace ropeway::comm {

class Window {
 public:
  explicit Window(void* data) : data_(static_cast<char*>(data)) {}
  void Close() {
    std::lock_guard lock(mutex_);
    data_ = nullptr;
  }
  // Calls use(data) unless the window is closed; tells whether it did.
  template <typename Function>
  bool Use(Function&& use) {
    std::lock_guard lock(mutex_);
    if (data_ == nullptr) return false;
    use(data_);
    return true;
  }

 private:
  std::mutex mutex_;
  char* data_;  // guarded by mutex_
};

}  // namespace ropeway::comm
