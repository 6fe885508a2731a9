// The network link of a pair of ranks, and how everything ends.
#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

#include "acl/acl_rt.h"
#include "hccl/onesided/one_sided.h"

namespace ropeway::comm {
namespace {

std::string IpOf(const Address& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.valid()) inet_ntop(address.family == 4 ? AF_INET : AF_INET6, address.bytes, text, sizeof text);
  return text;
}

void Received(Communicator& communicator, const Request& request) {
  OneSided& service = *OneSided::Of(communicator);
  if (request.type() == kLinkNote)
    service.HearNote(request.peer(), request.body());
  else
    service.mailboxes().Deliver(request.peer(), request.type(), request.body());
}

void PeerEnded(Communicator& communicator, uint32_t peer, HcclResult why) { OneSided::Of(communicator)->PeerEnded(peer, why); }

HcclResult MayDestroy(Communicator& communicator) {
  return comm::Entry("HcclCommDestroy", [&]() -> Status {
    OneSided& service = *OneSided::Of(communicator);
    if (service.AnyBound()) return Fail(HCCL_E_PARA, "memory is bound to the communicator: call HcclCommUnbindMem first");
    // Here and not in Destroyed: this thread may wait and has a context, and the caller may free the memory once it is told.
    service.Release();
    return Ok();
  });
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
  std::shared_ptr<Communicator> communicator = FindCommunicator(handle);
  if (communicator == nullptr) return Fail(HCCL_E_PARA, "comm %p is not a communicator of this process", handle);
  OneSidedRef found{communicator, OneSided::Of(*communicator)};
  return found;
}

// Both sides see both lists, so both come to the same answer.
bool OneSided::NeedsLink(uint32_t peer, const std::vector<Descriptor>& descriptors) {
  std::lock_guard lock(mutex_);
  if (pairs_[peer].link != nullptr) return false;
  return std::any_of(descriptors.begin(), descriptors.end(), [](const Descriptor& one) { return one.route == Route::kLink; });
}

Status OneSided::OpenLink(uint32_t peer, Deadline deadline) {
  std::string why;
  Link* const link = OpenUcxLink(IpOf(communicator_.self().address), &why);
  const std::shared_ptr<Peer> end = link == nullptr ? nullptr : link->NewPeer();
  std::string hello;
  if (end != nullptr) {
    ExposeAll(peer, end);
    hello.assign(reinterpret_cast<const char*>(end->incoming_key().data()), sizeof(LinkKey));
    hello += link->address();
  }
  // An empty one tells the peer that there is nothing to wait for.
  communicator_.Send(peer, kLinkHello, hello);
  std::string body;
  const HcclResult result = mailboxes_.Take(peer, kLinkHello, deadline, &body);
  if (end == nullptr) return Fail(HCCL_E_NOT_SUPPORT, "rank %u is reached over the network only, and %s", peer, why.c_str());
  if (result != HCCL_SUCCESS) return Fail(result, "rank %u opened no link: %s", peer, comm::ResultMeaning(result));
  if (body.size() <= sizeof(LinkKey)) return Fail(HCCL_E_NOT_SUPPORT, "rank %u has no UCX: install libucx0 there", peer);
  LinkKey key;
  memcpy(key.data(), body.data(), key.size());
  end->Admit(body.substr(key.size()), [weak = communicator_.weak_from_this(), peer](const std::string& note) {
    if (const auto communicator = weak.lock()) communicator->Send(peer, kLinkNote, note);
  });
  // A side that connects too early is not heard.
  communicator_.Send(peer, kLinkReady, "");
  if (const HcclResult ready = mailboxes_.Take(peer, kLinkReady, deadline, &body); ready != HCCL_SUCCESS)
    return Fail(ready, "rank %u opened no link: %s", peer, comm::ResultMeaning(ready));
  end->Connect(key);
  return Ok();
}

void OneSided::HearNote(uint32_t peer, const std::string& note) {
  std::lock_guard lock(mutex_);
  const auto found = pairs_.find(peer);
  if (found != pairs_.end() && found->second.link != nullptr) found->second.link->Hear(note);
}

void OneSided::ExposeAll(uint32_t peer, const std::shared_ptr<Peer>& end) {
  std::lock_guard lock(mutex_);
  pairs_[peer].link = end;
  for (const LocalRegion& region : local_.all())
    if (const auto found = region.exports.find(peer); found != region.exports.end() && found->second.route == Route::kLink)
      end->Expose(found->second.number, region.view, region.size);
}

LinkTarget OneSided::TargetOf(uint32_t peer) { return {pairs_[peer].link, communicator_.weak_from_this(), peer}; }

void OneSided::PeerEnded(uint32_t peer, HcclResult why) {
  mailboxes_.End(peer, why);
  std::lock_guard lock(mutex_);
  const auto found = pairs_.find(peer);
  if (found == pairs_.end() || found->second.link == nullptr) return;
  found->second.link->Close({why == HCCL_SUCCESS ? HCCL_E_REMOTE : why, "the rank has left the communicator"});
}

void OneSided::Release() {
  std::vector<std::pair<std::shared_ptr<Peer>, uint64_t>> exposed;
  {
    std::lock_guard lock(mutex_);
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
  std::lock_guard lock(mutex_);
  for (auto& [peer, pair] : pairs_)
    if (pair.link != nullptr) pair.link->Close({HCCL_E_REMOTE, "the communicator was destroyed"});
}

}  // namespace ropeway::comm
