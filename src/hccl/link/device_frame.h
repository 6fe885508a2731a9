// Device memory that host code cannot reach (a GPU's) on its way over the TCP link: a frame at a time goes through host memory, which the
// engine's copies fill or empty by way of its pinned slots. While they do, the socket has what was sent before, and the network goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"

namespace ropeway::comm {

class DeviceFrame {
 public:
  explicit DeviceFrame(uint64_t most_bytes) : bytes_(new char[most_bytes]) {}

  // Host memory in the place of [device, + size).
  char* Add(aclrtContext context, char* device, uint64_t size);
  // All of it, from the device or to it; the caller has the lease. False when the runtime refuses.
  bool Fetch() const { return Move(true); }
  bool Store() const { return Move(false); }

 private:
  struct Part {
    aclrtContext context;
    char* device;
    char* host;
    uint64_t size;
  };
  bool Move(bool fetches) const;

  std::unique_ptr<char[]> bytes_;
  uint64_t used_ = 0;
  std::vector<Part> parts_;
};

}  // namespace ropeway::comm
