// An engine at work, from Initialize to Finalize: its memory, its server, its links, and the requests that nobody has heard the end of.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "acl/acl_rt.h"
#include "base/mutex.h"
#include "hixl/engine/connect_pool.h"
#include "hixl/engine/face.h"
#include "hixl/engine/link.h"
#include "hixl/engine/memory_table.h"
#include "hixl/engine/options.h"
#include "hixl/engine/request.h"
#include "hixl/engine/server.h"

namespace ropeway::transfer {

// Any thread.
class Engine {
 public:
  // Needs a device. PARAM_INVALID: a name or an option; FAILED: no device, or it cannot listen.
  static Result<std::unique_ptr<Engine>> Start(const std::string& name, const Texts& options);
  ~Engine();

  Status RegisterMem(uintptr_t address, size_t size, int type, void** handle);
  Status DeregisterMem(void* handle);
  Status Connect(const std::string& remote, int32_t limit_ms);
  Status Disconnect(const std::string& remote);
  Status ConnectLater(const std::string& remote, int32_t limit_ms);
  Status DisconnectLater(const std::string& remote);
  const ConnectPool& pool() const { return pool_; }
  Status TransferSync(const std::string& remote, int operation, Descriptors descriptors, int32_t limit_ms);
  Status TransferAsync(const std::string& remote, int operation, Descriptors descriptors, const void* user_data, void** request);
  Status RequestState(void* request, ::hixl::TransferStatus* status);
  Status RequestStates(uint32_t most, bool skip_waiting, std::vector<::hixl::TransferResult>* results);
  Status SendNotify(const std::string& remote, const std::string& name, const std::string& message, int32_t limit_ms);
  void TakeNotifies(Texts* notifies);

 private:
  using LinkRef = std::shared_ptr<Link>;
  struct Open {
    std::shared_ptr<Request> request;
    LinkRef link;
    std::string remote;
    const void* user_data;
  };

  Engine(EngineName name, const Options& options, aclrtContext context);
  // As Connect, for those who have looked at the time limit.
  Status ConnectUntil(const std::string& remote, Deadline deadline);
  // NOT_CONNECTED. Nothing while it is being made.
  Result<LinkRef> FindLink(const std::string& remote);
  // The same, and makes it if the engine connects by itself.
  Result<LinkRef> LinkFor(const std::string& remote, Deadline deadline);
  // The link is dropped, if it is still this one. Its requests are forgotten only when the program drops it.
  void Drop(const std::string& remote, const Link* link, bool forget_requests);
  // What a transfer that failed means for its link.
  Status Settle(Status status, const std::string& remote, const LinkRef& link);
  Result<std::shared_ptr<Request>> Submit(const std::string& remote, int operation, Descriptors descriptors, Deadline connect_by,
                                          int64_t limit_ms, LinkRef* link);
  ::hixl::TransferStatus StateOf(const Open& open);
  uint32_t Notified(std::string name, std::string message);

  const EngineName name_;
  const Options options_;
  const aclrtContext context_;
  LocalMemory memory_;
  std::shared_ptr<Server> server_;

  mutable Mutex mutex_{LockRank::kHixlEngine};
  Condition link_made_;                                         // or could not be
  std::map<std::string, LinkRef> links_ RW_GUARDED_BY(mutex_);  // null: somebody is connecting
  std::map<uint64_t, Open> requests_ RW_GUARDED_BY(mutex_);     // by number, which is the order of submits
  Texts notifies_ RW_GUARDED_BY(mutex_);
  ConnectPool pool_;  // last: its threads use the others
};

}  // namespace ropeway::transfer
