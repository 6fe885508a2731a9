// Device code: binaries, functions, arguments, launches. There is no AI Core behind this library, so nothing here can
// be loaded or run; the spec gives no order of checks beyond "null is 100000", so that is what is looked at.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace {

constexpr const char* kNoDeviceCode =
    "device code cannot be loaded or run here; launch a host function in its place (aclrtLaunchHostFunc, with "
    "ropewayHostView for "
    "the bytes)";
constexpr const char* kNoKernelTasks =
    "there are no kernel tasks here that this could apply to; device code cannot run";

}  // namespace

// --- Binaries
// -----------------------------------------------------------------------------------------------------------

aclrtBinary aclrtCreateBinary(const void*, size_t) { return RefuseWithNull(__func__, kNoDeviceCode); }

aclError aclrtDestroyBinary(aclrtBinary binary) { return Refuse(__func__, kNoDeviceCode, {{"binary", binary}}); }

aclError aclrtBinaryLoad(const aclrtBinary binary, aclrtBinHandle* binHandle) {
  return Refuse(__func__, kNoDeviceCode, {{"binary", binary}, {"binHandle", binHandle}});
}

aclError aclrtBinaryUnLoad(aclrtBinHandle binHandle) {
  return Refuse(__func__, kNoDeviceCode, {{"binHandle", binHandle}});
}

// options may be null.
aclError aclrtBinaryLoadFromFile(const char* binPath, aclrtBinaryLoadOptions*, aclrtBinHandle* binHandle) {
  return Refuse(__func__, kNoDeviceCode, {{"binPath", binPath}, {"binHandle", binHandle}});
}

aclError aclrtBinaryLoadFromData(const void* data, size_t length, const aclrtBinaryLoadOptions*,
                                 aclrtBinHandle* binHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"data", data}, {"binHandle", binHandle}}));
    RW_TRY(RequireSome(Layer::kOuter, "length", length));
    return NotSupported(kNoDeviceCode);
  });
}

aclError aclrtBinaryGetFunction(const aclrtBinHandle binHandle, const char* kernelName, aclrtFuncHandle* funcHandle) {
  return Refuse(__func__, kNoDeviceCode,
                {{"binHandle", binHandle}, {"kernelName", kernelName}, {"funcHandle", funcHandle}});
}

aclError aclrtBinaryGetFunctionByEntry(aclrtBinHandle binHandle, uint64_t, aclrtFuncHandle* funcHandle) {
  return Refuse(__func__, kNoDeviceCode, {{"binHandle", binHandle}, {"funcHandle", funcHandle}});
}

aclError aclrtBinaryGetDevAddress(const aclrtBinHandle binHandle, void** binAddr, size_t* binSize) {
  return Refuse(__func__, kNoDeviceCode, {{"binHandle", binHandle}, {"binAddr", binAddr}, {"binSize", binSize}});
}

aclError aclrtBinaryGetGlobal(aclrtBinHandle binHandle, const char* name, void** dptr, size_t* size) {
  return Refuse(__func__, kNoDeviceCode, {{"binHandle", binHandle}, {"name", name}, {"dptr", dptr}, {"size", size}});
}

aclError aclrtCheckArchCompatibility(const char* socVersion, int32_t* canCompatible) {
  return Refuse(__func__, kNoDeviceCode, {{"socVersion", socVersion}, {"canCompatible", canCompatible}});
}

// --- Functions
// ----------------------------------------------------------------------------------------------------------

aclError aclrtGetFuncBySymbol(const void* symbol, aclrtFuncHandle* funcHandle) {
  return Refuse(__func__, kNoDeviceCode, {{"symbol", symbol}, {"funcHandle", funcHandle}});
}

aclError aclrtRegisterCpuFunc(const aclrtBinHandle handle, const char* funcName, const char* kernelName,
                              aclrtFuncHandle* funcHandle) {
  return Refuse(__func__, kNoDeviceCode,
                {{"handle", handle}, {"funcName", funcName}, {"kernelName", kernelName}, {"funcHandle", funcHandle}});
}

aclError aclrtGetFunctionAddr(aclrtFuncHandle funcHandle, void** aicAddr, void** aivAddr) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}, {"aicAddr", aicAddr}, {"aivAddr", aivAddr}});
}

aclError aclrtGetFunctionSize(aclrtFuncHandle funcHandle, size_t* aicSize, size_t* aivSize) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}, {"aicSize", aicSize}, {"aivSize", aivSize}});
}

aclError aclrtGetFunctionName(aclrtFuncHandle funcHandle, uint32_t, char* name) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}, {"name", name}});
}

aclError aclrtGetFunctionAttribute(aclrtFuncHandle funcHandle, aclrtFuncAttribute, int64_t* attrValue) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}, {"attrValue", attrValue}});
}

aclError aclrtFunctionGetBinary(const aclrtFuncHandle funcHandle, aclrtBinHandle* binHandle) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}, {"binHandle", binHandle}});
}

aclError aclrtFunctionGetParamCount(const void* func, size_t* paramCount) {
  return Refuse(__func__, kNoDeviceCode, {{"func", func}, {"paramCount", paramCount}});
}

