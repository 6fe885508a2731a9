// The one-sided service of one communicator: what this rank offers to others, what it was offered, and the links between. API
// functions check their arguments and call it.
//
// Two locks, never both: `mutex_` for the tables, held shortly; Mailboxes' own for what the I/O thread delivers.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "hccl/membership/communicator.h"
#include "hccl/onesided/local_regions.h"
#include "hccl/onesided/mailbox.h"
#include "hccl/onesided/remote_regions.h"

namespace ropeway::comm {

// One item of a batch, in bytes.
struct BatchItem {
  uint64_t local;
  uint64_t remote;
  uint64_t size;
};

// Memory that all ranks have opened to each other, as one of them sees it. By rank; of the own one there is the place alone.
struct SymWindow {
  uint64_t size = 0;
  std::vector<char*> places;
  std::vector<HcclMemDesc> exports;
  std::vector<HcclMemDesc> imports;
};
// The communicator is destroyed, and its windows with it.
void ForgetWindows(const Communicator& communicator);

class OneSided {
 public:
  static std::shared_ptr<OneSided> Of(Communicator& communicator);
  explicit OneSided(Communicator& communicator);

  comm::Status Register(uint32_t peer, CommMemType type, uint64_t address, uint64_t size, HcclMemDesc* desc);
  comm::Status Deregister(const HcclMemDesc& desc);
  // Blocks until the peer calls it, too. `received` gets its descriptors.
  comm::Status Exchange(uint32_t peer, const std::vector<HcclMemDesc>& local, Deadline deadline, std::vector<HcclMemDesc>* received);
  comm::Status Enable(const HcclMemDesc& desc, CommMem* memory);
  comm::Status Disable(const HcclMemDesc& desc);
  comm::Status Batch(bool put, uint32_t peer, const std::vector<BatchItem>& items, void* stream);
  // HCCL_E_NOT_FOUND unless the pair has exchanged descriptors.
  comm::Status RequireConnection(uint32_t peer);
  // Whether the whole range lies in an enabled region of the peer.
  bool IsEnabled(uint32_t peer, uint64_t address, uint64_t size);

  // Process-wide registrations. `handle` is theirs.
  comm::Status Bind(const CommMem& memory, const void* handle);
  comm::Status Unbind(const void* handle);
  bool AnyBound();
  // The pages behind a registered range have changed: peers reach the new ones from now on.
  comm::Status Remap(const CommMem& memory);
  // Blocks until all ranks call it.
  comm::Status OpenWindow(char* memory, uint64_t size, Deadline deadline, SymWindow* window);
  comm::Status CloseWindow(const SymWindow& window);
  // Registers what is bound for every peer, exchanges and enables; once.
  comm::Status Prepare(Deadline deadline);

  // On the I/O thread.
  Mailboxes& mailboxes() { return mailboxes_; }
  void PeerEnded(uint32_t peer, HcclResult why);
  void Close();
  // The communicator is about to be destroyed, on the caller's thread: nobody reaches this rank's memory afterwards.
  void Release();

 private:
  struct Pair {
    bool connected = false;
    std::shared_ptr<Peer> link;  // null while nothing needs it
    std::vector<HcclMemDesc> offered;
    RemoteRegions remote;
  };

  struct Work;
  comm::Result<std::vector<TransferItem>> TransfersOf(bool put, uint32_t peer, const std::vector<BatchItem>& items);
  comm::Status Plan(bool put, uint32_t peer, const std::vector<BatchItem>& items, Work* work);
  comm::Status ExportTo(uint32_t peer, LocalRegion* region) RW_REQUIRES(mutex_);
  comm::Status ExportMapping(uint32_t peer, const LocalRegion& region, Export* exported);
  comm::Result<std::vector<Descriptor>> OwnDescriptors(uint32_t peer, const std::vector<HcclMemDesc>& local) const;
  void ExposeBefore(uint32_t peer, const std::vector<Descriptor>& own);
  comm::Status OpenLink(uint32_t peer, const std::vector<Descriptor>& descriptors, Deadline deadline);
  LinkTarget TargetOf(uint32_t peer) RW_REQUIRES(mutex_);
  comm::Result<Descriptor> RequireOffered(const HcclMemDesc& desc) RW_REQUIRES(mutex_);
  comm::Result<RemoteRegion*> EnableOffered(const Descriptor& descriptor, bool reserve) RW_REQUIRES(mutex_);
  comm::Status PreparePeer(uint32_t peer, Deadline deadline);

  Communicator& communicator_;
  Mailboxes mailboxes_;
  Mutex prepare_mutex_{LockRank::kHcclPrepare};  // held through Prepare, so that a second one finds it done
  bool prepared_ RW_GUARDED_BY(prepare_mutex_) = false;

  Mutex mutex_{LockRank::kHcclOneSided};
  LocalRegions local_ RW_GUARDED_BY(mutex_);
  std::map<uint32_t, Pair> pairs_ RW_GUARDED_BY(mutex_);
};

// The communicator of a handle with its one-sided service. Null: HCCL_E_PTR; unknown: HCCL_E_PARA.
struct OneSidedRef {
  CommunicatorHold communicator;
  std::shared_ptr<OneSided> service;
};
comm::Result<OneSidedRef> FindOneSided(HcclComm comm);

}  // namespace ropeway::comm
