// Another process with device memory for this one: this same program, started with a hidden command. It ends when this object does,
// or when this process does, however that comes about.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace ropeway::cli {

class MemoryServer {
 public:
  // The memory is of `size` bytes, all of them written once; throws when the process does not come up.
  explicit MemoryServer(size_t size);
  ~MemoryServer();
  MemoryServer(const MemoryServer&) = delete;
  MemoryServer& operator=(const MemoryServer&) = delete;

  // What aclrtIpcMemImportByKey wants.
  const std::string& key() const { return key_; }

 private:
  pid_t child_ = 0;
  int to_child_ = -1;
  std::string key_;
};

}  // namespace ropeway::cli
