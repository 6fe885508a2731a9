// What programs tell of their kernels, and ask (ropeway/check.h).
#include "check/call.h"
#include "ropeway/check.h"

using namespace ropeway::check;

extern "C" __attribute__((visibility("default"))) void ropewayCheckUse(void* stream, const void* address, size_t size, int writes) {
  Call call("ropewayCheckUse", __builtin_return_address(0));
  const aclrtStream named = Named(stream);
  call.Keep([&](Books& books, uint32_t operation) {
    const Access access{RangeOf(address, size), writes != 0};
    books.model.SubmitUse(books.StreamOf(named), operation, {&access, 1});
  });
}

extern "C" __attribute__((visibility("default"))) unsigned long ropewayCheckErrors() {
  const std::lock_guard lock(Call::Mutex());
  HostAccess::Settle(Books::Get());
  return Books::Get().findings.errors();
}
