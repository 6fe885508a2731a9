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

// Of device memory it knows nothing.
void Call::Ask(const Range& range) noexcept {
  const uintptr_t marked = FirstMarked(range);
  if (marked == 0) return;
  Keep([&](Books& books, uint32_t operation) {
    const Block* const block = books.BlockAt(reinterpret_cast<void*>(range.begin));
    if (block != nullptr && !block->OnHost()) return;
    books.Tell(Rule::kHostMarked, operation,
               "moves " + books.Describe(range) + ", and AddressSanitizer forbids byte " + std::to_string(marked - range.begin) + " of it");
  });
}

TwinList Call::List(void** addresses, const size_t* sizes, size_t count) noexcept {
  if (HasAddressSanitizer() && addresses != nullptr && sizes != nullptr && count <= TwinList::kMost)
    for (size_t i = 0; i < count; ++i) Ask(RangeOf(addresses[i], sizes[i]));
  return {addresses, count};
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
