// How a link comes to be, what it knows of the other engine, and how it ends. link_transfer.cpp has the transfers.
#include "hixl/engine/link.h"

#include <unistd.h>

#include <algorithm>

#include "base/bytes.h"
#include "hccl/transport/host_identity.h"
#include "hccl/transport/wire.h"
#include "hixl/engine/context_switch.h"
#include "hixl/engine/result.h"
#include "hixl/engine/secrets.h"

namespace ropeway::transfer {

using comm::Reader;
using comm::Writer;

// --- Coming to be -------------------------------------------------------------------------------------------------------

Result<std::shared_ptr<Link>> Link::Open(const Home& home, const EngineName& remote, Deadline deadline) {
  RW_TRY_SET(std::string secret, SecretOf(remote, deadline));
  std::shared_ptr<Link> link(new Link(home, remote, secret));
  const std::weak_ptr<Link> weak = link;
  Channel::Events events;
  events.gone = [weak](uint64_t region) {
    if (const auto self = weak.lock()) self->Gone(region);
  };
  events.closed = [weak](const std::string& why) {
    if (const auto self = weak.lock()) self->Break(why);
  };
  RW_TRY_SET(link->channel_, Channel::Open(remote, secret, std::move(events), deadline));
  Status status = link->Meet(deadline);
  if (status.ok()) return link;
  link->Close();
  return status;
}

Link::~Link() { Close(); }

Status Link::Meet(Deadline deadline) {
  std::string hello = Writer().String(comm::HostIdentity()).Number(comm::ProcessNumber()).Number(int32_t{getpid()}).Take();
  RW_TRY_SET(const std::string answer, channel_->Ask(kHello, std::move(hello), deadline));
  Reader reader(answer);
  number_ = reader.Number<uint32_t>();
  const bool same_host = reader.Number<uint8_t>() != 0;
  if (!reader.ok())
    return Fail(kFailed, "%s does not keep to the protocol of engines: are both of the same release?", remote_.text.c_str());
  if (same_host) process_ = ProcessMemory::Open(std::string(reader.rest()));
  {
    const ContextSwitch own(home_.context);
    RW_TRY(stream_.Open());
  }
  LockGuard lock(mutex_);
  return LearnRegions(deadline);
}

// --- The other engine's memory ------------------------------------------------------------------------------------------

namespace {

RemoteRegion ReadRegion(Reader& reader) {
  RemoteRegion region;
  region.number = reader.Number<uint64_t>();
  region.address = region.here = static_cast<uintptr_t>(reader.Number<uint64_t>());
  region.size = static_cast<size_t>(reader.Number<uint64_t>());
  region.device = reader.Number<uint8_t>() != 0;
  region.device_id = reader.Number<int32_t>();
  region.way = static_cast<Way>(reader.Number<uint8_t>());
  region.key = reader.String();
  return region;
}

const RemoteRegion* FindNumber(const Table<RemoteRegion>& table, uint64_t number) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const RemoteRegion& one) { return one.number == number; });
  return found == table.end() ? nullptr : &*found;
}

}  // namespace

Status Link::LearnRegions(Deadline deadline) {
  RW_TRY_SET(const std::string answer, channel_->Ask(kRegions, "", deadline));
  const ContextSwitch own(home_.context);
  Reader reader(answer);
  const auto count = reader.Number<uint32_t>();
  const TableRef<RemoteRegion> known = regions();
  auto table = std::make_shared<Table<RemoteRegion>>();
  for (uint32_t i = 0; i < count && reader.ok(); ++i) {
    RemoteRegion region = ReadRegion(reader);
    const RemoteRegion* const old = FindNumber(*known, region.number);
    if (old == nullptr) Reach(&region);
    table->push_back(old == nullptr ? region : *old);
  }
  if (!reader.AtEnd()) return Fail(kFailed, "%s sends a list of its memory that makes no sense", remote_.text.c_str());
  std::sort(table->begin(), table->end(), [](const RemoteRegion& a, const RemoteRegion& b) { return a.address < b.address; });
  LockGuard lock(state_mutex_);
  std::erase_if(*table, [this](const RemoteRegion& one) RW_REQUIRES(state_mutex_) { return gone_.count(one.number) != 0; });
  regions_ = std::move(table);
  return Ok();
}

