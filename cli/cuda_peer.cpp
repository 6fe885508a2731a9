// The driver's functions, found by name; see bench/cuda_peer.h.
#include "cli/cuda_peer.h"

#include <dlfcn.h>

#include <stdexcept>

namespace ropeway::cli {
namespace {

constexpr unsigned kNonBlockingStream = 1;
constexpr unsigned kEventWithoutTiming = 2;
constexpr int kRelaxedCapture = 2;
constexpr int kInStreamOrder = 1;

template <typename Function>
bool Find(void* library, const char* symbol, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, symbol));
  return *function != nullptr;
}

}  // namespace

bool CudaPeer::Load(std::string* why_not) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *why_not = "libcuda.so.1 cannot be opened";
    return false;
  }
  Calls& c = calls_;
  Find(library, "cuMemcpyBatchAsync_v2", &c.MemcpyBatchAsync);
  Find(library, "cuMemcpyBatchAsync", &c.MemcpyBatchAsyncOld);
  const bool complete =
      Find(library, "cuInit", &c.Init) && Find(library, "cuDeviceGet", &c.DeviceGet) &&
      Find(library, "cuDevicePrimaryCtxRetain", &c.DevicePrimaryCtxRetain) &&
      Find(library, "cuDevicePrimaryCtxRelease_v2", &c.DevicePrimaryCtxRelease) && Find(library, "cuCtxSetCurrent", &c.CtxSetCurrent) &&
      Find(library, "cuGetErrorName", &c.GetErrorName) && Find(library, "cuMemAlloc_v2", &c.MemAlloc) &&
      Find(library, "cuMemFree_v2", &c.MemFree) && Find(library, "cuMemHostAlloc", &c.MemHostAlloc) &&
      Find(library, "cuMemFreeHost", &c.MemFreeHost) && Find(library, "cuStreamCreate", &c.StreamCreate) &&
      Find(library, "cuStreamDestroy_v2", &c.StreamDestroy) && Find(library, "cuStreamSynchronize", &c.StreamSynchronize) &&
      Find(library, "cuEventCreate", &c.EventCreate) && Find(library, "cuEventDestroy_v2", &c.EventDestroy) &&
      Find(library, "cuEventRecord", &c.EventRecord) && Find(library, "cuStreamWaitEvent", &c.StreamWaitEvent) &&
      Find(library, "cuMemcpyAsync", &c.MemcpyAsync) && Find(library, "cuStreamBeginCapture_v2", &c.StreamBeginCapture) &&
      Find(library, "cuStreamEndCapture", &c.StreamEndCapture) && Find(library, "cuGraphInstantiateWithFlags", &c.GraphInstantiate) &&
      Find(library, "cuGraphDestroy", &c.GraphDestroy) && Find(library, "cuGraphExecDestroy", &c.GraphExecDestroy) &&
      Find(library, "cuGraphLaunch", &c.GraphLaunch);
  if (!complete) *why_not = "libcuda.so.1 lacks a call that is needed";
  return complete;
}

std::unique_ptr<CudaPeer> CudaPeer::Open(std::string* why_not) {
  std::unique_ptr<CudaPeer> peer(new CudaPeer);
  if (!peer->Load(why_not)) return nullptr;
  int device = 0;
  void* context = nullptr;
  if (peer->calls_.Init(0) != 0 || peer->calls_.DeviceGet(&device, 0) != 0 || peer->calls_.DevicePrimaryCtxRetain(&context, device) != 0) {
    *why_not = "the NVIDIA driver gives no context on GPU 0";
    return nullptr;
  }
  peer->has_context_ = true;
  peer->Require(peer->calls_.CtxSetCurrent(context), "cuCtxSetCurrent");
  return peer;
}

