// Where an engine's bytes live. The memory layer hands out blocks; an engine provides the addresses and what lies behind them.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/shared_pages.h"

namespace ropeway {

class EngineMemory {
 public:
  // Reserves addresses, once, before any block is handed out: `size` bytes of device addresses, of which each device has the next
  // `window`, starting at `wanted` when that is not 0, and one range of pinned host memory. Null when the process has no room (there).
  virtual void* ReserveDevices(size_t window, size_t size, uintptr_t wanted) = 0;
  virtual void* ReserveHost(size_t size) = 0;
  // Addresses begin or end to be used, whole chunks of the address map at a time. False when there is no memory for them.
  virtual bool Commit(void* address, size_t size, bool huge_pages) = 0;
  virtual void Decommit(void* address, size_t size) = 0;
  // The program registers memory of its own, or takes that back. False when the machine refuses.
  virtual bool Register(void* address, size_t size) = 0;
  virtual void Unregister(void* address) = 0;
  // What the machine said to the last Commit or Register of this thread that failed, told once: the code that the call should answer (0:
  // that of the caller) and the words.
  struct Refusal {
    int code = 0;
    std::string text;
  };
  virtual Refusal TakeRefusal() { return {}; }
  // Where the host reaches device memory from now on; null when it cannot.
  virtual void* HostView(const void* device_address, size_t size) = 0;

  // --- Shared pages ---------------------------------------------------------------------------------------------------------------
  // Fresh pages full of zeros, or those behind the descriptor of another process, which the object takes over. Null: no memory,
  // or not what it should be.
  struct PagePlace {
    int device = -1;     // -1: the host
    int numa_node = -1;  // of the host's memory; -1: any
  };
  virtual std::shared_ptr<SharedPages> CreatePages(size_t, PagePlace) { return nullptr; }
  virtual std::shared_ptr<SharedPages> AdoptPages(int, size_t) { return nullptr; }
  // Committed memory becomes pages under the feet of its users, and stays them until it is decommitted. Whole chunks, and the
  // same ones each time. Null: no memory.
  virtual std::shared_ptr<SharedPages> SharePages(void*, size_t) { return nullptr; }
  // Puts pages behind reserved addresses or takes them away; whole chunks. With `host_access` host code may use the addresses.
  struct Mapping {
    void* address;
    size_t size;
    size_t offset;  // into the pages
    bool host_access;
  };
  virtual bool MapPages(const SharedPages&, const Mapping&) { return false; }
  // Whether it takes a part of the pages. Where it does not, who shares some bytes of a block shares all of it.
  virtual bool maps_parts() const { return true; }
  virtual void UnmapPages(void*, size_t) {}
  // Asked in a signal handler: true when a fault at `address` came from memory that was just being moved, and the access may be
  // tried again.
  virtual bool MovedMeanwhile(const void*) const { return false; }
  // LeaveTouch of the library that the engine is in.
  virtual bool LeaveTouch(const siginfo_t&, void*) const { return false; }

 protected:
  ~EngineMemory() = default;
};

}  // namespace ropeway
