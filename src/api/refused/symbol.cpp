// Device variables (rules/copies.md 9). Variables are registered by a compiler that makes device code; without one,
// no symbol is ever known, and the answer behind the argument checks is 107043.
#include "api/checks.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Status UnknownSymbol(const void* symbol) {
  return Fail(ACL_ERROR_RT_INVALID_SYMBOL,
              "symbol %p is not a device variable: there is no device code here that could register one; copy to memory of "
              "aclrtMalloc instead",
              symbol);
}

Status CopySymbol(const char* memory_name, const void* memory, const void* symbol, size_t count, size_t room, aclrtMemcpyKind kind,
                  aclrtMemcpyKind direction) {
  if (count == 0) return Ok();
  RW_TRY(RequirePointers({{"symbol", symbol}, {memory_name, memory}}));
  if (count > room) return Reject(ACL_ERROR_INVALID_PARAM, "count %zu exceeds dstMax %zu", count, room);
  if (kind != direction && kind != ACL_MEMCPY_DEFAULT)
    return Reject(ACL_ERROR_INVALID_PARAM, "kind %d is not for this call; use %s or ACL_MEMCPY_DEFAULT", static_cast<int>(kind),
                  KindName(direction));
  RW_TRY(CurrentContext().status());
  return UnknownSymbol(symbol);
}

Status CopyFromSymbol(void* dst, size_t dstMax, const void* symbol, size_t count, aclrtMemcpyKind kind) {
  return CopySymbol("dst", dst, symbol, count, dstMax, kind, ACL_MEMCPY_DEVICE_TO_HOST);
}

// How much room the variable has is not known before it is found.
Status CopyToSymbol(const void* symbol, const void* src, size_t count, aclrtMemcpyKind kind) {
  return CopySymbol("src", src, symbol, count, SIZE_MAX, kind, ACL_MEMCPY_HOST_TO_DEVICE);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtGetSymbolAddress(const void* symbol, void** devPtr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"symbol", symbol}, {"devPtr", devPtr}}));
    return UnknownSymbol(symbol);
  });
}

aclError aclrtGetSymbolSize(const void* symbol, size_t* size) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"symbol", symbol}, {"size", size}}));
    return UnknownSymbol(symbol);
  });
}

aclError aclrtMemcpyFromSymbol(void* dst, size_t dstMax, const void* symbol, size_t count, size_t, aclrtMemcpyKind kind) {
  return Entry(__func__, [&] { return CopyFromSymbol(dst, dstMax, symbol, count, kind); });
}

aclError aclrtMemcpyFromSymbolAsync(void* dst, size_t dstMax, const void* symbol, size_t count, size_t, aclrtMemcpyKind kind, aclrtStream) {
  return Entry(__func__, [&] { return CopyFromSymbol(dst, dstMax, symbol, count, kind); });
}

aclError aclrtMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t, aclrtMemcpyKind kind) {
  return Entry(__func__, [&] { return CopyToSymbol(symbol, src, count, kind); });
}

aclError aclrtMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t, aclrtMemcpyKind kind, aclrtStream) {
  return Entry(__func__, [&] { return CopyToSymbol(symbol, src, count, kind); });
}
