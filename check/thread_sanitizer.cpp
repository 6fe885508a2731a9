#include "check/thread_sanitizer.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "check/findings.h"

extern "C" {
__attribute__((weak)) void* __tsan_get_current_fiber();
__attribute__((weak)) void* __tsan_create_fiber(unsigned flags);
__attribute__((weak)) void __tsan_switch_to_fiber(void* fiber, unsigned flags);
__attribute__((weak)) void __tsan_set_fiber_name(void* fiber, const char* name);
__attribute__((weak)) void __tsan_acquire(void* address);
__attribute__((weak)) void __tsan_release(void* address);
__attribute__((weak)) void __tsan_read_range(void* address, unsigned long size);
__attribute__((weak)) void __tsan_write_range(void* address, unsigned long size);
__attribute__((weak)) int __tsan_get_report_mop(void* report, unsigned long index, int* thread, void** address, int* size, int* write,
                                                int* atomic, void** trace, unsigned long trace_size);
__attribute__((weak)) int __tsan_get_report_thread(void* report, unsigned long index, int* thread, unsigned long* os_id, int* running,
                                                   const char** name, int* parent, void** trace, unsigned long trace_size);
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

// The detector calls with its locks held: no memory, no call that it looks at.
void Say(const char* text) { syscall(SYS_write, STDERR_FILENO, text, std::strlen(text)); }

bool IsFiber(void* report, int thread) {
  for (unsigned long i = 0; i < 8; ++i) {
    int number = -1, running = 0, parent = 0;
    unsigned long os_id = 0;
    const char* name = nullptr;
    void* trace[1];
    if (__tsan_get_report_thread(report, i, &number, &os_id, &running, &name, &parent, trace, 1) == 0) return false;
    if (number == thread) return name != nullptr && std::strncmp(name, kFiberName, sizeof kFiberName - 1) == 0;
  }
  return false;
}

}  // namespace

std::unique_ptr<Watcher> WatchWithThreadSanitizer(std::function<bool(uintptr_t)> on_host) {
  if (__tsan_create_fiber == nullptr || __tsan_read_range == nullptr || __tsan_acquire == nullptr) return nullptr;
  return std::make_unique<ThreadSanitizer>(std::move(on_host));
}

}  // namespace ropeway::check

// Behind each report of the detector: whether it is host code beside a queued copy, and which rule that is.
extern "C" __attribute__((visibility("default"))) void __tsan_on_report(void* report) {
  using namespace ropeway::check;
  bool copy = false, host = false, host_writes = false;
  for (unsigned long i = 0; i < 2; ++i) {
    int thread = 0, size = 0, write = 0, atomic = 0;
    void *address = nullptr, *trace[1];
    if (__tsan_get_report_mop == nullptr || __tsan_get_report_mop(report, i, &thread, &address, &size, &write, &atomic, trace, 1) == 0)
      return;
    if (IsFiber(report, thread)) {
      copy = true;
    } else {
      host = true;
      host_writes = write != 0;
    }
  }
  if (!copy || !host) return;
  CountError();
  Say(host_writes
          ? "HOST  RW-HOST-002  the report above: host code writes a buffer that a pending copy uses     docs/check/RW-HOST-002.md\n"
          : "HOST  RW-HOST-001  the report above: host code reads a buffer that a pending copy writes     docs/check/RW-HOST-001.md\n");
}
