// The C++ overloads of acl_rt_api.h: each must call the C function it stands for, with its arguments unchanged. Every
// name is replaced before the header is read, so that the calls end here and the library's functions play no part.
#define aclrtSynchronizeDevice OverloadSynchronizeDevice
#define aclrtSynchronizeStream OverloadSynchronizeStream
#define aclrtSynchronizeEvent OverloadSynchronizeEvent
#define aclrtStreamWaitEvent OverloadStreamWaitEvent
#define aclrtCreateStream OverloadCreateStream
#define aclrtCreateEvent OverloadCreateEvent
#define aclrtMemcpyBatch OverloadMemcpyBatch
#define aclrtMemcpyBatchAsync OverloadMemcpyBatchAsync
#define aclrtSetOpExecuteTimeOut OverloadSetOpExecuteTimeOut
#define aclrtMalloc OverloadMalloc
#define aclrtMallocHost OverloadMallocHost
#define aclrtPointerGetAttributes OverloadPointerGetAttributes
#define aclrtHostRegister OverloadHostRegister
#define aclrtHostGetDevicePointer OverloadHostGetDevicePointer
#define aclrtHostUnregister OverloadHostUnregister
#define aclrtMemAllocManaged OverloadMemAllocManaged
#define aclrtMemManagedPrefetchAsync OverloadMemManagedPrefetchAsync
#define aclrtMemManagedPrefetchBatchAsync OverloadMemManagedPrefetchBatchAsync
#define aclrtMemcpy OverloadMemcpy
#define aclrtMemcpyAsync OverloadMemcpyAsync
#define aclrtMemcpy2d OverloadMemcpy2d
#define aclrtMemcpy2dAsync OverloadMemcpy2dAsync
#define aclrtGetSymbolAddress OverloadGetSymbolAddress
#define aclrtGetSymbolSize OverloadGetSymbolSize
#define aclrtMemcpyFromSymbol OverloadMemcpyFromSymbol
#define aclrtMemcpyFromSymbolAsync OverloadMemcpyFromSymbolAsync
#define aclrtMemcpyToSymbol OverloadMemcpyToSymbol
#define aclrtMemcpyToSymbolAsync OverloadMemcpyToSymbolAsync
#define aclrtSynchronizeDeviceWithTimeout TargetSynchronizeDeviceWithTimeout
#define aclrtSynchronizeStreamWithTimeout TargetSynchronizeStreamWithTimeout
#define aclrtSynchronizeEventWithTimeout TargetSynchronizeEventWithTimeout
#define aclrtStreamWaitEventWithTimeout TargetStreamWaitEventWithTimeout
#define aclrtCreateStreamWithConfig TargetCreateStreamWithConfig
#define aclrtCreateEventExWithFlag TargetCreateEventExWithFlag
#define aclrtMemcpyBatchV2 TargetMemcpyBatchV2
#define aclrtMemcpyBatchAsyncV2 TargetMemcpyBatchAsyncV2
#define aclrtSetOpExecuteTimeOutV2 TargetSetOpExecuteTimeOutV2
#define aclrtMallocWithCfg TargetMallocWithCfg
#define aclrtMallocHostWithCfg TargetMallocHostWithCfg
#define aclrtHostRegisterV2 TargetHostRegisterV2

#include <gtest/gtest.h>

#include <cstdint>
#include <sstream>
#include <string>

#include "acl/acl_rt_api.h"

namespace {

std::string last_call;

// Writes the call down, arguments separated by blanks; pointers as numbers.
template <typename T>
void Append(std::ostringstream& out, T* value) {
  out << ' ' << reinterpret_cast<uintptr_t>(value);
}
void Append(std::ostringstream& out, aclrtMemManagedLocation location) { out << " location " << location.type << ' ' << location.id; }
template <typename T>
void Append(std::ostringstream& out, T value) {
  out << ' ' << value;
}
template <typename... Args>
aclError Note(const char* name, Args... args) {
  std::ostringstream out;
  out << name;
  (Append(out, args), ...);
  last_call = out.str();
  return 42;
}

template <typename T>
T* At(uintptr_t address) {
  return reinterpret_cast<T*>(address);
}

}  // namespace

