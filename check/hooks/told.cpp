// What programs tell of their kernels, and ask (ropeway/check.h).
#include <atomic>

#include "check/call.h"
#include "check/next.h"
#include "check/tips.h"
#include "ropeway/check.h"
#include "ropeway/kernel.h"

using namespace ropeway::check;

extern "C" __attribute__((visibility("default"))) void ropewayCheckUse(void* stream, const void* address, size_t size, int writes) {
  Call call("ropewayCheckUse", __builtin_return_address(0));
  const aclrtStream named = Named(stream);
  call.Keep([&](Books& books, uint32_t operation) {
    const Access access{RangeOf(address, size), writes != 0};
    books.model.SubmitUse(books.StreamOf(named), operation, {&access, 1});
  });
}

// What a function does that stands in for a kernel is told as above. That there is one is seen here.
namespace ropeway::check {
static std::atomic<bool> g_stand_ins{false};
bool StandInsAreThere() { return g_stand_ins.load(std::memory_order_relaxed); }
}  // namespace ropeway::check

RW_HOOK(ropewayRegisterKernel);
aclError ropewayRegisterKernel(const char* name, ropewayKernelFunc function) {
  g_stand_ins = true;
  return NEXT(ropewayRegisterKernel)(name, function);
}

extern "C" __attribute__((visibility("default"))) unsigned long ropewayCheckErrors() {
  const std::lock_guard lock(Call::Mutex());
  HostAccess::Settle(Books::Get());
  return Books::Get().findings.errors();
}
