// Host memory of another process on this host, which the kernel lets us read and write (process_vm_readv) where it would let us debug it:
// one copy, and nothing of the other process's doing. Whether it does is tried out, with bytes that the other process has told.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/file_descriptor.h"

namespace ropeway::transfer {

class ProcessMemory {
 public:
  // Who and where this process is, for the other one.
  static std::string TellOwn();
  // Null when the kernel does not let us.
  static std::unique_ptr<ProcessMemory> Open(const std::string& told);

  // Any thread. False: the process is gone, or its memory is.
  bool Move(bool write, void* local, uintptr_t remote, size_t size) const;

 private:
  ProcessMemory(int32_t pid, FileDescriptor alive) : pid_(pid), alive_(std::move(alive)) {}
  bool IsAlive() const;

  const int32_t pid_;
  // The number may be another process's one day. This never is, and tells when the process has ended.
  const FileDescriptor alive_;
};

}  // namespace ropeway::transfer
