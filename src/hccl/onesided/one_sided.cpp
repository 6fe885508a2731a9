// What a rank offers and what it was offered: registration, exchange, access. Links are in one_sided_link.cpp, batches in
// batch.cpp.
#include "hccl/onesided/one_sided.h"

#include <algorithm>
#include <cstring>

#include "acl/acl_rt.h"
#include "hccl/bootstrap/bootstrap.h"
#include "hccl/link/pair_links.h"

namespace ropeway::comm {
namespace {

Descriptor Describe(uint32_t exporter, uint32_t importer, const LocalRegion& region) {
  const Export& exported = region.exports.at(importer);
  Descriptor descriptor{};
  descriptor.exporter = exporter;
  descriptor.importer = importer;
  descriptor.magic = kDescriptorMagic;
  descriptor.region = exported.number;
  descriptor.address = region.address;
  descriptor.size = region.size;
  descriptor.type = region.type;
  descriptor.route = exported.route;
  memcpy(descriptor.ipc_key, exported.ipc_key.c_str(), exported.ipc_key.size() + 1);
  return descriptor;
}

}  // namespace

OneSided::OneSided(Communicator& communicator) : communicator_(communicator) {}

Status OneSided::Register(uint32_t peer, CommMemType type, uint64_t address, uint64_t size, HcclMemDesc* desc) {
  LockGuard lock(mutex_);
  RW_TRY_SET(LocalRegion * region, local_.Add(type, address, size));
  if (region->exports.contains(peer)) {
    ++region->exports[peer].references;
  } else if (Status status = ExportTo(peer, region); !status.ok()) {
    region->exports.erase(peer);
    local_.RemoveIfUnused(region);
    return status;
  }
  *desc = Pack(Describe(communicator_.rank(), peer, *region));
  return Ok();
}

Status OneSided::ExportTo(uint32_t peer, LocalRegion* region) {
  Export& exported = region->exports[peer];
  exported.number = local_.NextNumber();
  exported.references = 1;
  if (communicator_.SameProcess(peer) && !NetworkInsideHost()) {
    exported.route = Route::kAddress;
    return Ok();
  }
  if (communicator_.SameHost(peer) && region->type == COMM_MEM_TYPE_DEVICE && !NetworkInsideHost())
    RW_TRY(ExportMapping(peer, *region, &exported));
  if (exported.route == Route::kMapping) return Ok();
  if (region->view == nullptr && !MovesDeviceMemory(ChosenLink()))
    return Fail(
        HCCL_E_NOT_SUPPORT,
        "UCX moves no device memory of this engine, so rank %u cannot be given it: use ROPEWAY_HCCL_LINK=tcp, or register host memory",
        peer);
  if (pairs_[peer].link != nullptr) pairs_[peer].link->Expose(exported.number, region->ForPeer());
  return Ok();
}

// The importer is authorised here and not when it enables the region: no side then has to wait for the other's enabling. What the
// runtime does not share between processes (mapped memory, pools, memory of other engines) is left to the link.
Status OneSided::ExportMapping(uint32_t peer, const LocalRegion& region, Export* exported) {
  aclrtContext context = nullptr;
  RW_TRY(FromRuntime("aclrtGetCurrentContext", aclrtGetCurrentContext(&context)));
  // On the I/O thread, so that a refusal becomes neither the caller's text nor its last error.
  RunOnIo([&] {
    char text[65] = "";
    int32_t pid = communicator_.peer(peer).pid;
    void* const address = reinterpret_cast<void*>(region.address);
    const bool made = aclrtSetCurrentContext(context) == ACL_SUCCESS &&
                      aclrtIpcMemGetExportKey(address, region.size, text, sizeof text, 0) == ACL_SUCCESS;
    if (made && aclrtIpcMemSetImportPid(text, &pid, 1) == ACL_SUCCESS) {
      exported->route = Route::kMapping;
      exported->ipc_key = text;
      return;
    }
    if (made) aclrtIpcMemClose(text);
    aclGetRecentErrMsg();
  });
  return Ok();
}

Status OneSided::Deregister(const HcclMemDesc& desc) {
  LockGuard lock(mutex_);
  if (local_.empty()) return Fail(HCCL_E_NOT_FOUND, "nothing is registered in this communicator");
  const auto descriptor = Unpack(desc);
  const bool own = descriptor && descriptor->exporter == communicator_.rank();
  LocalRegion* const region = own ? local_.FindExport(descriptor->importer, descriptor->region) : nullptr;
  if (region == nullptr) return Fail(HCCL_E_INTERNAL, "desc does not name memory that is registered here");
  Export& exported = region->exports[descriptor->importer];
  if (--exported.references != 0) return Ok();
  const Export last = exported;
  const std::shared_ptr<Peer> link = pairs_[descriptor->importer].link;
  region->exports.erase(descriptor->importer);
  local_.RemoveIfUnused(region);
  lock.unlock();
  // May wait a moment for a chunk that is being copied.
  if (last.route == Route::kMapping) aclrtIpcMemClose(last.ipc_key.c_str());
  if (last.route == Route::kLink && link != nullptr) link->Withdraw(last.number);
  return Ok();
}

comm::Result<std::vector<Descriptor>> OneSided::OwnDescriptors(uint32_t peer, const std::vector<HcclMemDesc>& local) const {
  std::vector<Descriptor> descriptors;
  for (size_t i = 0; i < local.size(); ++i) {
    const auto descriptor = Unpack(local[i]);
    if (!descriptor || descriptor->exporter != communicator_.rank() || descriptor->importer != peer)
      return Fail(HCCL_E_INTERNAL, "local->array[%zu] was not made by HcclRegisterMem for rank %u", i, peer);
    descriptors.push_back(*descriptor);
  }
  return descriptors;
}

Status OneSided::Exchange(uint32_t peer, const std::vector<HcclMemDesc>& local, Deadline deadline, std::vector<HcclMemDesc>* received) {
  RW_TRY_SET(std::vector<Descriptor> descriptors, OwnDescriptors(peer, local));
  if (const HcclResult result = communicator_.Connect(peer, deadline); result != HCCL_SUCCESS)
    return Fail(result, "no connection to rank %u: %s", peer, comm::ResultMeaning(result));
  ExposeBefore(peer, descriptors);
  communicator_.Send(peer, kDescriptors, std::string(reinterpret_cast<const char*>(local.data()), local.size() * sizeof(HcclMemDesc)));
  std::string body;
  if (const HcclResult result = mailboxes_.Take(peer, kDescriptors, deadline, &body); result != HCCL_SUCCESS)
    return Fail(result, "rank %u sent no descriptors: %s", peer, comm::ResultMeaning(result));
  received->resize(body.size() / sizeof(HcclMemDesc));
  std::copy_n(body.data(), received->size() * sizeof(HcclMemDesc), reinterpret_cast<char*>(received->data()));
  for (const HcclMemDesc& one : *received) {
    const auto descriptor = Unpack(one);
    const bool reachable = descriptor && (descriptor->route != Route::kAddress || communicator_.SameProcess(peer));
    if (!reachable || descriptor->exporter != peer || descriptor->importer != communicator_.rank())
      return Fail(HCCL_E_INTERNAL, "rank %u sent a descriptor that is not for this rank", peer);
    descriptors.push_back(*descriptor);
  }
  RW_TRY(OpenLink(peer, descriptors, deadline));
  LockGuard lock(mutex_);
  Pair& pair = pairs_[peer];
  pair.connected = true;
  pair.offered.insert(pair.offered.end(), received->begin(), received->end());
  return Ok();
}

// Only what came over the pair's control channel counts: bytes that somebody found elsewhere open nothing.
comm::Result<Descriptor> OneSided::RequireOffered(const HcclMemDesc& desc) {
  const auto descriptor = Unpack(desc);
  if (!descriptor || descriptor->importer != communicator_.rank() || descriptor->exporter >= communicator_.size())
    return Fail(HCCL_E_INTERNAL, "remoteMemDesc was not made for this rank");
  for (const HcclMemDesc& one : pairs_[descriptor->exporter].offered)
    if (memcmp(&one, &desc, sizeof one) == 0) return *descriptor;
  return Fail(HCCL_E_INTERNAL, "remoteMemDesc did not come from rank %u by HcclExchangeMemDesc", descriptor->exporter);
}

Status OneSided::Enable(const HcclMemDesc& desc, CommMem* memory) {
  LockGuard lock(mutex_);
  RW_TRY_SET(const Descriptor descriptor, RequireOffered(desc));
  RW_TRY_SET(const RemoteRegion* region, EnableOffered(descriptor, true));
  *memory = {static_cast<CommMemType>(descriptor.type), reinterpret_cast<void*>(region->begin), descriptor.size};
  return Ok();
}

comm::Result<RemoteRegion*> OneSided::EnableOffered(const Descriptor& descriptor, bool reserve) {
  Pair& pair = pairs_[descriptor.exporter];
  RW_TRY_SET(RemoteRegion * region, pair.remote.Find(descriptor));
  if (region != nullptr) {
    ++region->references;
    return region;
  }
  RW_TRY_SET(const RemoteRegion opened,
             OpenRemote(descriptor, TargetOf(descriptor.exporter), communicator_.peer(descriptor.exporter).device, reserve));
  return pair.remote.Add(opened);
}

Status OneSided::Disable(const HcclMemDesc& desc) {
  LockGuard lock(mutex_);
  RW_TRY_SET(const Descriptor descriptor, RequireOffered(desc));
  Pair& pair = pairs_[descriptor.exporter];
  for (RemoteRegion& region : pair.remote.all()) {
    if (region.descriptor.region != descriptor.region) continue;
    if (--region.references == 0) {
      CloseRemote(region);
      pair.remote.Remove(&region);
    }
    return Ok();
  }
  return Fail(HCCL_E_NOT_FOUND, "remoteMemDesc is not enabled");
}

Status OneSided::RequireConnection(uint32_t peer) {
  LockGuard lock(mutex_);
  const auto found = pairs_.find(peer);
  if (found != pairs_.end() && found->second.connected) return Ok();
  return Fail(HCCL_E_NOT_FOUND, "no connection to rank %u: call HcclExchangeMemDesc or HcclCommPrepare first", peer);
}

bool OneSided::IsEnabled(uint32_t peer, uint64_t address, uint64_t size) {
  LockGuard lock(mutex_);
  return pairs_[peer].remote.Find(address, size) != nullptr;
}

}  // namespace ropeway::comm
