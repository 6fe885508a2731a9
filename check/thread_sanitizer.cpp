#include "check/thread_sanitizer.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check/tally.h"

extern "C" {
__attribute__((weak)) void* __tsan_get_current_fiber();
__attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
__attribute__((weak)) void __tsan_switch_to_fiber(void* fiber, unsigned flags);
__attribute__((weak)) void __tsan_set_fiber_name(void* fiber, const char* name);
__attribute__((weak)) void __tsan_acquire(void* address);
__attribute__((weak)) void __tsan_release(void* address);
__attribute__((weak)) void __tsan_read_range(void* address, unsigned long size);
__attribute__((weak)) void __tsan_write_range(void* address, unsigned long size);
__attribute__((weak)) void __sanitizer_set_report_fd(void* descriptor);
}

namespace ropeway::check {
namespace {

constexpr char kFiberName[] = "copies of stream ";
constexpr unsigned kInOrder = 0;       // what the host did so far comes first
constexpr unsigned kWithoutOrder = 1;  // the host knows nothing of what the fiber did

class ThreadSanitizer final : public Watcher {
 public:
  explicit ThreadSanitizer(std::function<bool(uintptr_t)> on_host) : on_host_(std::move(on_host)) {}

  void Used(StreamIndex stream, const Range& range, bool write) override {
    if (!on_host_(range.begin)) return;
    InFiber(stream,
            [&] { (write ? __tsan_write_range : __tsan_read_range)(reinterpret_cast<void*>(range.begin), range.end - range.begin); });
  }
  void Released(StreamIndex stream, const void* token) override {
    InFiber(stream, [&] { __tsan_release(const_cast<void*>(token)); });
  }
  void Acquired(StreamIndex stream, const void* token) override {
    InFiber(stream, [&] { __tsan_acquire(const_cast<void*>(token)); });
  }
  void HostAcquired(const void* token) override { __tsan_acquire(const_cast<void*>(token)); }

 private:
  template <typename Body>
  void InFiber(StreamIndex stream, Body body) {
    if (fibers_.size() <= stream) fibers_.resize(stream + 1);
    void*& fiber = fibers_[stream];
    if (fiber == nullptr) {
      fiber = __tsan_create_fiber(0);
      __tsan_set_fiber_name(fiber, (kFiberName + std::to_string(stream)).c_str());
    }
    void* const host = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber, kInOrder);
    body();
    __tsan_switch_to_fiber(host, kWithoutOrder);
  }

  const std::function<bool(uintptr_t)> on_host_;
  std::vector<void*> fibers_;
};

// Reports go through the command, which knows the names of the fibers; unless the program wants them somewhere else.
void SendReports() {
  const char* const number = std::getenv(kReportsVariable);
  const char* const options = std::getenv("TSAN_OPTIONS");
  if (number == nullptr || __sanitizer_set_report_fd == nullptr) return;
  if (options != nullptr && std::strstr(options, "log_path") != nullptr) return;
  __sanitizer_set_report_fd(reinterpret_cast<void*>(std::strtoul(number, nullptr, 10)));
}

}  // namespace

std::unique_ptr<Watcher> WatchWithThreadSanitizer(std::function<bool(uintptr_t)> on_host) {
  if (__tsan_create_fiber == nullptr || __tsan_read_range == nullptr || __tsan_acquire == nullptr) return nullptr;
  SendReports();
  return std::make_unique<ThreadSanitizer>(std::move(on_host));
}

}  // namespace ropeway::check
