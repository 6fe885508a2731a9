// The way from this engine to one that it has connected to: what is known of its memory, and the transfers that are under way. One way
// only: the other engine needs a link of its own to come here.
//
// A link that has failed takes no more transfers; it stays until it is closed.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "base/mutex.h"
#include "hccl/link/peer_link.h"
#include "hixl/engine/channel.h"
#include "hixl/engine/copies.h"
#include "hixl/engine/face.h"
#include "hixl/engine/memory_table.h"
#include "hixl/engine/process_memory.h"
#include "hixl/engine/request.h"
#include "hixl/engine/wire.h"

namespace ropeway::transfer {

// Of the other engine.
struct RemoteRegion {
  uint64_t number = 0;
  uintptr_t address = 0;  // as the other engine has it
  size_t size = 0;
  bool device = false;
  Way way = Way::kLink;
  uintptr_t here = 0;  // where it is in this process: by address or mapping
  int32_t device_id = -1;
  std::string key;  // of a mapping
};

// Any thread.
class Link : public std::enable_shared_from_this<Link> {
 public:
  // What a link has of its engine, which outlives it.
  struct Home {
    aclrtContext context;
    const LocalMemory* memory;
  };
  // Waits for the other engine: TIMEOUT, or FAILED.
  static Result<std::shared_ptr<Link>> Open(const Home& home, const EngineName& remote, Deadline deadline);
  ~Link();

  // Queues a transfer. PARAM_INVALID: a range is not registered on either side. FAILED: the link has failed, or fails now. The deadline is
  // for asking the other engine about memory that it has registered since.
  Result<std::shared_ptr<Request>> Submit(bool write, Descriptors descriptors, Deadline deadline);
  // Until it is over; kWaiting when that is too late.
  Request::State Wait(Request& request, Deadline deadline);
  // As it is now.
  Request::State Look(Request& request);

  Status Notify(const std::string& name, const std::string& message, Deadline deadline);

  // From now on every transfer is refused for this reason, and those that are under way fail.
  void Break(const std::string& why);
  bool broken() const;
  // Everything is given up and given back.
  void Close();

 private:
  struct Plan {
    Copies copies;
    std::vector<comm::TransferItem> items;
  };
  Link(const Home& home, EngineName remote, std::string secret) : home_(home), remote_(std::move(remote)), secret_(std::move(secret)) {}

  Status Meet(Deadline deadline);
  // What the other engine has registered now.
  Status LearnRegions(Deadline deadline) RW_REQUIRES(mutex_);
  void Reach(RemoteRegion* region) RW_REQUIRES(mutex_);
  void CloseImport(const RemoteRegion& region) const;
  void Gone(uint64_t region);

  Status MakePlan(bool write, Descriptors descriptors, Plan* plan, bool* unknown) const;
  Status AddPiece(const LocalRegion& local, uintptr_t local_address, const RemoteRegion& remote, uintptr_t remote_address, size_t size,
                  Plan* plan) const;
  Status Queue(bool write, Plan plan, const std::shared_ptr<Request>& request) RW_REQUIRES(mutex_);
  Status RequireWhole() const;
  TableRef<RemoteRegion> regions() const;

  // Connections for bytes.
  void OpenPeer() RW_REQUIRES(mutex_);
  static void CallForBytes(const std::weak_ptr<Link>& link, const std::shared_ptr<comm::Peer>& peer, bool first);

  const Home home_;
  const EngineName remote_;
  const std::string secret_;
  // Set by Open.
  std::shared_ptr<Channel> channel_;
  uint32_t number_ = 0;  // what the other engine calls this link
  std::shared_ptr<const ProcessMemory> process_;
  CopyStream stream_;

  // One transfer is queued at a time; held while the other engine is asked for its regions. Never taken on the I/O thread.
  Mutex mutex_{LockRank::kHixlLink};
  std::shared_ptr<comm::Peer> peer_ RW_GUARDED_BY(mutex_);
  std::set<int32_t> enabled_ RW_GUARDED_BY(mutex_);  // devices of this process
  bool closed_ RW_GUARDED_BY(mutex_) = false;

  mutable Mutex state_mutex_{LockRank::kHixlLinkState};
  TableRef<RemoteRegion> regions_ RW_GUARDED_BY(state_mutex_) = std::make_shared<Table<RemoteRegion>>();
  std::set<uint64_t> gone_ RW_GUARDED_BY(state_mutex_);
  std::string broken_ RW_GUARDED_BY(state_mutex_);  // why
  std::vector<std::weak_ptr<Request>> under_way_ RW_GUARDED_BY(state_mutex_);
};

}  // namespace ropeway::transfer
