// Lists of arguments (aclrtKernelArgs*), and the launches. An argument is aligned by the largest power of two that its size has, up to 8,
// as a structure of the same members would be.
#include <cstdint>
#include <cstring>

#include "api/checks.h"
#include "api/kernel_handles.h"
#include "api/kernel_launch.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr size_t kOwnedRoom = 2048;  // of a list that is ours
constexpr size_t kMostAlignment = 8;

size_t RoundUp(size_t number, size_t to) { return (number + to - 1) / to * to; }
size_t AlignmentOf(size_t size) { return std::min(size & (~size + 1), kMostAlignment); }

// From now on the program may name it.
void BeginList(KernelArgs* list, void* function, unsigned char* bytes, size_t room, bool owned) {
  *list = {};
  list->function = function;
  list->bytes = bytes;
  list->room = room;
  list->owned = owned;
  LockGuard lock(StandIns::All().mutex);
  StandIns::All().argument_lists[list] = function;
}

Result<KernelArgs*> FindList(void* handle) {
  RW_TRY(RequirePointer("argsHandle", handle));
  LockGuard lock(StandIns::All().mutex);
  if (StandIns::All().argument_lists.contains(handle)) return static_cast<KernelArgs*>(handle);
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "argsHandle %p is not a list of a loaded function (unloaded, or something else)", handle);
}

Status RequireOpen(const KernelArgs& list) {
  if (!list.closed) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "the list is closed by aclrtKernelArgsFinalize; begin a new one");
}

// Handles of parameters are their numbers, from 1.
Result<KernelArgs::Parameter*> FindParameter(KernelArgs& list, void* handle) {
  RW_TRY(RequirePointer("paramHandle", handle));
  const auto number = reinterpret_cast<uintptr_t>(handle);
  if (number <= list.count) return &list.parameters[number - 1];
  return Fail(ACL_ERROR_RT_INVALID_HANDLE, "paramHandle %p is not one of the %u arguments of this list", handle, list.count);
}

Status Append(KernelArgs& list, const void* value, size_t size, bool placeholder, aclrtParamHandle* handle) {
  RW_TRY(RequireOpen(list));
  if (list.count == KernelArgs::kMostParameters)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "the list has %u arguments already, and there is no room for more", list.count);
  const size_t at = RoundUp(list.used, AlignmentOf(size));
  if (at > list.room || size > list.room - at)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "an argument of %zu bytes does not fit: %zu of the list's %zu bytes are used", size, list.used,
                list.room);
  if (value != nullptr)
    memcpy(list.bytes + at, value, size);
  else
    memset(list.bytes + at, 0, size);
  list.used = at + size;
  list.parameters[list.count++] = {nullptr, static_cast<uint32_t>(at), static_cast<uint32_t>(size), 0, placeholder};
  *handle = reinterpret_cast<void*>(uintptr_t{list.count});
  return Ok();
}

// Memory of a function goes with its binary.
Result<unsigned char*> Allocate(Function& function, size_t size) {
  auto made = std::make_unique<unsigned char[]>(size);
  unsigned char* const bytes = made.get();
  LockGuard lock(StandIns::All().mutex);
  function.memory.push_back(std::move(made));
  return bytes;
}

// From the back of memory that is the program's.
Result<unsigned char*> TakeFromBack(KernelArgs& list, size_t size) {
  const size_t free = list.room > list.used ? list.room - list.used : 0;
  if (size > free) return Fail(ACL_ERROR_RT_PARAM_INVALID, "dataSize %zu does not fit: %zu bytes of userHostMem are left", size, free);
  const size_t at = (list.room - size) / kMostAlignment * kMostAlignment;
  if (at < list.used) return Fail(ACL_ERROR_RT_PARAM_INVALID, "dataSize %zu does not fit behind %zu bytes of arguments", size, list.used);
  list.room = at;
  return list.bytes + at;
}

