#include "hccl/link/ucx_peer.h"

#include <sys/epoll.h>

#include <algorithm>

#include "hccl/link/link_wire.h"

namespace ropeway::comm {
namespace {

// What UCX is given at a time, and how much of it: enough for a fast network, and little for whoever has to wait for it.
constexpr uint64_t kPieceBytes = 1 << 20;
constexpr unsigned kMostPieces = 16;
// How long whoever takes memory away waits for a peer that does not answer, until the link ends.
constexpr std::chrono::seconds kLetGo(1);

}  // namespace

// --- The worker -----------------------------------------------------------------------------------------------------------------

std::shared_ptr<UcxPeer> UcxPeer::Create(UcxContext& context, std::string* why) {
  const auto peer = std::make_shared<UcxPeer>(context);
  std::promise<bool> made;
  context.thread().Post([&] { made.set_value(peer->CreateWorker(why)); });
  return made.get_future().get() ? peer : nullptr;
}

bool UcxPeer::CreateWorker(std::string* why) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SINGLE;
  if (context_.Failed("ucp_worker_create", api_.ucp_worker_create(context_.handle(), &params, &worker_), why)) return false;
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
  attributes.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
  bool good = !context_.Failed("ucp_worker_query", api_.ucp_worker_query(worker_, &attributes), why);
  if (good) {
    address_.assign(reinterpret_cast<const char*>(attributes.address), attributes.address_length);
    api_.ucp_worker_release_address(worker_, attributes.address);
    good = !context_.Failed("ucp_worker_get_efd", api_.ucp_worker_get_efd(worker_, &worker_fd_), why);
  }
  const auto ready = [weak = weak_from_this()](uint32_t) {
    if (const auto self = weak.lock()) static_cast<UcxPeer&>(*self).Drive();
  };
  if (good && thread_.Watch(worker_fd_, EPOLLIN, ready)) {
    Drive();
    return true;
  }
  if (good) *why = "the kernel watches no more descriptors";
  api_.ucp_worker_destroy(std::exchange(worker_, nullptr));
  return false;
}

void UcxPeer::Met(const std::string& introduction) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(introduction.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {[](void* peer, ucp_ep_h, ucs_status_t status) { static_cast<UcxPeer*>(peer)->Broke(status); }, this};
  std::string why = "it did not say where it is";
  if (introduction.empty() || context_.Failed("ucp_ep_create", api_.ucp_ep_create(worker_, &params, &endpoint_), &why)) {
    endpoint_ = nullptr;
    return Fail({HCCL_E_ROCE_CONNECT, "the peer cannot be reached: " + why});
  }
  Pump();
}

// A burst is taken as a whole, yet others have their turn.
void UcxPeer::Drive() {
  constexpr int kBurst = 64;
  for (int i = 0; i < kBurst; ++i)
    if (worker_ == nullptr || (!DriveOnce() && api_.ucp_worker_arm(worker_) == UCS_OK)) return;
  thread_.Post([self = shared_from_this(), this] { Drive(); });
}

bool UcxPeer::DriveOnce() {
  const auto self = shared_from_this();
  bool moved = api_.ucp_worker_progress(worker_) != 0;
  for (; !completed_.empty(); moved = true) {
    const Then then = std::move(completed_.front());
    completed_.pop_front();
    --requests_;
    then();
    EndWhenQuiet();
  }
  return moved;
}

void UcxPeer::Request(const std::function<ucs_status_ptr_t(const ucp_request_param_t*)>& call, Then then, uint32_t flags) {
  using Asked = std::pair<UcxPeer*, Then>;
  auto asked = std::make_unique<Asked>(this, std::move(then));
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.cb.send = &UcxPeer::RequestDone;
  param.user_data = asked.get();
  param.flags = flags;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  ++requests_;
  const ucs_status_ptr_t request = call(&param);
  Asked* const released = asked.release();
  if (!UCS_PTR_IS_PTR(request)) RequestDone(nullptr, UCS_PTR_STATUS(request), released);
}

