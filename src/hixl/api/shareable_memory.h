// Memory that programs allocate to hand it to other processes: physical memory with addresses of its own.
#pragma once

#include <map>

#include "acl/acl_rt.h"
#include "base/mutex.h"
#include "base/status.h"
#include "hixl/engine/face.h"

namespace ropeway::transfer {

// Any thread.
class ShareableMemory {
 public:
  static ShareableMemory& Get();
  uint32_t Malloc(const Call& call, int type, size_t size, void** address);
  uint32_t Free(const Call& call, void* address);
  uint32_t Export(const Call& call, void* address, aclrtMemFabricHandle* handle);

 private:
  struct Block {
    aclrtDrvMemHandle memory = nullptr;
    bool exported = false;
    aclrtMemFabricHandle handle{};  // the first export's
  };
  static Status Map(aclrtDrvMemHandle memory, size_t size, void** address);

  Mutex mutex_{LockRank::kHixlShareable};
  std::map<void*, Block> blocks_ RW_GUARDED_BY(mutex_);
};

}  // namespace ropeway::transfer
