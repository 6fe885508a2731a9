// Physical memory that other processes import (rules/virtual-memory.md 2). The descriptor of its pages travels to them, and nothing
// is left to do between the processes afterwards: the kernel keeps the bytes as long as one of them has it.
#pragma once

#include <memory>

#include "base/status.h"
#include "engine/engine.h"
#include "ipc/key.h"
#include "ipc/service.h"
#include "memory/physical_memory.h"

namespace ropeway {

// The two sorts of shareable handle: a number, or a key that is written out.
struct ShareableHandle {
  uint64_t number = 0;  // 0: there is only the key
  ipc::Key key;
};

// 107000 when it was exported before. Importers have to be on a list of pids unless `everybody` is let in. Ends with the memory.
Result<ShareableHandle> ExportPhysical(PhysicalMemory& memory, bool as_number, bool everybody);
// 107000: not exported by this process, or gone.
Status AdmitToPhysical(const ipc::Key& key, const int32_t* pids, size_t count);
Status AdmitEverybodyToPhysical(const ipc::Key& key);

struct ImportedPhysical {
  std::shared_ptr<PhysicalMemory> memory;
  int exporters_device = -1;  // by physical id
};
// `device` is where the memory lies for this process, unless it is the host's; `user_id` is the API's name for that. 107000:
// unknown, gone, or exported by this very process, unless `own_too`; 207006: not on the list; 507022: the exporter does not answer.
Result<ImportedPhysical> ImportPhysical(const ipc::Key& key, Engine& engine, int device, int user_id, bool own_too);

}  // namespace ropeway
