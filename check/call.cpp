#include "check/call.h"

#include <pthread.h>

namespace ropeway::check {
namespace {

thread_local int depth = 0;

}  // namespace

Call::Call(const char* name, const void* caller) : name_(name), caller_(reinterpret_cast<uintptr_t>(caller)), depth_(++depth) {}

Call::~Call() { --depth; }

std::mutex& Call::Mutex() {
  // A child has one thread and the books as they were.
  static auto* const mutex = [] {
    pthread_atfork([] { Call::Mutex().lock(); }, [] { Call::Mutex().unlock(); }, [] { Call::Mutex().unlock(); });
    return new std::mutex;
  }();
  return *mutex;
}

}  // namespace ropeway::check
