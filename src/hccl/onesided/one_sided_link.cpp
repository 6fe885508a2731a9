// The network link of a pair of ranks, and how everything ends.
#include <algorithm>

#include "acl/acl_rt.h"
#include "base/mutex.h"
#include "hccl/link/pair_links.h"
#include "hccl/onesided/one_sided.h"

namespace ropeway::comm {
namespace {

void Received(Communicator& communicator, Request& request) {
  OneSided::Of(communicator)->mailboxes().Deliver(request.peer(), request.type(), request.body());
}

void PeerEnded(Communicator& communicator, uint32_t peer, HcclResult why) { OneSided::Of(communicator)->PeerEnded(peer, why); }

Status MayDestroy(Communicator& communicator) {
  OneSided& service = *OneSided::Of(communicator);
  if (service.AnyBound()) return Fail(HCCL_E_PARA, "memory is bound to the communicator: call HcclCommUnbindMem first");
  // Here and not in Destroyed: this thread may wait and has a context, and the caller may free the memory once it is told.
  service.Release();
  return Ok();
}

void Destroyed(Communicator& communicator) { OneSided::Of(communicator)->Close(); }

const Service kService = {kOneSidedMessages, &Received, &PeerEnded, &MayDestroy, &Destroyed};
[[maybe_unused]] const bool added = (AddService(&kService), true);

}  // namespace

std::shared_ptr<OneSided> OneSided::Of(Communicator& communicator) {
  return std::static_pointer_cast<OneSided>(
      communicator.State(kService, [&] { return std::static_pointer_cast<void>(std::make_shared<OneSided>(communicator)); }));
}

comm::Result<OneSidedRef> FindOneSided(HcclComm handle) {
  RW_TRY(comm::RequirePointer("comm", handle));
  CommunicatorHold communicator = FindCommunicator(handle);
  if (!communicator) return Fail(HCCL_E_PARA, "comm %p is not a communicator of this process", handle);
  std::shared_ptr<OneSided> service = OneSided::Of(*communicator);
  return OneSidedRef{std::move(communicator), std::move(service)};
}

namespace {

bool AnyLink(const std::vector<Descriptor>& descriptors) {
  return std::any_of(descriptors.begin(), descriptors.end(), [](const Descriptor& one) { return one.route == Route::kLink; });
}

}  // namespace

// Before the peer hears of them: the link may be up already, and its first put may come with the last word of the exchange.
void OneSided::ExposeBefore(uint32_t peer, const std::vector<Descriptor>& own) {
  if (!AnyLink(own)) return;
  const std::shared_ptr<Peer> end = PairLinks::Of(communicator_)->OwnEnd(peer);
  LockGuard lock(mutex_);
  if (end == nullptr || pairs_[peer].link == end) return;
  pairs_[peer].link = end;
  for (const LocalRegion& region : local_.all())
    if (const auto found = region.exports.find(peer); found != region.exports.end() && found->second.route == Route::kLink)
      end->Expose(found->second.number, region.ForPeer());
}

Status OneSided::OpenLink(uint32_t peer, const std::vector<Descriptor>& descriptors, Deadline deadline) {
  if (!AnyLink(descriptors)) return Ok();
  const OpenedLink opened = PairLinks::Of(communicator_)->Open(peer, deadline);
  if (opened.result != HCCL_SUCCESS)
    return Fail(opened.result, "rank %u is reached over the network only, and there is no link: %s", peer, opened.why.c_str());
  LockGuard lock(mutex_);
  pairs_[peer].link = opened.peer;
  return Ok();
}

LinkTarget OneSided::TargetOf(uint32_t peer) { return {pairs_[peer].link, communicator_.weak_from_this(), peer}; }

void OneSided::PeerEnded(uint32_t peer, HcclResult why) { mailboxes_.End(peer, why); }

void OneSided::Release() {
  ForgetWindows(communicator_);
  std::vector<std::pair<std::shared_ptr<Peer>, uint64_t>> exposed;
  {
    LockGuard lock(mutex_);
    for (auto& [peer, pair] : pairs_) {
      for (const RemoteRegion& region : pair.remote.all()) CloseRemote(region);
      pair.remote.all().clear();
    }
    for (const LocalRegion& region : local_.all())
      for (const auto& [peer, exported] : region.exports) {
        if (!exported.ipc_key.empty()) aclrtIpcMemClose(exported.ipc_key.c_str());
        if (const auto& end = pairs_[peer].link; end != nullptr) exposed.emplace_back(end, exported.number);
      }
    local_.all().clear();
  }
  for (const auto& [end, number] : exposed) end->Withdraw(number);
}

void OneSided::Close() {
  for (uint32_t peer = 0; peer < communicator_.size(); ++peer) mailboxes_.End(peer, HCCL_E_REMOTE);
}

}  // namespace ropeway::comm