CudaPeer::~CudaPeer() {
  for (void* graph : graphs_) calls_.GraphExecDestroy(graph);
  for (void* event : events_) calls_.EventDestroy(event);
  for (void* stream : streams_) calls_.StreamDestroy(stream);
  for (uint64_t block : device_blocks_) calls_.MemFree(block);
  for (void* block : pinned_blocks_) calls_.MemFreeHost(block);
  if (has_context_) calls_.DevicePrimaryCtxRelease(0);
}

void CudaPeer::Require(int result, const char* call) const {
  if (result == 0) return;
  const char* name = nullptr;
  calls_.GetErrorName(result, &name);
  throw std::runtime_error(std::string(call) + " answered " + (name != nullptr ? name : std::to_string(result)));
}

char* CudaPeer::NewDeviceMemory(size_t size_bytes) {
  uint64_t block = 0;
  Require(calls_.MemAlloc(&block, size_bytes), "cuMemAlloc");
  device_blocks_.push_back(block);
  return reinterpret_cast<char*>(block);
}

char* CudaPeer::NewPinnedMemory(size_t size_bytes) {
  void* block = nullptr;
  Require(calls_.MemHostAlloc(&block, size_bytes, 0), "cuMemHostAlloc");
  pinned_blocks_.push_back(block);
  return static_cast<char*>(block);
}

CudaPeer::Stream CudaPeer::NewStream() {
  Stream stream = nullptr;
  Require(calls_.StreamCreate(&stream, kNonBlockingStream), "cuStreamCreate");
  streams_.push_back(stream);
  return stream;
}

CudaPeer::Event CudaPeer::NewEvent() {
  Event event = nullptr;
  Require(calls_.EventCreate(&event, kEventWithoutTiming), "cuEventCreate");
  events_.push_back(event);
  return event;
}

void CudaPeer::HandOver(Stream from, Event event, Stream to) {
  Require(calls_.EventRecord(event, from), "cuEventRecord");
  Require(calls_.StreamWaitEvent(to, event, 0), "cuStreamWaitEvent");
}

void CudaPeer::Copy(void* dst, const void* src, size_t size_bytes, Stream stream) {
  Require(calls_.MemcpyAsync(reinterpret_cast<uint64_t>(dst), reinterpret_cast<uint64_t>(src), size_bytes, stream), "cuMemcpyAsync");
}

void CudaPeer::Synchronize(Stream stream) { Require(calls_.StreamSynchronize(stream), "cuStreamSynchronize"); }

void CudaPeer::CopyBatch(Batch& batch, Stream stream) {
  BatchAttributes attributes = {kInStreamOrder, {}, {}, 0};
  size_t first = 0, failed = 0;
  const size_t count = batch.sizes.size();
  if (calls_.MemcpyBatchAsync != nullptr) {
    Require(calls_.MemcpyBatchAsync(batch.dsts.data(), batch.srcs.data(), batch.sizes.data(), count, &attributes, &first, 1, stream),
            "cuMemcpyBatchAsync");
  } else {
    Require(calls_.MemcpyBatchAsyncOld(batch.dsts.data(), batch.srcs.data(), batch.sizes.data(), count, &attributes, &first, 1, &failed,
                                       stream),
            "cuMemcpyBatchAsync");
  }
}

void CudaPeer::BeginCapture(Stream stream) { Require(calls_.StreamBeginCapture(stream, kRelaxedCapture), "cuStreamBeginCapture"); }

CudaPeer::Graph CudaPeer::EndCapture(Stream stream) {
  void* captured = nullptr;
  Require(calls_.StreamEndCapture(stream, &captured), "cuStreamEndCapture");
  Graph graph = nullptr;
  const int result = calls_.GraphInstantiate(&graph, captured, 0);
  calls_.GraphDestroy(captured);
  Require(result, "cuGraphInstantiate");
  graphs_.push_back(graph);
  return graph;
}

void CudaPeer::Launch(Graph graph, Stream stream) { Require(calls_.GraphLaunch(graph, stream), "cuGraphLaunch"); }

}  // namespace ropeway::cli
