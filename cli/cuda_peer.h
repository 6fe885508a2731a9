// The NVIDIA driver itself, as a peer to measure the CUDA engine against: the same copies by plain driver calls. It is
// opened at run time and declared here, so the command builds without any part of CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ropeway::cli {

// The first GPU. Calls belong to the thread that opened it; failures throw.
class CudaPeer {
 public:
  using Stream = void*;
  using Event = void*;
  using Graph = void*;  // ready to be launched

  // Null when there is no driver or no GPU; `why_not` then says what is missing.
  static std::unique_ptr<CudaPeer> Open(std::string* why_not);
  ~CudaPeer();
  CudaPeer(const CudaPeer&) = delete;
  CudaPeer& operator=(const CudaPeer&) = delete;

  // All of it goes back with the peer.
  char* NewDeviceMemory(size_t size_bytes);
  char* NewPinnedMemory(size_t size_bytes);
  Stream NewStream();
  Event NewEvent();

  // Host and device share their addresses, so a copy needs no direction.
  void Copy(void* dst, const void* src, size_t size_bytes, Stream stream);
  void Synchronize(Stream stream);
  // What comes to `to` now waits for what `from` has until now.
  void HandOver(Stream from, Event event, Stream to);

  // The driver's own batch call; not every driver has one.
  bool has_batches() const { return calls_.MemcpyBatchAsync != nullptr || calls_.MemcpyBatchAsyncOld != nullptr; }
  struct Batch {
    std::vector<uint64_t> dsts, srcs;
    std::vector<size_t> sizes;
  };
  void CopyBatch(Batch& batch, Stream stream);

  // What `record` submits to `stream`, captured.
  template <typename Record>
  Graph Capture(Stream stream, Record record) {
    BeginCapture(stream);
    record();
    return EndCapture(stream);
  }
  void Launch(Graph graph, Stream stream);

 private:
  struct MemLocation {
    int type, id;
  };
  struct BatchAttributes {
    int source_access_order;
    MemLocation source, target;
    unsigned flags;
  };
  struct Calls {
    int (*Init)(unsigned);
    int (*DeviceGet)(int*, int);
    int (*DevicePrimaryCtxRetain)(void**, int);
    int (*DevicePrimaryCtxRelease)(int);
    int (*CtxSetCurrent)(void*);
    int (*GetErrorName)(int, const char**);
    int (*MemAlloc)(uint64_t*, size_t);
    int (*MemFree)(uint64_t);
    int (*MemHostAlloc)(void**, size_t, unsigned);
    int (*MemFreeHost)(void*);
    int (*StreamCreate)(void**, unsigned);
    int (*StreamDestroy)(void*);
    int (*StreamSynchronize)(void*);
    int (*EventCreate)(void**, unsigned);
    int (*EventDestroy)(void*);
    int (*EventRecord)(void*, void*);
    int (*StreamWaitEvent)(void*, void*, unsigned);
    int (*MemcpyAsync)(uint64_t, uint64_t, size_t, void*);
    int (*StreamBeginCapture)(void*, int);
    int (*StreamEndCapture)(void*, void**);
    int (*GraphInstantiate)(void**, void*, unsigned long long);
    int (*GraphDestroy)(void*);
    int (*GraphExecDestroy)(void*);
    int (*GraphLaunch)(void*, void*);
    // From CUDA 13 on, and in 12.8 and 12.9, where it also told the item that failed.
    int (*MemcpyBatchAsync)(uint64_t*, uint64_t*, size_t*, size_t, BatchAttributes*, size_t*, size_t, void*);
    int (*MemcpyBatchAsyncOld)(uint64_t*, uint64_t*, size_t*, size_t, BatchAttributes*, size_t*, size_t, size_t*, void*);
  };

  CudaPeer() = default;
  bool Load(std::string* why_not);
  void Require(int result, const char* call) const;
  void BeginCapture(Stream stream);
  Graph EndCapture(Stream stream);

  Calls calls_ = {};
  bool has_context_ = false;
  std::vector<uint64_t> device_blocks_;
  std::vector<void*> pinned_blocks_, streams_, events_, graphs_;
};

}  // namespace ropeway::cli
