// UCX as a process has it: its functions, its context, and the thread that everything which touches it happens on. Once open it lives as
// long as the process: UCX cannot be unloaded.
#pragma once

#include <string>

#include "hccl/link/ucx_api.h"
#include "hccl/transport/address.h"
#include "hccl/transport/io_thread.h"

namespace ropeway::comm {

class UcxContext {
 public:
  explicit UcxContext(IoThread& thread) : thread_(thread) {}
  ~UcxContext();  // only of one that could not be opened
  // Once, before anything else. `local` chooses the interface. False with the reason when there is no UCX, or it refuses.
  bool Open(const Address& local, std::string* why);

  const UcxApi& api() const { return *api_; }
  ucp_context_h handle() const { return context_; }
  IoThread& thread() const { return thread_; }
  // Whether a call of UCX failed; `why` gets its words.
  bool Failed(const char* call, ucs_status_t status, std::string* why) const;

 private:
  IoThread& thread_;
  const UcxApi* api_ = nullptr;
  ucp_context_h context_ = nullptr;
};

}  // namespace ropeway::comm
