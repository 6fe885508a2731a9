// The streams, devices and memory of another process, by the table that its library has of itself (src/api/state_table.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/other_memory.h"

namespace ropeway::cli {

struct StreamState {
  int id = 0;
  int device = 0;
  bool is_default = false;
  bool destroyed = false;  // and still has work
  uint64_t pending = 0;    // tasks
  uint64_t bytes = 0;      // that they move or set
  uint64_t done = 0;       // tasks
  std::string doing;       // "runs", "is ready", "waits", "stopped", "captured", "being aborted"
  std::string head;        // the call that submitted the first task that is not done; empty: there is none
  std::string head_kind;
  std::string waits_for;  // in words; empty: for nothing but its turn
  int error = 0;          // that the next synchronise will deliver
};

struct MemoryState {
  int device = -1;  // -1: pinned host memory
  uint64_t blocks = 0, bytes = 0, peak = 0, capacity = 0;
};

struct ProcessState {
  std::string release;
  bool started = false;  // a device has been used
  std::vector<StreamState> streams;
  std::vector<MemoryState> memory;  // of devices that are used, and of the host
};

// Throws CannotLook where the table is none, or of another release that lies elsewhere.
ProcessState ReadProcessState(OtherMemory& memory, uint64_t table_address);

}  // namespace ropeway::cli
