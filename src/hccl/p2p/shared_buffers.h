// Memory that this rank lets ranks in other processes of the host read, and what it reads of theirs. To export and import takes two
// processes and a mapping, and programs send from the same blocks again and again: so a block is exported as a whole, and stays so while it
// is in use. Whoever has not used an import for a second closes it, because an exporter's freed memory comes back no earlier. Everything
// here belongs to the I/O thread.
//
// A key never means other memory than it did: it dies with its block, and an exporter asks whether it lives before it is used again.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "acl/acl_rt.h"
#include "hccl/transport/io_thread.h"

namespace ropeway::comm {

class SharedBuffers : public std::enable_shared_from_this<SharedBuffers> {
 public:
  // Where bytes are for a peer: at an offset of the memory that a key opens.
  struct Place {
    std::string key;
    uint64_t offset = 0;
  };
  // Lets the process of rank `peer`, which is `pid`, read [buffer, + bytes) until it is given back with GiveBack. False: this memory cannot
  // be exported.
  bool Export(aclrtContext context, uint32_t peer, int32_t pid, void* buffer, uint64_t bytes, Place* place);
  // The address of `bytes` that a peer has exported, until it is given back; null when it cannot be had, or is not where it says.
  const void* Import(aclrtContext context, const Place& place, uint64_t bytes);
  // One use of an export or import is over.
  void GiveBack(const std::string& key);
  // Everything is closed, used or not.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;
  struct Shared {
    aclrtContext context;
    const char* address;  // of an import; of an export, the block's base
    uint64_t bytes = 0;   // of an export
    int users = 0;
    Clock::time_point used = {};
  };
  using Block = std::pair<const void*, uint32_t>;  // its base, and for whom

  std::string ExportBlock(aclrtContext context, uint32_t peer, int32_t pid, const char* base, uint64_t bytes);
  void Close(const std::string& key);
  void Use(const std::string& key);
  void CloseIdle();
  void CloseIdleLater();

  std::map<std::string, Shared> shared_;   // by key, exports and imports
  std::map<Block, std::string> exported_;  // keys of exports
  bool waiting_ = false;                   // for the time to close what is idle
};

}  // namespace ropeway::comm