aclError aclrtFunctionGetParamInfo(const void* func, size_t, size_t* paramOffset, size_t* paramSize) {
  return Refuse(__func__, kNoDeviceCode, {{"func", func}, {"paramOffset", paramOffset}, {"paramSize", paramSize}});
}

aclError aclrtFunctionGetAvailDynUbufPerBlock(void* func, uint32_t, size_t* dynamicUbufSize) {
  return Refuse(__func__, kNoDeviceCode, {{"func", func}, {"dynamicUbufSize", dynamicUbufSize}});
}

// --- Arguments
// ----------------------------------------------------------------------------------------------------------

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}, {"argsHandle", argsHandle}});
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle, void* userHostMem,
                                      size_t) {
  return Refuse(__func__, kNoDeviceCode,
                {{"funcHandle", funcHandle}, {"argsHandle", argsHandle}, {"userHostMem", userHostMem}});
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t* memSize) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}, {"memSize", memSize}});
}

aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t, size_t* actualArgsSize) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}, {"actualArgsSize", actualArgsSize}});
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t, aclrtParamHandle* paramHandle) {
  return Refuse(__func__, kNoDeviceCode, {{"argsHandle", argsHandle}, {"param", param}, {"paramHandle", paramHandle}});
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle* paramHandle) {
  return Refuse(__func__, kNoDeviceCode, {{"argsHandle", argsHandle}, {"paramHandle", paramHandle}});
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, size_t,
                                             void** bufferAddr) {
  return Refuse(__func__, kNoDeviceCode,
                {{"argsHandle", argsHandle}, {"paramHandle", paramHandle}, {"bufferAddr", bufferAddr}});
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void* param, size_t) {
  return Refuse(__func__, kNoDeviceCode, {{"argsHandle", argsHandle}, {"paramHandle", paramHandle}, {"param", param}});
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle) {
  return Refuse(__func__, kNoDeviceCode, {{"argsHandle", argsHandle}});
}

// --- Launches
// -----------------------------------------------------------------------------------------------------------

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t, const void*, size_t, aclrtStream) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}});
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t, const void*, size_t, aclrtLaunchKernelCfg*,
                             aclrtStream) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}});
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t, aclrtStream, aclrtLaunchKernelCfg*,
                                     aclrtArgsHandle argsHandle, void* reserve) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"funcHandle", funcHandle}, {"argsHandle", argsHandle}}));
    RW_TRY(RequireNull("reserve", reserve));
    return NotSupported(kNoDeviceCode);
  });
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t, aclrtStream, aclrtLaunchKernelCfg*, void*,
                                       size_t, aclrtPlaceHolderInfo*, size_t) {
  return Refuse(__func__, kNoDeviceCode, {{"funcHandle", funcHandle}});
}

aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t, aclrtStream, aclrtLaunchKernelCfg*, void**) {
  return Refuse(__func__, kNoDeviceCode, {{"func", func}});
}

aclError aclrtLaunchSIMTKernelWithArgsArray(void* func, dim3, dim3, size_t, aclrtStream, aclrtLaunchKernelCfg*,
                                            void**) {
  return Refuse(__func__, kNoDeviceCode, {{"func", func}});
}

aclError aclrtLaunchSIMTKernelWithHostArgs(void* func, dim3, dim3, size_t, aclrtStream, aclrtLaunchKernelCfg*, void*,
                                           size_t, aclrtPlaceHolderInfo*, size_t) {
  return Refuse(__func__, kNoDeviceCode, {{"func", func}});
}

// --- Around launches
// ----------------------------------------------------------------------------------------------------

aclError aclrtGetHardwareSyncAddr(void** addr) { return Refuse(__func__, kNoDeviceCode, {{"addr", addr}}); }

aclError aclrtRandomNumAsync(const aclrtRandomNumTaskInfo* taskInfo, const aclrtStream stream, void* reserve) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("taskInfo", taskInfo));
    RW_TRY(RequireNull("reserve", reserve));
    RW_TRY(RequireLiveStream(stream));
    return NotSupported(kNoDeviceCode);
  });
}

aclError aclrtTaskUpdateAsync(aclrtStream taskStream, uint32_t, aclrtTaskUpdateInfo* info, aclrtStream execStream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("info", info));
    RW_TRY(RequireLiveStream(taskStream));
    RW_TRY(RequireLiveStream(execStream));
    return NotSupported(kNoKernelTasks);
  });
}

aclError aclrtCacheLastTaskOpInfo(const void* const infoPtr, const size_t infoSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("infoPtr", infoPtr));
    RW_TRY(RequireSome(Layer::kOuter, "infoSize", infoSize));
    return NotSupported(kNoKernelTasks);
  });
}

aclError aclrtCacheLastTaskExtendInfo(const char* const extendInfoPtr, const size_t infoSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("extendInfoPtr", extendInfoPtr));
    RW_TRY(RequireSome(Layer::kOuter, "infoSize", infoSize));
    return NotSupported(kNoKernelTasks);
  });
}
