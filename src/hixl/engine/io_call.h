// Something that the I/O thread does for a caller who waits for it.
#pragma once

#include <future>
#include <utility>

#include "hccl/transport/io_thread.h"

namespace ropeway::transfer {

// Not on the I/O thread. What `function` throws comes out here.
template <typename Function>
auto OnIoThread(Function&& function) {
  std::packaged_task<decltype(function())()> task(std::forward<Function>(function));
  comm::IoThread::Get().Post([&task] { task(); });
  return task.get_future().get();
}

}  // namespace ropeway::transfer
