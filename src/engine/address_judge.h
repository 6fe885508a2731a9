// What an engine asks the memory layer about addresses that are known only when a task runs: the contents of a descriptor,
// and the copies of a graph that may be replayed long after its memory was freed (copy-and-memory.md 2.9).
#pragma once

#include <cstddef>

namespace ropeway {

class AddressJudge {
 public:
  // Where [address, address + size) is now. `usable`: inside one live block of a device or of pinned or registered memory.
  struct Verdict {
    bool usable;
    int device;  // -1: host memory
  };
  virtual Verdict Judge(const void* address, size_t size) const = 0;

 protected:
  ~AddressJudge() = default;
};

}  // namespace ropeway
