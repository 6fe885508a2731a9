#include "check/current.h"

#include "check/next.h"

namespace ropeway::check {

aclrtStream Named(aclrtStream stream) {
  if (stream != nullptr) return stream;
  static const auto ask = reinterpret_cast<decltype(&aclrtCtxGetCurrentDefaultStream)>(FindInTarget("aclrtCtxGetCurrentDefaultStream"));
  aclrtStream named = nullptr;
  if (ask != nullptr && ask(&named) == ACL_SUCCESS && named != nullptr) return named;
  return CurrentContext();
}

int32_t CurrentDevice() {
  static const auto ask = reinterpret_cast<decltype(&aclrtGetDevice)>(FindInTarget("aclrtGetDevice"));
  int32_t device = -1;
  if (ask == nullptr || ask(&device) != ACL_SUCCESS) return -1;
  return device;
}

aclrtContext CurrentContext() {
  static const auto ask = reinterpret_cast<decltype(&aclrtGetCurrentContext)>(FindInTarget("aclrtGetCurrentContext"));
  aclrtContext current = nullptr;
  if (ask == nullptr || ask(&current) != ACL_SUCCESS) return nullptr;
  return current;
}

bool InUse(int32_t device) {
  static const auto ask = reinterpret_cast<decltype(&aclrtGetPrimaryCtxState)>(FindInTarget("aclrtGetPrimaryCtxState"));
  int32_t active = 0;
  return ask != nullptr && ask(device, nullptr, &active) == ACL_SUCCESS && active != 0;
}

}  // namespace ropeway::check
