// Start and end of the library (rules/init.md 1 to 4). The state lives in runtime/init_state.
#include "api/entry.h"
#include "base/error_log.h"
#include "profile/aclprof.h"
#include "runtime/init_state.h"
#include "stream/exception_report.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

Status RequireCallback(const void* function) { return RequirePointer("cbFunc", function); }

}  // namespace
}  // namespace ropeway::api

aclError aclInit(const char* configPath) {
  return Entry(__func__, [&]() -> Status {
    return InitState::Get().Init(
        configPath, {[](const std::string& folder) { return Aclprof::Get().Command(folder); }, [] { Aclprof::Get().EndCommanded(); }});
  });
}

aclError aclFinalize() {
  return Entry(__func__, [&]() -> Status {
    AwaitExceptionReports();
    RW_TRY(InitState::Get().Finalize());
    Aclprof::Get().EndCommanded();
    return Ok();
  });
}

aclError aclFinalizeReference(uint64_t* refCount) {
  return Entry(__func__, [&]() -> Status {
    AwaitExceptionReports();
    uint64_t left = 0;
    Status status = InitState::Get().FinalizeReference(&left);
    if (refCount != nullptr) *refCount = left;
    if (left == 0) Aclprof::Get().EndCommanded();
    return status;
  });
}

aclError aclInitCallbackRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc, void* userData) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireCallback(reinterpret_cast<const void*>(cbFunc)));
    return InitState::Get().RegisterInit(type, cbFunc, userData);
  });
}

aclError aclInitCallbackUnRegister(aclRegisterCallbackType type, aclInitCallbackFunc cbFunc) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireCallback(reinterpret_cast<const void*>(cbFunc)));
    return InitState::Get().UnregisterInit(type, cbFunc);
  });
}

aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc, void* userData) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireCallback(reinterpret_cast<const void*>(cbFunc)));
    return InitState::Get().RegisterFinalize(type, cbFunc, userData);
  });
}

aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type, aclFinalizeCallbackFunc cbFunc) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequireCallback(reinterpret_cast<const void*>(cbFunc)));
    return InitState::Get().UnregisterFinalize(type, cbFunc);
  });
}