// The arguments as a launch has them: parameters in front, and behind them what placeholders name.
Result<ArgumentBlock> Assemble(const KernelArgs& list) {
  if (!list.closed)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "the list of arguments is not complete; call aclrtKernelArgsFinalize before the launch");
  size_t size = list.used;
  for (uint32_t i = 0; i < list.count; ++i) size = RoundUp(size, kMostAlignment) + list.parameters[i].data_size;
  std::vector<unsigned char> bytes(size);
  memcpy(bytes.data(), list.bytes, list.used);
  std::vector<size_t> data_at(list.count);
  size_t at = list.used;
  for (uint32_t i = 0; i < list.count; ++i) {
    const KernelArgs::Parameter& parameter = list.parameters[i];
    data_at[i] = RoundUp(at, kMostAlignment);
    if (parameter.data_size > 0) memcpy(bytes.data() + data_at[i], parameter.data, parameter.data_size);
    at = data_at[i] + parameter.data_size;
  }
  RW_TRY_SET(ArgumentBlock block, ArgumentBlock::Copy(bytes.data(), size));
  for (uint32_t i = 0; i < list.count; ++i) {
    if (list.parameters[i].data_size > 0) RW_TRY(block.PutAddress(list.parameters[i].offset, data_at[i]));
  }
  return block;
}

// Attributes are about device code, and change nothing for a host function.
Status RequireAttributes(const aclrtLaunchKernelCfg* cfg) {
  if (cfg == nullptr || cfg->numAttrs == 0) return Ok();
  RW_TRY(RequirePointer("cfg->attrs", cfg->attrs));
  constexpr int kLastAttribute = 9;
  for (size_t i = 0; i < cfg->numAttrs; ++i) {
    const int id = cfg->attrs[i].id;
    if (id < ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE || id > kLastAttribute)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "cfg->attrs[%zu] has id %d, which is not in 1..%d", i, id, kLastAttribute);
  }
  return Ok();
}

// The stand-in may have been taken back since the function was found.
Status LaunchFunction(const void* handle, const ropewayKernelShape& shape, ArgumentBlock arguments, const aclrtLaunchKernelCfg* cfg,
                      aclrtStream stream) {
  RW_TRY_SET(FunctionHold function, HoldFunction(handle));
  RW_TRY(RequireAttributes(cfg));
  const StandIn kernel = StandIns::All().Find(function->name);
  if (!kernel) return UnknownKernel(function->name);
  return LaunchStandIn(kernel, shape, std::move(arguments), stream);
}

Status LaunchPlain(const void* handle, uint32_t blocks, const void* args, size_t size, const aclrtLaunchKernelCfg* cfg,
                   aclrtStream stream) {
  RW_TRY(RequirePointer("funcHandle", handle));
  if (size > 0) RW_TRY(RequirePointer("argsData", args));
  RW_TRY(HoldFunction(handle).status());
  RW_TRY_SET(ArgumentBlock arguments, ReadArguments(args, size));
  return LaunchFunction(handle, ShapeOf(blocks), std::move(arguments), cfg, stream);
}

// Of the function's stand-in, if somebody has said them.
Result<StandIns::Parameters> ParametersOf(const Function& function) {
  std::optional<StandIns::Parameters> known = StandIns::All().FindParameters(function.name);
  if (known) return std::move(*known);
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
              "the parameters of kernel %s are not known: register its stand-in by ROPEWAY_KERNEL, or say them by ropewayDescribeKernel",
              function.name);
}

// One address for each parameter.
Result<ArgumentBlock> Gather(const StandIns::Parameters& parameters, void* const* args) {
  if (!parameters.empty()) RW_TRY(RequirePointer("args", args));
  std::vector<unsigned char> bytes;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (args[i] == nullptr)
      return Reject(ACL_ERROR_INVALID_PARAM, "args[%zu] is NULL; the kernel has %zu parameters", i, parameters.size());
    const size_t at = RoundUp(bytes.size(), parameters[i].alignment);
    bytes.resize(at + parameters[i].size);
    memcpy(bytes.data() + at, args[i], parameters[i].size);
  }
  return ArgumentBlock::Copy(bytes.data(), bytes.size());
}