extern "C" {

aclError TargetSynchronizeDeviceWithTimeout(int32_t timeout) { return Note("device", timeout); }
aclError TargetSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) { return Note("stream", stream, timeout); }
aclError TargetSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) { return Note("event", event, timeout); }
aclError TargetStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  return Note("wait", stream, event, timeout);
}
aclError TargetCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return Note("create stream", stream, priority, flag);
}
aclError TargetCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) { return Note("create ex event", event, flag); }
aclError TargetMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                             size_t* attrsIndexes, size_t numAttrs) {
  return Note("batch", dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs);
}
aclError TargetMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                  size_t* attrsIndexes, size_t numAttrs, aclrtStream stream) {
  return Note("batch async", dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, stream);
}

// What has an overload of its own name.
aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                          size_t* attrsIndexes, size_t numAttrs, size_t* failIndex) {
  return Note("c batch", dsts, destMaxs, srcs, sizes, numBatches, attrs->dstLoc.id, *attrsIndexes, numAttrs, failIndex);
}
aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                               size_t* attrsIndexes, size_t numAttrs, size_t* failIndex, aclrtStream stream) {
  return Note("c batch async", dsts, destMaxs, srcs, sizes, numBatches, attrs->dstLoc.id, *attrsIndexes, numAttrs, failIndex, stream);
}
aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) { return Note("timeout", timeout, actualTimeout); }
aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg) {
  return Note("malloc", devPtr, size, policy, cfg);
}
aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) { return Note("malloc host", ptr, size, cfg); }
aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) { return Note("attributes", ptr, attributes); }
aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return Note("register", ptr, size, type, devPtr);
}
aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) { return Note("register v2", ptr, size, flag); }
aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) { return Note("pointer", pHost, pDevice, flag); }
aclError aclrtHostUnregister(void* ptr) { return Note("unregister", ptr); }
aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag) { return Note("managed", ptr, size, flag); }
aclError aclrtMemManagedPrefetchAsync(const void* ptr, size_t size, aclrtMemManagedLocation location, uint32_t flags, aclrtStream stream) {
  return Note("prefetch", ptr, size, location, flags, stream);
}
aclError aclrtMemManagedPrefetchBatchAsync(const void** ptrs, size_t* sizes, size_t count, aclrtMemManagedLocation* prefetchLocs,
                                           size_t* prefetchLocIdxs, size_t numPrefetchLocs, uint64_t flags, aclrtStream stream) {
  return Note("prefetch batch", ptrs, sizes, count, *prefetchLocs, *prefetchLocIdxs, numPrefetchLocs, flags, stream);
}
aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  return Note("copy", dst, destMax, src, count, kind);
}
aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream) {
  return Note("copy async", dst, destMax, src, count, kind, stream);
}
aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind) {
  return Note("copy 2d", dst, dpitch, src, spitch, width, height, kind);
}
aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind,
                            aclrtStream stream) {
  return Note("copy 2d async", dst, dpitch, src, spitch, width, height, kind, stream);
}
aclError aclrtGetSymbolAddress(const void* symbol, void** devPtr) { return Note("address", symbol, devPtr); }
aclError aclrtGetSymbolSize(const void* symbol, size_t* size) { return Note("size", symbol, size); }
aclError aclrtMemcpyFromSymbol(void* dst, size_t dstMax, const void* symbol, size_t count, size_t offset, aclrtMemcpyKind kind) {
  return Note("from", dst, dstMax, symbol, count, offset, kind);
}
aclError aclrtMemcpyFromSymbolAsync(void* dst, size_t dstMax, const void* symbol, size_t count, size_t offset, aclrtMemcpyKind kind,
                                    aclrtStream stream) {
  return Note("from async", dst, dstMax, symbol, count, offset, kind, stream);
}
aclError aclrtMemcpyToSymbol(const void* symbol, const void* src, size_t count, size_t offset, aclrtMemcpyKind kind) {
  return Note("to", symbol, src, count, offset, kind);
}
aclError aclrtMemcpyToSymbolAsync(const void* symbol, const void* src, size_t count, size_t offset, aclrtMemcpyKind kind,
                                  aclrtStream stream) {
  return Note("to async", symbol, src, count, offset, kind, stream);
}

}  // extern "C"

