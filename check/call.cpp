#include "check/call.h"

#include <pthread.h>

namespace ropeway::check {
namespace {

thread_local int depth __attribute__((tls_model("initial-exec"))) = 0;

}  // namespace

Call::Call(const char* name, const void* caller) : name_(name), caller_(reinterpret_cast<uintptr_t>(caller)), depth_(++depth) {}

Call::~Call() {
  if (depth_ == 1) HostAccess::ReleaseUnused();
  --depth;
}

bool Call::Inside() { return depth != 0; }

std::mutex& Call::Mutex() {
  // A child has one thread and the books as they were.
  static auto* const mutex = [] {
    const auto unlock_child = [] {
      HostAccess::AfterFork();
      Call::Mutex().unlock();
    };
    pthread_atfork([] { Call::Mutex().lock(); }, [] { Call::Mutex().unlock(); }, unlock_child);
    return new std::mutex;
  }();
  return *mutex;
}

}  // namespace ropeway::check
