// Owners for what the C API hands out, and one way to turn its error codes into exceptions that carry the library's own
// message. Header only, because the benchmark programs use it as well.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "ropeway/ropeway.h"

namespace ropeway::cli {

// The library's message for the newest failure on this thread; empty when it has none.
inline std::string TakeErrorText() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? std::string() : std::string(text);
}

// What a refused call throws: the call, its code, and what the library said about it.
class AclFailure : public std::runtime_error {
 public:
  AclFailure(const char* call, aclError code)
      : std::runtime_error(std::string(call) + " returned " + std::to_string(code) + "\n" + TakeErrorText()), code_(code) {}
  aclError code() const { return code_; }

 private:
  aclError code_;
};

inline void Check(aclError code, const char* call) {
  if (code != ACL_SUCCESS) throw AclFailure(call, code);
}

#define RW_ACL(call) ::ropeway::cli::Check((call), #call)

// Device `id` is current on this thread while this lives.
class DeviceScope {
 public:
  explicit DeviceScope(int32_t id) : id_(id) { RW_ACL(aclrtSetDevice(id)); }
  ~DeviceScope() { aclrtResetDevice(id_); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int32_t id_;
};

// Device memory of the current device. The bytes are reached through view(): data() is not for host access.
class DeviceBlock {
 public:
  explicit DeviceBlock(size_t size) : size_(size) {
    void* block = nullptr;
    RW_ACL(aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST));
    block_.reset(block);
  }
  void* at(size_t offset) const { return static_cast<uint8_t*>(block_.get()) + offset; }
  void* data() const { return block_.get(); }
  // Asked for when it is needed: a GPU's memory has none.
  uint8_t* view() const {
    if (view_ == nullptr) RW_ACL(ropewayHostView(block_.get(), size_, &view_));
    return static_cast<uint8_t*>(view_);
  }
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(void* block) const { aclrtFree(block); }
  };
  std::unique_ptr<void, Free> block_;
  mutable void* view_ = nullptr;
  size_t size_;
};

// Pinned host memory.
class PinnedBlock {
 public:
  explicit PinnedBlock(size_t size) : size_(size) {
    void* block = nullptr;
    RW_ACL(aclrtMallocHost(&block, size));
    block_.reset(static_cast<uint8_t*>(block));
  }
  uint8_t* at(size_t offset) const { return block_.get() + offset; }
  uint8_t* data() const { return block_.get(); }
  uint8_t* view() const { return block_.get(); }  // as DeviceBlock has it
  size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(uint8_t* block) const { aclrtFreeHost(block); }
  };
  std::unique_ptr<uint8_t, Free> block_;
  size_t size_;
};

class Stream {
 public:
  Stream() {
    aclrtStream stream = nullptr;
    RW_ACL(aclrtCreateStream(&stream));
    stream_.reset(stream);
  }
  aclrtStream get() const { return stream_.get(); }
  void Synchronize() const { RW_ACL(aclrtSynchronizeStream(stream_.get())); }

 private:
  struct Destroy {
    void operator()(void* stream) const { aclrtDestroyStream(stream); }
  };
  std::unique_ptr<void, Destroy> stream_;
};

class Event {
 public:
  Event() {
    aclrtEvent event = nullptr;
    RW_ACL(aclrtCreateEvent(&event));
    event_.reset(event);
  }
  // Of the kind that can be captured.
  explicit Event(uint32_t flag) {
    aclrtEvent event = nullptr;
    RW_ACL(aclrtCreateEventExWithFlag(&event, flag));
    event_.reset(event);
  }
  aclrtEvent get() const { return event_.get(); }

 private:
  struct Destroy {
    void operator()(void* event) const { aclrtDestroyEvent(event); }
  };
  std::unique_ptr<void, Destroy> event_;
};

// What `record` submits to `origin`, and to streams that join it through events, captured instead of run.
class Graph {
 public:
  template <typename Record>
  Graph(const Stream& origin, Record record) {
    RW_ACL(aclmdlRICaptureBegin(origin.get(), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    aclmdlRI graph = nullptr;
    try {
      record();
    } catch (...) {
      // The streams leave the capture; what was captured until then is of no use.
      if (aclmdlRICaptureEnd(origin.get(), &graph) == ACL_SUCCESS) aclmdlRIDestroy(graph);
      throw;
    }
    RW_ACL(aclmdlRICaptureEnd(origin.get(), &graph));
    graph_.reset(graph);
  }
  void Replay(const Stream& stream) const { RW_ACL(aclmdlRIExecuteAsync(graph_.get(), stream.get())); }

 private:
  struct Destroy {
    void operator()(void* graph) const { aclmdlRIDestroy(graph); }
  };
  std::unique_ptr<void, Destroy> graph_;
};

}  // namespace ropeway::cli