Status LaunchWithArray(const void* handle, const ropewayKernelShape& shape, aclrtStream stream, const aclrtLaunchKernelCfg* cfg,
                       void* const* args) {
  RW_TRY(RequirePointer("func", handle));
  RW_TRY_SET(FunctionHold function, HoldFunction(handle));
  RW_TRY_SET(const StandIns::Parameters parameters, ParametersOf(*function));
  RW_TRY_SET(ArgumentBlock arguments, Gather(parameters, args));
  return LaunchFunction(handle, shape, std::move(arguments), cfg, stream);
}

struct HostArguments {
  const void* bytes;
  size_t size;
};
struct PlaceHolders {
  const aclrtPlaceHolderInfo* array;
  size_t count;
};

Status LaunchWithHostArguments(const char* name, const void* handle, const ropewayKernelShape& shape, aclrtStream stream,
                               const aclrtLaunchKernelCfg* cfg, const HostArguments& host, const PlaceHolders& places) {
  RW_TRY(RequirePointer(name, handle));
  if (host.size > 0) RW_TRY(RequirePointer("hostArgs", host.bytes));
  if (places.count > 0) RW_TRY(RequirePointer("placeHolderArray", places.array));
  RW_TRY(HoldFunction(handle).status());
  RW_TRY_SET(ArgumentBlock arguments, ArgumentBlock::Copy(host.bytes, host.size));
  for (size_t i = 0; i < places.count; ++i) RW_TRY(arguments.PutAddress(places.array[i].addrOffset, places.array[i].dataOffset));
  return LaunchFunction(handle, shape, std::move(arguments), cfg, stream);
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtKernelArgsInit(aclrtFuncHandle funcHandle, aclrtArgsHandle* argsHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"funcHandle", funcHandle}, {"argsHandle", argsHandle}}));
    RW_TRY_SET(FunctionHold function, HoldFunction(funcHandle));
    RW_TRY_SET(unsigned char* memory, Allocate(*function, sizeof(KernelArgs) + kOwnedRoom));
    auto* list = reinterpret_cast<KernelArgs*>(memory);
    BeginList(list, funcHandle, memory + sizeof(KernelArgs), kOwnedRoom, true);
    *argsHandle = list;
    return Ok();
  });
}

aclError aclrtKernelArgsInitByUserMem(aclrtFuncHandle funcHandle, aclrtArgsHandle argsHandle, void* userHostMem, size_t actualArgsSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"funcHandle", funcHandle}, {"argsHandle", argsHandle}, {"userHostMem", userHostMem}}));
    if (reinterpret_cast<uintptr_t>(argsHandle) % alignof(KernelArgs) != 0)
      return Reject(ACL_ERROR_INVALID_PARAM, "argsHandle %p is not a multiple of %zu", argsHandle, alignof(KernelArgs));
    RW_TRY(HoldFunction(funcHandle).status());
    BeginList(static_cast<KernelArgs*>(argsHandle), funcHandle, static_cast<unsigned char*>(userHostMem), actualArgsSize, false);
    return Ok();
  });
}

aclError aclrtKernelArgsGetHandleMemSize(aclrtFuncHandle funcHandle, size_t* memSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"funcHandle", funcHandle}, {"memSize", memSize}}));
    RW_TRY(HoldFunction(funcHandle).status());
    *memSize = sizeof(KernelArgs);
    return Ok();
  });
}

// With what the alignment of each argument may take.
aclError aclrtKernelArgsGetMemSize(aclrtFuncHandle funcHandle, size_t userArgsSize, size_t* actualArgsSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"funcHandle", funcHandle}, {"actualArgsSize", actualArgsSize}}));
    RW_TRY(HoldFunction(funcHandle).status());
    constexpr size_t kForAlignment = KernelArgs::kMostParameters * kMostAlignment * 2;
    if (userArgsSize > SIZE_MAX - kForAlignment) return Reject(ACL_ERROR_INVALID_PARAM, "userArgsSize %zu is too large", userArgsSize);
    *actualArgsSize = userArgsSize + kForAlignment;
    return Ok();
  });
}