namespace {

TEST(Overloads, SynchroniseCallsForwardToTheirTimeoutForms) {
  EXPECT_EQ(aclrtSynchronizeDevice(7), 42);
  EXPECT_EQ(last_call, "device 7");
  EXPECT_EQ(aclrtSynchronizeStream(At<void>(8), 9), 42);
  EXPECT_EQ(last_call, "stream 8 9");
  EXPECT_EQ(aclrtSynchronizeEvent(At<void>(10), 11), 42);
  EXPECT_EQ(last_call, "event 10 11");
  EXPECT_EQ(aclrtStreamWaitEvent(At<void>(12), At<void>(13), 14), 42);
  EXPECT_EQ(last_call, "wait 12 13 14");
}

TEST(Overloads, CreateCallsForwardToTheirLongForms) {
  EXPECT_EQ(aclrtCreateStream(At<aclrtStream>(16), 2, 3), 42);
  EXPECT_EQ(last_call, "create stream 16 2 3");
  EXPECT_EQ(aclrtCreateEvent(At<aclrtEvent>(24), 8), 42);
  EXPECT_EQ(last_call, "create ex event 24 8");
}

TEST(Overloads, BatchCallsWithoutAFailIndexForwardToV2) {
  EXPECT_EQ(
      aclrtMemcpyBatch(At<void*>(8), At<size_t>(16), At<void*>(24), At<size_t>(32), 5, At<aclrtMemcpyBatchAttr>(40), At<size_t>(48), 6),
      42);
  EXPECT_EQ(last_call, "batch 8 16 24 32 5 40 48 6");
  EXPECT_EQ(aclrtMemcpyBatchAsync(At<void*>(8), At<size_t>(16), At<void*>(24), At<size_t>(32), 5, At<aclrtMemcpyBatchAttr>(40),
                                  At<size_t>(48), 6, At<void>(56)),
            42);
  EXPECT_EQ(last_call, "batch async 8 16 24 32 5 40 48 6 56");
}

// Pointers to anything: the types are taken off, and the numbers go on as they are.
TEST(Overloads, MemoryOfAnyType) {
  aclrtMallocConfig* const config = At<aclrtMallocConfig>(64);
  EXPECT_EQ(aclrtMalloc(At<float*>(8), 3), 42);
  EXPECT_EQ(last_call, "malloc 8 3 0 0");
  aclrtMalloc(At<float*>(8), 3, config);
  EXPECT_EQ(last_call, "malloc 8 3 0 64");
  aclrtMalloc(At<float*>(8), 3, ACL_MEM_MALLOC_NORMAL_ONLY);
  EXPECT_EQ(last_call, "malloc 8 3 2 0");
  aclrtMallocHost(At<float*>(8), 3);
  EXPECT_EQ(last_call, "malloc host 8 3 0");
  aclrtPointerGetAttributes(At<const float>(8), At<aclrtPtrAttributes>(16));
  EXPECT_EQ(last_call, "attributes 8 16");
  aclrtHostRegister(At<float>(8), 3, ACL_HOST_REGISTER_READONLY, At<float*>(16));
  EXPECT_EQ(last_call, "register 8 3 8 16");
  aclrtHostRegister(At<float>(8), 3, ACL_HOST_REG_MAPPED);
  EXPECT_EQ(last_call, "register v2 8 3 2");
  aclrtHostGetDevicePointer(At<float>(8), At<float*>(16), 0);
  EXPECT_EQ(last_call, "pointer 8 16 0");
  aclrtHostUnregister(At<float>(8));
  EXPECT_EQ(last_call, "unregister 8");
  aclrtMemAllocManaged(At<float*>(8), 3);
  EXPECT_EQ(last_call, "managed 8 3 1");
  const aclrtMemManagedLocation place = {ACL_MEM_LOCATIONTYPE_DEVICE, 5};
  aclrtMemManagedPrefetchAsync(At<const float>(8), 3, place, 0, At<void>(16));
  EXPECT_EQ(last_call, "prefetch 8 3 location 1 5 0 16");
  aclrtMemManagedPrefetchBatchAsync(At<const float*>(8), At<size_t>(16), 3, place, 7, At<void>(24));
  EXPECT_EQ(last_call, "prefetch batch 8 16 3 location 1 5 0 1 7 24");
  aclrtSetOpExecuteTimeOut(9, At<uint64_t>(8));
  EXPECT_EQ(last_call, "timeout 9 8");
}

TEST(Overloads, CopiesOfAnyType) {
  EXPECT_EQ(aclrtMemcpy(At<float>(8), 1, At<const char>(16), 2, ACL_MEMCPY_DEFAULT), 42);
  EXPECT_EQ(last_call, "copy 8 1 16 2 4");
  aclrtMemcpyAsync(At<float>(8), 1, At<char>(16), 2, ACL_MEMCPY_DEFAULT, At<void>(24));
  EXPECT_EQ(last_call, "copy async 8 1 16 2 4 24");
  aclrtMemcpy2d(At<float>(8), 1, At<char>(16), 2, 3, 4, ACL_MEMCPY_DEFAULT);
  EXPECT_EQ(last_call, "copy 2d 8 1 16 2 3 4 4");
  aclrtMemcpy2dAsync(At<float>(8), 1, At<char>(16), 2, 3, 4, ACL_MEMCPY_DEFAULT, At<void>(24));
  EXPECT_EQ(last_call, "copy 2d async 8 1 16 2 3 4 4 24");
}

TEST(Overloads, BatchesOfAnyTypeWithOneAttribute) {
  aclrtMemcpyBatchAttr attribute{};
  attribute.dstLoc.id = 7;
  size_t* const fail = At<size_t>(48);
  aclrtMemcpyBatch(At<float*>(8), At<size_t>(16), At<char*>(24), At<size_t>(32), 5, attribute);
  EXPECT_EQ(last_call.substr(0, 17), "batch 8 16 24 32 ");
  aclrtMemcpyBatch(At<float*>(8), At<size_t>(16), At<char*>(24), At<size_t>(32), 5, attribute, fail);
  EXPECT_EQ(last_call, "c batch 8 16 24 32 5 7 0 1 48");
  aclrtMemcpyBatchAsync(At<float*>(8), At<size_t>(16), At<char*>(24), At<size_t>(32), 5, attribute, At<void>(56));
  EXPECT_EQ(last_call.substr(0, 23), "batch async 8 16 24 32 ");
  aclrtMemcpyBatchAsync(At<float*>(8), At<size_t>(16), At<char*>(24), At<size_t>(32), 5, attribute, fail, At<void>(56));
  EXPECT_EQ(last_call, "c batch async 8 16 24 32 5 7 0 1 48 56");
}

TEST(Overloads, VariablesByTheirNames) {
  static int variable[4];
  const std::string at = std::to_string(reinterpret_cast<uintptr_t>(&variable));
  EXPECT_EQ(aclrtGetSymbolAddress(variable, At<void*>(8)), 42);
  EXPECT_EQ(last_call, "address " + at + " 8");
  aclrtGetSymbolSize(variable, At<size_t>(8));
  EXPECT_EQ(last_call, "size " + at + " 8");
  aclrtMemcpyFromSymbol(At<void>(8), 1, variable, 2, 3, ACL_MEMCPY_DEFAULT);
  EXPECT_EQ(last_call, "from 8 1 " + at + " 2 3 4");
  aclrtMemcpyFromSymbolAsync(At<void>(8), 1, variable, 2, 3, ACL_MEMCPY_DEFAULT, At<void>(16));
  EXPECT_EQ(last_call, "from async 8 1 " + at + " 2 3 4 16");
  aclrtMemcpyToSymbol(variable, At<void>(8), 2, 3, ACL_MEMCPY_DEFAULT);
  EXPECT_EQ(last_call, "to " + at + " 8 2 3 4");
  aclrtMemcpyToSymbolAsync(variable, At<void>(8), 2, 3, ACL_MEMCPY_DEFAULT, At<void>(16));
  EXPECT_EQ(last_call, "to async " + at + " 8 2 3 4 16");
}

}  // namespace
