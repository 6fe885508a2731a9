// Device memory of this process that others may have, and memory of others that this one has (rules/ipc.md 1). An
// export is a block that moved into shared pages; an import is a mapping of them with an address of its own.
//
// The bytes need no keeper: they are there as long as any process maps them. What an exporter keeps is the block's addresses,
// which are not used again while an import is open: the connection that every import holds says so.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "ipc/service.h"
#include "memory/memory.h"

namespace ropeway {

class ExportedMemory;

class IpcMemory {
 public:
  static IpcMemory& Get();

  // A new key for [address, address + size), which must lie in one live device block. `everybody`: no list of processes.
  Result<std::string> Export(Memory& memory, const void* address, size_t size, bool everybody);
  // More processes on the list of an export of this process.
  Status Admit(const char* key, const int32_t* pids, size_t count);

  struct Imported {
    void* address;
    int exporter_device;  // physical, as the exporter knows it
  };
  Result<Imported> Import(Memory& memory, const char* key, int device, const char* call, const void* caller);

  // One import of the key, the oldest; if there is none, the export.
  Status Close(Memory& memory, const char* key);
  Status CloseAt(Memory& memory, const void* address);
  // The device closed: nobody uses these addresses any more.
  void CloseImportsOf(Memory& memory, int device);

 private:
  struct OpenImport {
    uintptr_t address;
    uintptr_t base;  // of the reservation
    size_t size;
    int device;
    std::shared_ptr<ipc::Connection> connection;
  };
  using Imports = std::multimap<std::string, OpenImport>;  // by key, the oldest first
  void Drop(Memory& memory, const OpenImport& import);
  void ForgetDeadExports() RW_REQUIRES(mutex_);

  Mutex mutex_{LockRank::kIpcMemory};
  std::map<std::string, std::shared_ptr<ExportedMemory>> exports_ RW_GUARDED_BY(mutex_);  // by key
  Imports imports_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway
