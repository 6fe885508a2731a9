// The part of transfers that the runtime carries out: streams of a link, and what is queued there. Needs the link's context to be current.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"
#include "base/clock.h"
#include "base/status.h"
#include "hixl/engine/process_memory.h"
#include "hixl/engine/request.h"

namespace ropeway::transfer {

// One end of a copy; `device` is -1 for host memory.
struct Place {
  uintptr_t address;
  int32_t device;
};
struct Copy {
  Place to;
  Place from;
  size_t size;
};
// Copies by what can be done with many of them at once.
struct Copies {
  std::vector<Copy> inside_devices;
  std::vector<Copy> over_the_bus;  // host to device or back, all one way
  std::vector<Copy> inside_host;
  std::vector<Copy> of_process;  // host memory of another process, which is the remote end
  bool write = false;
  bool empty() const { return inside_devices.empty() && over_the_bus.empty() && inside_host.empty() && of_process.empty(); }
};

class CopyStream {
 public:
  CopyStream() = default;
  CopyStream(const CopyStream&) = delete;
  CopyStream& operator=(const CopyStream&) = delete;

  // Once, before anything else. The handle stays as it is, and is stale behind Destroy: any thread may wait, look and abort.
  Status Open();
  // `request` is told when all of them are done, or when the stream gave them up. Host code touches memory under the request's lease.
  Status Queue(Copies copies, std::shared_ptr<const ProcessMemory> process, const std::shared_ptr<Request>& request);
  // Waits for what is queued, and works meanwhile.
  void Wait(Deadline deadline);
  // Gives the schedules a chance whose tasks run inside of calls.
  void Look();
  // What is queued is given up.
  void Abort();
  void Destroy();

 private:
  Status QueueBatch(const std::vector<Copy>& copies);
  Status QueueOneByOne(const std::vector<Copy>& copies);
  Status QueueOnHost(Copies copies, std::shared_ptr<const ProcessMemory> process, const std::shared_ptr<Request>& request);
  Status QueueMark(const std::shared_ptr<Request>& request);

  aclrtStream stream_ = nullptr;
};

}  // namespace ropeway::transfer