void UcxPeer::RequestDone(void* request, ucs_status_t status, void* asked) {
  const std::unique_ptr<std::pair<UcxPeer*, Then>> held(static_cast<std::pair<UcxPeer*, Then>*>(asked));
  UcxPeer& self = *held->first;
  if (request != nullptr) self.api_.ucp_request_free(request);
  if (status == UCS_OK)
    ++self.completed_count_;
  else
    self.Broke(status);
  self.completed_.push_back(std::move(held->second));
}

void UcxPeer::Flush(Then then) {
  if (endpoint_ == nullptr) return then();
  Request([this](const ucp_request_param_t* param) { return api_.ucp_ep_flush_nbx(endpoint_, param); }, std::move(then));
}

// When the peer has closed the link in order, its farewell is on the way.
void UcxPeer::Broke(ucs_status_t status) {
  if (failed_ || std::exchange(broken_, true)) return;
  FailSoon({HCCL_E_ROCE_TRANSFER, std::string("the link to the peer broke: ") + api_.ucs_status_string(status)});
}

// --- Memory that is taken away --------------------------------------------------------------------------------------------------

void UcxPeer::Hold::Rescue() {
  const auto peer = peer_;
  const std::future<void> over = over_.get_future();
  const auto give_up = [self = shared_from_this(), peer] { self->GiveUp(*peer); };
  const auto fail = [peer] {
    std::string text = "memory was taken away in the middle of a transfer, and the peer did not move for ";
    text.append(std::to_string(kLetGo.count())).append(" s");
    peer->Fail({HCCL_E_ROCE_TRANSFER, text});
  };
  if (!peer->thread_.IsCurrent()) {
    peer->thread_.Post(give_up);
    if (over.wait_for(kLetGo) == std::future_status::timeout) peer->thread_.Post(fail);
    return over.wait();
  }
  give_up();
  const Deadline limit = Deadline::After(kLetGo);
  while (over.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
    if (limit.Passed()) fail();
    if (peer->worker_ != nullptr) peer->DriveOnce();
    peer->EndWhenQuiet();
  }
}

// First whoever waits, then the lease, which they have.
void UcxPeer::Hold::LetGo() {
  over_.set_value();
  lease_->Remove(this);
  peer_.reset();
}

// --- What is asked for ----------------------------------------------------------------------------------------------------------

void UcxPeer::Move(bool put, std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) {
  const auto operation = std::make_shared<Operation>(std::static_pointer_cast<UcxPeer>(shared_from_this()), lease);
  operation->put = put;
  operation->items = std::move(items);
  operation->done = std::move(done);
  for (const TransferItem& item : operation->items) operation->total += item.size;
  if (!lease->Add(operation.get())) operation->end = GivenUp();
  thread_.Post([self = shared_from_this(), this, operation] { Start(operation); });
}

void UcxPeer::Start(const OperationRef& operation) {
  if (operation->over) return;  // its lease was faster
  operations_.push_back(operation);
  if (worker_ == nullptr) return Finish(operation, failure_);
  WatchForStall();
  Advance(operation);
  Drive();
}

void UcxPeer::Pump() {
  for (const OperationRef& operation : std::list<OperationRef>(operations_)) Advance(operation);
  Drive();
}

void UcxPeer::Operation::GiveUp(UcxPeer& peer) {
  if (!end) end = GivenUp();
  peer.Advance(std::static_pointer_cast<Operation>(shared_from_this()));
}

// Goes on with what can be done now.
void UcxPeer::Advance(const OperationRef& operation) {
  if (operation->over || (endpoint_ == nullptr && !operation->end)) return;
  while (!operation->end && operation->item < operation->items.size() && GivePiece(operation)) {
  }
  if (operation->pieces != 0 || failed_) return;
  if (!operation->end && (broken_ || operation->item < operation->items.size())) return;
  // Also of a put that was given up: what was given to UCX comes before whatever is put later.
  const bool flush = operation->put && !broken_ && (operation->item != 0 || operation->given != 0);
  if (!flush) return Finish(operation, operation->end.value_or(TransferEnd()));
  if (std::exchange(operation->flushing, true)) return;
  Flush([this, operation] {
    if (operation->end || (!broken_ && !failed_)) Finish(operation, operation->end.value_or(TransferEnd()));
  });
}