// What cannot be mapped goes over connections.
void Link::Reach(RemoteRegion* region) {
  void* mapped = nullptr;
  if (region->way == Way::kMapping) {
    aclrtPtrAttributes facts{};
    if (aclrtIpcMemImportByKey(&mapped, region->key.c_str(), 0) == ACL_SUCCESS &&
        aclrtPointerGetAttributes(mapped, &facts) == ACL_SUCCESS) {
      region->here = Bits(mapped);
      region->device_id = static_cast<int32_t>(facts.location.id);
      return;
    }
    aclGetRecentErrMsg();
    region->way = Way::kLink;
  }
  if (region->way == Way::kLink && !region->device && process_ != nullptr) region->way = Way::kProcess;
  // Fails where it is on already, or where it is the same device.
  if (region->way == Way::kAddress && region->device && enabled_.insert(region->device_id).second &&
      aclrtDeviceEnablePeerAccess(region->device_id, 0) != ACL_SUCCESS)
    aclGetRecentErrMsg();
}

void Link::CloseImport(const RemoteRegion& region) const {
  if (region.way == Way::kMapping && aclrtIpcMemClose(region.key.c_str()) != ACL_SUCCESS) aclGetRecentErrMsg();
}

void Link::Gone(uint64_t region) {
  LockGuard lock(state_mutex_);
  gone_.insert(region);
  const TableRef<RemoteRegion> old = regions_;
  auto table = std::make_shared<Table<RemoteRegion>>(*old);
  std::erase_if(*table, [&](const RemoteRegion& one) { return one.number == region; });
  regions_ = std::move(table);
  lock.unlock();
  const RemoteRegion* const found = FindNumber(*old, region);
  if (found == nullptr || aclrtSetCurrentContext(home_.context) != ACL_SUCCESS) return;
  CloseImport(*found);
}

TableRef<RemoteRegion> Link::regions() const {
  LockGuard lock(state_mutex_);
  return regions_;
}

// --- Notifies -----------------------------------------------------------------------------------------------------------

Status Link::Notify(const std::string& name, const std::string& message, Deadline deadline) {
  RW_TRY_SET(const std::string answer, channel_->Ask(kNotify, Writer().String(name).String(message).Take(), deadline));
  const auto code = Reader(answer).Number<uint32_t>();
  if (code == 0) return Ok();
  return Fail(static_cast<int>(code), "%s has no room for more notifies: it must call GetNotifies", remote_.text.c_str());
}

// --- The end ------------------------------------------------------------------------------------------------------------

void Link::Break(const std::string& why) {
  std::vector<std::weak_ptr<Request>> under_way;
  {
    LockGuard lock(state_mutex_);
    if (broken_.empty()) broken_ = why;
    under_way.swap(under_way_);
  }
  for (const std::weak_ptr<Request>& weak : under_way)
    if (const auto request = weak.lock()) request->GiveUp(why);
}

bool Link::broken() const {
  LockGuard lock(state_mutex_);
  return !broken_.empty();
}

Status Link::RequireWhole() const {
  LockGuard lock(state_mutex_);
  if (broken_.empty()) return Ok();
  return Fail(kFailed, "the link to %s has failed, and takes no transfers until Disconnect and Connect: %s", remote_.text.c_str(),
              broken_.c_str());
}

void Link::Close() {
  Break("the link was dropped");
  LockGuard lock(mutex_);
  if (std::exchange(closed_, true)) return;
  const ContextSwitch own(home_.context);
  stream_.Abort();
  stream_.Destroy();
  if (peer_) peer_->Close({HCCL_E_REMOTE, "the link was dropped"});
  if (channel_) channel_->Close();
  for (const RemoteRegion& region : *regions()) CloseImport(region);
}

}  // namespace ropeway::transfer
