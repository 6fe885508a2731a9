#include "memory/physical_share.h"

#include "engine/watcher.h"
#include "ipc/number.h"

namespace ropeway {
namespace {

constexpr uint32_t kPhysicalOfferType = 3;

void Write(const PhysicalTraits& traits, ipc::Message* welcome) {
  welcome->value[0] = traits.size;
  welcome->value[1] = static_cast<uint64_t>(traits.device + 1);
  welcome->value[2] = traits.granularity;
  welcome->value[3] = traits.page_size;
  welcome->value[4] = static_cast<uint64_t>(traits.described.memAttr);
  welcome->value[5] = static_cast<uint64_t>(traits.described.location.type) << 32 | traits.described.location.id;
}

bool Read(const ipc::Message& welcome, int device, int user_id, PhysicalTraits* traits) {
  const bool on_device = welcome.value[1] != 0;
  traits->size = welcome.value[0];
  traits->granularity = welcome.value[2];
  traits->page_size = static_cast<uint32_t>(welcome.value[3]);
  traits->imported = true;
  traits->device = on_device ? device : -1;
  traits->described.memAttr = static_cast<aclrtMemAttr>(welcome.value[4]);
  traits->described.location.type = static_cast<aclrtMemLocationType>(welcome.value[5] >> 32);
  traits->described.location.id = on_device ? static_cast<uint32_t>(user_id) : static_cast<uint32_t>(welcome.value[5]);
  return traits->size != 0 && traits->granularity != 0 && traits->granularity % kChunkBytes == 0 && traits->size % traits->granularity == 0;
}

class PhysicalOffer final : public ipc::Offer {
 public:
  explicit PhysicalOffer(const PhysicalMemory& memory) : Offer(kPhysicalOfferType), traits_(memory.traits()), pages_(memory.pages()) {}
  void OnJoined(ipc::Connection&, ipc::Message* welcome, int* fd) override {
    Write(traits_, welcome);
    *fd = pages_->descriptor();
  }
  // The same for an importer in this process, which needs no list.
  ImportedPhysical HandOver(int device, int user_id) const {
    ipc::Message welcome{};
    Write(traits_, &welcome);
    PhysicalTraits traits;
    Read(welcome, device, user_id, &traits);
    return {std::make_shared<PhysicalMemory>(traits, pages_), traits_.device};
  }
  // An importer has all it wants when it is in.
  void OnMessage(ipc::Connection&, const ipc::Message&, FileDescriptor) override {}
  void OnGone(ipc::Connection&, bool) override {}

 private:
  const PhysicalTraits traits_;
  const std::shared_ptr<SharedPages> pages_;
};

// Open for importers as long as it lives.
class PhysicalShare {
 public:
  explicit PhysicalShare(ipc::Service& service) : service_(service) {}
  ~PhysicalShare() { service_.Withdraw(key_); }
  void Open(const ipc::Key& key) { key_ = key; }
  PhysicalShare(const PhysicalShare&) = delete;
  PhysicalShare& operator=(const PhysicalShare&) = delete;

 private:
  ipc::Service& service_;
  ipc::Key key_;  // of nothing until it is open
};

Result<ShareableHandle> Publish(ipc::Service& service, std::shared_ptr<PhysicalOffer> offer, bool as_number) {
  ShareableHandle handle;
  if (as_number) {
    RW_TRY_SET(handle.number, service.PublishNumber(std::move(offer)));
    handle.key = ipc::KeyOfNumber(handle.number);
  } else {
    RW_TRY_SET(handle.key, service.Publish(std::move(offer)));
  }
  return handle;
}

Result<std::shared_ptr<ipc::Offer>> FindOwnOffer(const ipc::Key& key) {
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  std::shared_ptr<ipc::Offer> offer = service->Find(key, kPhysicalOfferType);
  if (offer == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "shareableHandle was not exported by this process, or its memory is gone");
  return offer;
}

}  // namespace

Result<ShareableHandle> ExportPhysical(PhysicalMemory& memory, bool as_number, bool everybody) {
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  auto offer = std::make_shared<PhysicalOffer>(memory);
  auto share = std::make_shared<PhysicalShare>(*service);
  if (everybody) offer->AdmitEverybody();
  if (!memory.BeginSharing())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "handle was exported before; pass on the shareable handle that was given then");
  try {
    Result<ShareableHandle> handle = Publish(*service, std::move(offer), as_number);
    if (handle.ok()) share->Open(handle.value().key);
    memory.Share(handle.ok() ? std::move(share) : nullptr);
    return handle;
  } catch (...) {
    memory.Share(nullptr);
    throw;
  }
}

Status AdmitToPhysical(const ipc::Key& key, const int32_t* pids, size_t count) {
  RW_TRY_SET(std::shared_ptr<ipc::Offer> offer, FindOwnOffer(key));
  offer->AdmitToo(pids, count);
  return Ok();
}

Status AdmitEverybodyToPhysical(const ipc::Key& key) {
  RW_TRY_SET(std::shared_ptr<ipc::Offer> offer, FindOwnOffer(key));
  offer->AdmitEverybody();
  return Ok();
}

Result<ImportedPhysical> ImportPhysical(const ipc::Key& key, Engine& engine, int device, int user_id, bool own_too) {
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  if (const std::shared_ptr<ipc::Offer> own = service->Find(key, kPhysicalOfferType)) {
    if (own_too) return static_cast<const PhysicalOffer&>(*own).HandOver(device, user_id);
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "shareableHandle was exported by this process; use the handle itself");
  }
  const HostWait wait(WaitReason::kProcess, 0, 0);
  RW_TRY_SET(ipc::Joined joined, service->Connect(key, kPhysicalOfferType, {}, Deadline::AfterMs(ipc::kPatienceMs)));
  joined.connection->Close();
  PhysicalTraits traits;
  std::shared_ptr<SharedPages> pages;
  if (joined.fd && Read(joined.welcome, device, user_id, &traits)) pages = engine.memory().AdoptPages(joined.fd.Release(), traits.size);
  if (pages == nullptr) return Fail(ACL_ERROR_RT_PARAM_INVALID, "shareableHandle brought no memory that can be mapped here");
  return ImportedPhysical{std::make_shared<PhysicalMemory>(traits, std::move(pages)), static_cast<int>(joined.welcome.value[1]) - 1};
}

}  // namespace ropeway
