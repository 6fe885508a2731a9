// Models built by hand and conditions in captured ones (runtime.md 8.5, 8.8), which are not there yet; attributes of kernels,
// and the data dump of models.
#include "api/refused/refuse.h"
#include "stream/model.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoHandBuilt = "models built by hand are not there yet; capture a stream by aclmdlRICaptureBegin";
constexpr const char* kNoConditions = "conditions in a graph are not there yet; capture one graph for each case";
constexpr const char* kNoKernels = "there are no kernels here whose attributes could be read";
constexpr const char* kNoDump =
    "there are no operators here whose data could be dumped; ROPEWAY_TRACE writes a trace of all work";

// For calls on a stream that must be named: null is 100000, a stale handle 107017.
Status RequireNamedStream(aclrtStream stream) {
  RW_TRY(RequirePointer("stream", stream));
  return RequireLiveStream(stream);
}

// What is only for models built by hand. Every live model is a captured one.
Status RefuseHandBuilt(aclmdlRI modelRI) {
  if (Models().Find(modelRI) != nullptr)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "modelRI %p is a captured model; this call is for models built by hand", modelRI);
  return NotSupportedQuietly(kNoHandBuilt);
}

Status RefuseModelStream(aclmdlRI modelRI, aclrtStream stream) {
  RW_TRY(RequirePointer("modelRI", modelRI));
  RW_TRY(RequireNamedStream(stream));
  return RefuseHandBuilt(modelRI);
}

}  // namespace
}  // namespace ropeway::api

// --- Models built by hand -----------------------------------------------------------------------------------------------

aclError aclmdlRIBuildBegin(aclmdlRI* modelRI, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequireZero(Layer::kRuntime, "flag", flag));
    return NotSupportedQuietly(kNoHandBuilt);
  });
}

aclError aclmdlRIBindStream(aclmdlRI modelRI, aclrtStream stream, uint32_t) {
  return Entry(__func__, [&] { return RefuseModelStream(modelRI, stream); });
}

aclError aclmdlRIEndTask(aclmdlRI modelRI, aclrtStream stream) {
  return Entry(__func__, [&] { return RefuseModelStream(modelRI, stream); });
}

aclError aclmdlRIUnbindStream(aclmdlRI modelRI, aclrtStream stream) {
  return Entry(__func__, [&] { return RefuseModelStream(modelRI, stream); });
}

aclError aclmdlRIBuildEnd(aclmdlRI modelRI, void* reserve) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    RW_TRY(RequireNull("reserve", reserve));
    return RefuseHandBuilt(modelRI);
  });
}

aclError aclmdlRIAbort(aclmdlRI modelRI) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("modelRI", modelRI));
    return RefuseHandBuilt(modelRI);
  });
}

// --- Conditions ---------------------------------------------------------------------------------------------------------

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t, aclmdlRICondHandleFlag flag, aclmdlRICondHandle* handle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"modelRI", modelRI}, {"handle", handle}}));
    RW_TRY(RequireRange(Layer::kRuntime, "flag", flag, 0, ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT));
    return NotSupportedQuietly(kNoConditions);
  });
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"handle", handle}, {"ptr", ptr}}));
    return NotSupportedQuietly(kNoConditions);
  });
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"params.handle", params.handle}, {"params.modelRIArray", params.modelRIArray}}));
    RW_TRY(RequireNamedStream(stream));
    RW_TRY(RequireZero(Layer::kRuntime, "flags", flags));
    return NotSupportedQuietly(kNoConditions);
  });
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI, aclmdlRICaptureMode mode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"stream", stream}, {"modelRI", modelRI}}));
    RW_TRY(RequireLiveStream(stream));
    RW_TRY(RequireRange(Layer::kRuntime, "mode", mode, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    return NotSupportedQuietly(kNoConditions);
  });
}

// --- Kernels and dumps --------------------------------------------------------------------------------------------------

aclError aclmdlRIKernelTaskGetAttribute(aclmdlRITask task, aclrtLaunchKernelAttrId, aclrtLaunchKernelAttrValue* attrValue) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"task", task}, {"attrValue", attrValue}}));
    return NotSupportedQuietly(kNoKernels);
  });
}

aclError aclmdlInitDump(void) { return Refuse(__func__, kNoDump); }

aclError aclmdlSetDump(const char* dumpCfgPath) { return Refuse(__func__, kNoDump, {{"dumpCfgPath", dumpCfgPath}}); }

aclError aclmdlFinalizeDump(void) { return Refuse(__func__, kNoDump); }