// False when nothing can be given now.
bool UcxPeer::GivePiece(const OperationRef& operation) {
  if (broken_ || failed_ || pieces_ >= kMostPieces) return false;
  const TransferItem& item = operation->items[operation->item];
  const auto [found, unknown] = keys_.try_emplace(item.region);
  if (unknown) SendControl(kKeyWanted, item.region);
  const KeyRef key = found->second;
  if (key == nullptr) return false;
  if (item.offset > key->size || item.size > key->size - item.offset) {
    operation->end = EndOf(RangeStatus::kOutOfRegion);
    return false;
  }
  char* const local = static_cast<char*>(item.local) + operation->given;
  const uint64_t remote = key->address + item.offset + operation->given;
  const uint64_t size = std::min(kPieceBytes, item.size - operation->given);
  operation->given += size;
  if (operation->given == item.size) {
    ++operation->item;
    operation->given = 0;
  }
  ++operation->pieces;
  ++key->users;
  ++pieces_;
  Request(
      [&](const ucp_request_param_t* param) {
        return operation->put ? api_.ucp_put_nbx(endpoint_, local, size, remote, key->rkey, param)
                              : api_.ucp_get_nbx(endpoint_, local, size, remote, key->rkey, param);
      },
      [this, operation, key] { PieceDone(operation, key); });
  return true;
}

void UcxPeer::PieceDone(const OperationRef& operation, const KeyRef& key) {
  --operation->pieces;
  const bool full = pieces_-- == kMostPieces;
  if (--key->users == 0 && key->revoked) Flush([this, key] { Return(key, 0); });
  if (full)
    Pump();
  else
    Advance(operation);
}

void UcxPeer::Finish(const OperationRef& operation, const TransferEnd& end) {
  if (std::exchange(operation->over, true)) return;
  operations_.remove(operation);
  operation->LetGo();
  if (operation->put && end.code == HCCL_SUCCESS)
    for (const TransferItem& item : operation->items)
      if (const auto found = keys_.find(item.region); found != keys_.end()) ReturnIfOnce(found, operation->total);
  operation->done(end);
}

// --- Keys -----------------------------------------------------------------------------------------------------------------------

void UcxPeer::Received(const Frame& frame) {
  switch (frame.type) {
    case kKeyWanted: return GrantKey(frame.id);
    case kKey: return TakeKey(frame);
    case kKeyRefused: return KeyRefused(frame.id);
    case kKeyRevoked: return KeyRevoked(frame.id);
    case kKeyReturned: return KeyReturned(frame);
    default: return BreakProtocol();
  }
}

bool UcxPeer::Map(Grant* grant, RegionId region, std::string* packed) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE;
  params.address = grant->memory.address;
  params.length = grant->memory.size;
  params.memory_type = UCS_MEMORY_TYPE_HOST;
  if (api_.ucp_mem_map(context_.handle(), &params, &grant->mapped) != UCS_OK) return false;
  void* key = nullptr;
  size_t size = 0;
  if (api_.ucp_rkey_pack(context_.handle(), grant->mapped, &key, &size) != UCS_OK) return false;
  *packed = Writer()
                .Number(region)
                .Number(reinterpret_cast<uint64_t>(grant->memory.address))
                .Number(grant->memory.size)
                .Number(uint8_t{grant->memory.filled != nullptr})
                .Raw({static_cast<const char*>(key), size})
                .Take();
  api_.ucp_rkey_buffer_release(key);
  return true;
}

// Who asks has no key of that memory. If one is out it is being taken back, and its lease is closing.
void UcxPeer::GrantKey(RegionId region) {
  const std::shared_ptr<const Exposed> memory = regions_.Find(region);
  bool good = memory != nullptr;
  for (const auto& [number, grant] : grants_) good = good && grant->lease() != memory->lease;
  if (!good) return SendControl(kKeyRefused, region);
  const auto grant = std::make_shared<Grant>(std::static_pointer_cast<UcxPeer>(shared_from_this()), memory->lease);
  grant->memory = *memory;
  grant->number = ++last_grant_;
  std::string packed;
  const bool mapped = Map(grant.get(), region, &packed);
  if (mapped && memory->lease->Add(grant.get())) {
    grants_[grant->number] = grant;
    return SendControl(kKey, grant->number, std::move(packed));
  }
  if (grant->mapped != nullptr) api_.ucp_mem_unmap(context_.handle(), grant->mapped);
  SendControl(kKeyRefused, region);
}

