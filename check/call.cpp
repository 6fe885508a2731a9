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

aclrtStream Named(aclrtStream stream) {
  if (stream != nullptr) return stream;
  static const auto ask = reinterpret_cast<decltype(&aclrtCtxGetCurrentDefaultStream)>(FindInTarget("aclrtCtxGetCurrentDefaultStream"));
  static const auto context = reinterpret_cast<decltype(&aclrtGetCurrentContext)>(FindInTarget("aclrtGetCurrentContext"));
  aclrtStream named = nullptr;
  if (ask != nullptr && ask(&named) == ACL_SUCCESS && named != nullptr) return named;
  aclrtContext current = nullptr;
  if (context != nullptr) context(&current);
  return current;
}

int32_t CurrentDevice() {
  static const auto ask = reinterpret_cast<decltype(&aclrtGetDevice)>(FindInTarget("aclrtGetDevice"));
  int32_t device = -1;
  if (ask == nullptr || ask(&device) != ACL_SUCCESS) return -1;
  return device;
}

}  // namespace ropeway::check