aclError aclrtKernelArgsAppend(aclrtArgsHandle argsHandle, void* param, size_t paramSize, aclrtParamHandle* paramHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"argsHandle", argsHandle}, {"param", param}, {"paramHandle", paramHandle}}));
    RW_TRY(RequireSome(Layer::kOuter, "paramSize", paramSize));
    RW_TRY_SET(KernelArgs * list, FindList(argsHandle));
    return Append(*list, param, paramSize, false, paramHandle);
  });
}

aclError aclrtKernelArgsAppendPlaceHolder(aclrtArgsHandle argsHandle, aclrtParamHandle* paramHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"argsHandle", argsHandle}, {"paramHandle", paramHandle}}));
    RW_TRY_SET(KernelArgs * list, FindList(argsHandle));
    return Append(*list, nullptr, sizeof(void*), true, paramHandle);
  });
}

aclError aclrtKernelArgsGetPlaceHolderBuffer(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, size_t dataSize, void** bufferAddr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"argsHandle", argsHandle}, {"paramHandle", paramHandle}, {"bufferAddr", bufferAddr}}));
    RW_TRY(RequireRange(Layer::kOuter, "dataSize", static_cast<int64_t>(dataSize), 1, INT32_MAX));
    RW_TRY_SET(KernelArgs * list, FindList(argsHandle));
    RW_TRY(RequireOpen(*list));
    RW_TRY_SET(KernelArgs::Parameter * parameter, FindParameter(*list, paramHandle));
    if (!parameter->placeholder) return Fail(ACL_ERROR_RT_PARAM_INVALID, "paramHandle %p is not a placeholder", paramHandle);
    if (parameter->data != nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "paramHandle %p has its buffer already", paramHandle);
    RW_TRY_SET(FunctionHold function, HoldFunction(list->function));
    RW_TRY_SET(unsigned char* bytes, list->owned ? Allocate(*function, dataSize) : TakeFromBack(*list, dataSize));
    parameter->data = bytes;
    parameter->data_size = static_cast<uint32_t>(dataSize);
    *bufferAddr = bytes;
    return Ok();
  });
}

aclError aclrtKernelArgsParaUpdate(aclrtArgsHandle argsHandle, aclrtParamHandle paramHandle, void* param, size_t paramSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"argsHandle", argsHandle}, {"paramHandle", paramHandle}, {"param", param}}));
    RW_TRY_SET(KernelArgs * list, FindList(argsHandle));
    RW_TRY_SET(KernelArgs::Parameter * parameter, FindParameter(*list, paramHandle));
    if (parameter->placeholder)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "paramHandle %p is a placeholder; write to the buffer that it has", paramHandle);
    if (paramSize != parameter->size)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "paramSize %zu is not the %u bytes that the argument has", paramSize, parameter->size);
    memcpy(list->bytes + parameter->offset, param, paramSize);
    return Ok();
  });
}

aclError aclrtKernelArgsFinalize(aclrtArgsHandle argsHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(KernelArgs * list, FindList(argsHandle));
    for (uint32_t i = 0; i < list->count; ++i) {
      if (list->parameters[i].placeholder && list->parameters[i].data == nullptr)
        return Fail(ACL_ERROR_RT_PARAM_INVALID, "argument %u is a placeholder without data; call aclrtKernelArgsGetPlaceHolderBuffer", i);
    }
    list->closed = true;
    return Ok();
  });
}

aclError aclrtLaunchKernel(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData, size_t argsSize, aclrtStream stream) {
  return Entry(__func__, [&] { return LaunchPlain(funcHandle, numBlocks, argsData, argsSize, nullptr, stream); });
}