void UcxPeer::Grant::GiveUp(UcxPeer& peer) { peer.SendControl(kKeyRevoked, number); }

void UcxPeer::KeyReturned(const Frame& frame) {
  Reader reader(frame.body);
  const auto bytes = reader.Number<uint64_t>();
  const auto node = grants_.extract(frame.id);
  if (!reader.AtEnd() || !node) return BreakProtocol();
  const std::shared_ptr<Grant>& grant = node.mapped();
  api_.ucp_mem_unmap(context_.handle(), grant->mapped);
  grant->LetGo();
  if (bytes != 0 && grant->memory.filled) grant->memory.filled(bytes);
}

void UcxPeer::TakeKey(const Frame& frame) {
  Reader reader(frame.body);
  const auto region = reader.Number<RegionId>();
  Key key{frame.id, reader.Number<uint64_t>(), reader.Number<uint64_t>(), reader.Number<uint8_t>() != 0, nullptr};
  const auto asked = keys_.find(region);
  if (!reader.ok() || asked == keys_.end() || asked->second != nullptr || endpoint_ == nullptr) return BreakProtocol();
  std::string why;
  if (context_.Failed("ucp_ep_rkey_unpack", api_.ucp_ep_rkey_unpack(endpoint_, reader.rest().data(), &key.rkey), &why))
    return Fail({HCCL_E_ROCE_TRANSFER, "a key of the peer cannot be used: " + why});
  asked->second = std::make_shared<Key>(key);
  Pump();
}

void UcxPeer::KeyRefused(RegionId region) {
  keys_.erase(region);
  for (const OperationRef& one : operations_)
    if (!one->end && one->item < one->items.size() && one->items[one->item].region == region) one->end = EndOf(RangeStatus::kNoRegion);
  Pump();
}

// Whoever still wants the memory asks again.
void UcxPeer::KeyRevoked(uint64_t number) {
  const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const auto& one) { return one.second && one.second->number == number; });
  if (found == keys_.end()) return;  // it is on its way back
  const KeyRef key = std::move(found->second);
  keys_.erase(found);
  key->revoked = true;
  if (key->users == 0) Flush([this, key] { Return(key, 0); });
  Pump();
}

void UcxPeer::ReturnIfOnce(std::map<RegionId, KeyRef>::iterator found, uint64_t bytes) {
  const KeyRef key = found->second;
  if (!key || !key->once || key->users != 0) return;
  keys_.erase(found);
  Return(key, bytes);
}

void UcxPeer::Return(const KeyRef& key, uint64_t bytes) {
  api_.ucp_rkey_destroy(std::exchange(key->rkey, nullptr));
  // Of a put that may not have arrived nobody says so: the link fails in a moment.
  if (!broken_) SendControl(kKeyReturned, key->number, Writer().Number(bytes).Take());
}

// --- The end --------------------------------------------------------------------------------------------------------------------

// By force: what UCX has been given comes back with an error.
void UcxPeer::EndAll(const TransferEnd&) {
  if (endpoint_ != nullptr) {
    const ucp_ep_h endpoint = std::exchange(endpoint_, nullptr);
    Request([&](const ucp_request_param_t* param) { return api_.ucp_ep_close_nbx(endpoint, param); }, [] {}, UCP_EP_CLOSE_FLAG_FORCE);
  }
  thread_.Post([self = shared_from_this(), this] {
    EndWhenQuiet();
    Drive();
  });
}

// The transfers end when UCX has let go of everything, so that nothing of it is left when they are told.
void UcxPeer::EndWhenQuiet() {
  if (!failed_ || requests_ != 0 || worker_ == nullptr) return;
  for (const auto& [region, key] : keys_)
    if (key) api_.ucp_rkey_destroy(key->rkey);
  keys_.clear();
  thread_.Forget(worker_fd_);
  api_.ucp_worker_destroy(std::exchange(worker_, nullptr));
  for (const auto& [number, grant] : std::exchange(grants_, {})) {
    api_.ucp_mem_unmap(context_.handle(), grant->mapped);
    grant->LetGo();
  }
  for (const OperationRef& operation : std::list<OperationRef>(operations_)) Finish(operation, failure_);
}

}  // namespace ropeway::comm
