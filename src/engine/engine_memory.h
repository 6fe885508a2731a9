// Where an engine's bytes live. The memory layer hands out blocks; an engine provides the addresses and what lies behind them.
#pragma once

#include <cstddef>

namespace ropeway {

class EngineMemory {
 public:
  // Reserves addresses, once, before any block is handed out: `count` adjoining device ranges of `size_each` bytes, and one
  // range of pinned host memory. Null when the process has no room.
  virtual void* ReserveDevices(size_t count, size_t size_each) = 0;
  virtual void* ReserveHost(size_t size) = 0;
  // Addresses begin or end to be used, whole chunks of the address map at a time. False when there is no memory for them.
  virtual bool Commit(void* address, size_t size, bool huge_pages) = 0;
  virtual void Decommit(void* address, size_t size) = 0;
  // The program registers memory of its own, or takes that back. False when the machine refuses.
  virtual bool Register(void* address, size_t size) = 0;
  virtual void Unregister(void* address) = 0;
  // Where the host reaches a device address; null when it cannot.
  virtual void* HostView(const void* device_address) const = 0;

 protected:
  ~EngineMemory() = default;
};

}  // namespace ropeway