aclError aclrtLaunchKernelV2(aclrtFuncHandle funcHandle, uint32_t numBlocks, const void* argsData, size_t argsSize,
                             aclrtLaunchKernelCfg* cfg, aclrtStream stream) {
  return Entry(__func__, [&] { return LaunchPlain(funcHandle, numBlocks, argsData, argsSize, cfg, stream); });
}

aclError aclrtLaunchKernelWithConfig(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                     aclrtArgsHandle argsHandle, void* reserve) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"funcHandle", funcHandle}, {"argsHandle", argsHandle}}));
    RW_TRY(RequireNull("reserve", reserve));
    RW_TRY(HoldFunction(funcHandle).status());
    RW_TRY_SET(KernelArgs * list, FindList(argsHandle));
    if (list->function != funcHandle) return Fail(ACL_ERROR_RT_PARAM_INVALID, "argsHandle %p belongs to another function", argsHandle);
    RW_TRY_SET(ArgumentBlock arguments, Assemble(*list));
    return LaunchFunction(funcHandle, ShapeOf(numBlocks), std::move(arguments), cfg, stream);
  });
}

aclError aclrtLaunchKernelWithHostArgs(aclrtFuncHandle funcHandle, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg* cfg,
                                       void* hostArgs, size_t argsSize, aclrtPlaceHolderInfo* placeHolderArray, size_t placeHolderNum) {
  return Entry(__func__, [&] {
    return LaunchWithHostArguments("funcHandle", funcHandle, ShapeOf(numBlocks), stream, cfg, {hostArgs, argsSize},
                                   {placeHolderArray, placeHolderNum});
  });
}

aclError aclrtLaunchKernelWithArgsArray(void* func, uint32_t numBlocks, aclrtStream stream, aclrtLaunchKernelCfg* cfg, void** args) {
  return Entry(__func__, [&] { return LaunchWithArray(func, ShapeOf(numBlocks), stream, cfg, args); });
}

aclError aclrtLaunchSIMTKernelWithArgsArray(void* func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize, aclrtStream stream,
                                            aclrtLaunchKernelCfg* cfg, void** args) {
  return Entry(__func__, [&] { return LaunchWithArray(func, ShapeOf(gridDim, blockDim, dynUbufSize), stream, cfg, args); });
}

aclError aclrtFunctionGetParamCount(const void* func, size_t* paramCount) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"func", func}, {"paramCount", paramCount}}));
    RW_TRY_SET(FunctionHold function, HoldFunction(func));
    RW_TRY_SET(const StandIns::Parameters parameters, ParametersOf(*function));
    *paramCount = parameters.size();
    return Ok();
  });
}

aclError aclrtFunctionGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"func", func}, {"paramOffset", paramOffset}, {"paramSize", paramSize}}));
    RW_TRY_SET(FunctionHold function, HoldFunction(func));
    RW_TRY_SET(const StandIns::Parameters parameters, ParametersOf(*function));
    if (paramIndex >= parameters.size())
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "paramIndex %zu is too large: kernel %s has %zu parameters", paramIndex, function->name,
                  parameters.size());
    size_t end = 0;
    for (size_t i = 0; i <= paramIndex; ++i) {
      *paramOffset = RoundUp(end, parameters[i].alignment);
      end = *paramOffset + parameters[i].size;
    }
    *paramSize = parameters[paramIndex].size;
    return Ok();
  });
}

// Threads are the stand-in's affair: it is called once, and may ask for the shape.
aclError aclrtLaunchSIMTKernelWithHostArgs(void* func, dim3 gridDim, dim3 blockDim, size_t dynUbufSize, aclrtStream stream,
                                           aclrtLaunchKernelCfg* cfg, void* hostArgs, size_t argsSize,
                                           aclrtPlaceHolderInfo* placeHolderArray, size_t placeHolderNum) {
  return Entry(__func__, [&] {
    const ropewayKernelShape shape = ShapeOf(gridDim, blockDim, dynUbufSize);
    return LaunchWithHostArguments("func", func, shape, stream, cfg, {hostArgs, argsSize}, {placeHolderArray, placeHolderNum});
  });
}
