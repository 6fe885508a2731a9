// The endpoint of a peer: what is asked for, what is sent, and how it ends. ucx_receive.cpp has what arrives.
#include "hccl/link/ucx_peer.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/random.h"

namespace ropeway::comm {
namespace {

// Enough chunks on their way to keep a fast network busy, few enough that their copies stay in the caches.
constexpr unsigned kWindow = 16;

}  // namespace

bool UcxPeer::CreateWorker(std::string* why) {
  FillRandom(incoming_key_.data(), incoming_key_.size());
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SINGLE;
  if (UcxFailed(link_.api(), "ucp_worker_create", link_.api().ucp_worker_create(link_.context(), &params, &worker_), why)) return false;
  if (Listen(why)) return true;
  link_.api().ucp_worker_destroy(worker_);
  return false;
}

bool UcxPeer::Listen(std::string* why) {
  const UcxApi& api = link_.api();
  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kUcxMessageId;
  handler.cb = &UcxPeer::Received;
  handler.arg = this;
  if (UcxFailed(api, "ucp_worker_set_am_recv_handler", api.ucp_worker_set_am_recv_handler(worker_, &handler), why)) return false;
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
  attributes.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
  if (UcxFailed(api, "ucp_worker_query", api.ucp_worker_query(worker_, &attributes), why)) return false;
  address_.assign(reinterpret_cast<const char*>(attributes.address), attributes.address_length);
  api.ucp_worker_release_address(worker_, attributes.address);
  if (UcxFailed(api, "ucp_worker_get_efd", api.ucp_worker_get_efd(worker_, &worker_fd_), why)) return false;
  if (link_.loop().Watch(worker_fd_, EPOLLIN, 0)) return true;
  *why = std::string("the kernel watches no more descriptors: ") + strerror(errno);
  return false;
}

std::string UcxPeer::Introduction() const {
  return std::string(reinterpret_cast<const char*>(incoming_key_.data()), incoming_key_.size()) + address_;
}

void UcxPeer::Meet(const std::string& introduction, std::function<void()>) {
  link_.Post([self = shared_from_this(), introduction] {
    if (self->failed_) return;
    if (introduction.size() <= sizeof(LinkKey)) return self->Fail({HCCL_E_ROCE_CONNECT, "the peer did not say where it is"});
    memcpy(self->outgoing_key_.data(), introduction.data(), sizeof(LinkKey));
    self->Open(introduction.substr(sizeof(LinkKey)));
  });
}

void UcxPeer::Open(const std::string& address) {
  last_sign_of_life_ns_ = NowNs();
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {&UcxPeer::EndpointFailed, this};
  std::string why;
  if (!UcxFailed(link_.api(), "ucp_ep_create", link_.api().ucp_ep_create(worker_, &params, &endpoint_), &why)) return;
  endpoint_ = nullptr;
  Fail({HCCL_E_ROCE_CONNECT, "the peer cannot be reached: " + why});
}

bool UcxPeer::Progress() {
  // A burst is taken as a whole, yet what is posted meanwhile does not wait for its end.
  constexpr int kBurst = 32;
  int moved = 0;
  while (moved < kBurst && link_.api().ucp_worker_progress(worker_) != 0) ++moved;
  return moved != 0;
}

bool UcxPeer::Arm() { return link_.api().ucp_worker_arm(worker_) == UCS_OK; }

void UcxPeer::Put(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) {
  Transfer transfer{true, std::move(items), std::move(lease), std::move(done)};
  link_.Post([self = shared_from_this(), transfer = std::move(transfer)]() mutable { self->Start(std::move(transfer)); });
}

void UcxPeer::Get(std::vector<TransferItem> items, std::shared_ptr<Lease> lease, TransferDone done) {
  Transfer transfer{false, std::move(items), std::move(lease), std::move(done)};
  link_.Post([self = shared_from_this(), transfer = std::move(transfer)]() mutable { self->Start(std::move(transfer)); });
}

void UcxPeer::Start(Transfer transfer) {
  if (failed_) return transfer.done(failure_);
  for (const TransferItem& item : transfer.items) transfer.total += item.size;
  if (!waiting()) last_sign_of_life_ns_ = NowNs();
  const uint64_t number = ++last_transfer_;
  if (transfer.put)
    jobs_.push_back({MakeHeader(WireKind::kPutData, number, transfer.total), transfer.items, transfer.lease});
  else
    Ask(number, transfer);
  transfers_.emplace(number, std::move(transfer));
  Pump();
}

void UcxPeer::Ask(uint64_t number, const Transfer& transfer) {
  auto message = std::make_unique<Message>();
  message->header = MakeHeader(WireKind::kGetRequest, number, transfer.total);
  message->size = transfer.items.size() * sizeof(WireItem);
  message->payload = std::make_unique_for_overwrite<char[]>(message->size);
  char* at = message->payload.get();
  for (const TransferItem& item : transfer.items) {
    const WireItem wanted{item.region, item.offset, item.size};
    memcpy(at, &wanted, sizeof wanted);
    at += sizeof wanted;
  }
  control_.push_back(std::move(message));
}

WireHeader UcxPeer::MakeHeader(WireKind kind, uint64_t transfer, uint64_t total) const {
  WireHeader header{};
  header.kind = kind;
  header.transfer = transfer;
  header.total = total;
  return header;
}

void UcxPeer::SendControl(WireKind kind, uint64_t transfer, RangeStatus status) {
  if (failed_) return;
  auto message = std::make_unique<Message>();
  message->header = MakeHeader(kind, transfer, 0);
  message->header.status = status;
  control_.push_back(std::move(message));
}

void UcxPeer::Pump() {
  if (endpoint_ == nullptr || closing_) return;
  PumpControl();
  while (!jobs_.empty() && in_flight_ < kWindow && !closing_) {
    Job job = std::move(jobs_.front());  // a failure while sending clears the queue
    jobs_.pop_front();
    if (!SendChunk(&job)) {
      GiveUp(job);
    } else if (job.item != job.items.size() && !failed_) {
      jobs_.push_front(std::move(job));
    }
  }
  PumpControl();  // news of what was given up
  if (failed_ && in_flight_ == 0) CloseEndpoint();
}

void UcxPeer::PumpControl() {
  while (!control_.empty() && !closing_) {
    std::unique_ptr<Message> message = std::move(control_.front());
    control_.pop_front();
    Send(std::move(message));
  }
}

bool UcxPeer::SendChunk(Job* job) {
  const TransferItem& item = job->items[job->item];
  const uint64_t size = std::min(kChunkBytes, item.size - job->sent);
  auto message = std::make_unique<Message>();
  message->header = job->header;
  message->size = size;
  message->payload = link_.chunks().Take();
  message->pooled = true;
  if (!Copy(*job, size, message->payload.get())) return false;
  const bool put = job->header.kind == WireKind::kPutData;
  message->header.region = put ? item.region : job->item;
  message->header.offset = put ? item.offset + job->sent : job->sent;
  job->sent += size;
  if (job->sent == item.size) {
    ++job->item;
    job->sent = 0;
  }
  Send(std::move(message));
  return true;
}

bool UcxPeer::Copy(const Job& job, uint64_t size, char* to) const {
  const TransferItem& item = job.items[job.item];
  if (job.header.kind == WireKind::kPutData)
    return job.lease->Use([&] { memcpy(to, static_cast<const char*>(item.local) + job.sent, size); });
  Exposed region{};
  const uint64_t offset = item.offset + job.sent;
  if (regions_.Locate(item.region, offset, size, &region) != RangeStatus::kGood) return false;
  return region.lease->Use([&] { memcpy(to, static_cast<const char*>(region.address) + offset, size); });
}

void UcxPeer::GiveUp(const Job& job) {
  const bool put = job.header.kind == WireKind::kPutData;
  SendControl(put ? WireKind::kPutGivenUp : WireKind::kGetFailed, job.header.transfer, RangeStatus::kNoRegion);
  if (put) End(job.header.transfer, GivenUp());
}

void UcxPeer::Send(std::unique_ptr<Message> message) {
  message->header.key = outgoing_key_;
  message->peer = shared_from_this();
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_MEMORY_TYPE |
                       UCP_OP_ATTR_FLAG_MULTI_SEND;
  param.cb.send = &UcxPeer::Sent;
  param.user_data = message.get();
  param.flags = UCP_AM_SEND_FLAG_EAGER;
  param.memory_type = UCS_MEMORY_TYPE_HOST;
  ++in_flight_;
  Message* const sent = message.release();
  const ucs_status_ptr_t request =
      link_.api().ucp_am_send_nbx(endpoint_, kUcxMessageId, &sent->header, sizeof sent->header, sent->payload.get(), sent->size, &param);
  if (!UCS_PTR_IS_PTR(request)) Sent(nullptr, UCS_PTR_STATUS(request), sent);
}

void UcxPeer::Sent(void* request, ucs_status_t status, void* message) {
  const std::unique_ptr<Message> sent(static_cast<Message*>(message));
  const std::shared_ptr<UcxPeer> peer = std::move(sent->peer);
  if (request != nullptr) peer->link_.api().ucp_request_free(request);
  if (sent->pooled) peer->link_.chunks().Give(std::move(sent->payload));
  peer->Finished(status);
}

void UcxPeer::Finished(ucs_status_t status) {
  --in_flight_;
  last_sign_of_life_ns_ = NowNs();
  if (status != UCS_OK && !failed_) Fail({HCCL_E_ROCE_TRANSFER, std::string("sending failed: ") + link_.api().ucs_status_string(status)});
  EndWhenQuiet();
}

void UcxPeer::End(uint64_t number, const TransferEnd& end) {
  const auto found = transfers_.find(number);
  if (found == transfers_.end()) return;
  const TransferDone done = std::move(found->second.done);
  transfers_.erase(found);
  done(end);
}

// Over a link that broke nothing goes out any more: waiting for what is on its way would take as long as UCX believes in it.
void UcxPeer::Close(const TransferEnd& why) {
  regions_.Clear();  // the link's thread may still take what arrives before it comes to what is posted here
  const bool broke = why.code == HCCL_E_TCP_TRANSFER;
  link_.Post([self = shared_from_this(), why, broke] { broke ? self->Fail(why) : self->Drain(why); });
}

// What is on its way, such as the answer to the peer's last put, still goes out before the endpoint closes.
void UcxPeer::Drain(const TransferEnd& why) {
  if (failed_) return;
  // UCX does not tell the other side that an endpoint is closed.
  SendControl(WireKind::kGoodbye, 0, RangeStatus::kGood);
  Pump();
  if (failed_) return;
  failed_ = true;
  failure_ = why;
  jobs_.clear();
  last_sign_of_life_ns_ = NowNs();
  if (in_flight_ == 0 || endpoint_ == nullptr) CloseEndpoint();
  EndWhenQuiet();
}

void UcxPeer::Fail(const TransferEnd& why) {
  if (!failed_) failure_ = why;
  failed_ = true;
  jobs_.clear();
  control_.clear();
  arrivals_.clear();
  CloseEndpoint();
  EndWhenQuiet();
}

void UcxPeer::FailIfStalled(int64_t now_ns) {
  if (waiting() && !closing_ && now_ns - last_sign_of_life_ns_ >= stall_limit_.count()) Fail(Stalled(stall_limit_));
}

void UcxPeer::EndpointFailed(void* peer, ucp_ep_h, ucs_status_t status) {
  auto& self = *static_cast<UcxPeer*>(peer);
  self.link_.Post([held = self.shared_from_this(), status] {
    held->Fail({HCCL_E_ROCE_TRANSFER, std::string("the link to the peer broke: ") + held->link_.api().ucs_status_string(status)});
  });
}

// Later, since this may be inside a callback of UCX, which goes on using the endpoint afterwards.
void UcxPeer::CloseEndpoint() {
  if (endpoint_ == nullptr || closing_) return;
  closing_ = true;
  link_.Post([self = shared_from_this()] { self->CloseNow(); });
}

void UcxPeer::CloseNow() {
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  param.cb.send = &UcxPeer::EndpointClosed;
  param.user_data = new std::shared_ptr<UcxPeer>(shared_from_this());
  const ucs_status_ptr_t request = link_.api().ucp_ep_close_nbx(endpoint_, &param);
  if (!UCS_PTR_IS_PTR(request)) EndpointClosed(nullptr, UCS_PTR_STATUS(request), param.user_data);
}

void UcxPeer::EndpointClosed(void* request, ucs_status_t, void* peer) {
  const std::unique_ptr<std::shared_ptr<UcxPeer>> held(static_cast<std::shared_ptr<UcxPeer>*>(peer));
  UcxPeer& self = **held;
  if (request != nullptr) self.link_.api().ucp_request_free(request);
  self.endpoint_ = nullptr;
  self.closing_ = false;
  self.EndWhenQuiet();
}

// The transfers end when UCX has let go of the endpoint, so that nothing of it is left when they are told.
void UcxPeer::EndWhenQuiet() {
  if (!failed_ || in_flight_ != 0 || closing_) return;
  if (endpoint_ != nullptr) return CloseEndpoint();
  if (ended_) return;
  ended_ = true;
  std::map<uint64_t, Transfer> pending;
  pending.swap(transfers_);
  for (const auto& [number, transfer] : pending) transfer.done(failure_);
  link_.Post([self = shared_from_this()] {
    self->link_.Remove(*self);
    self->link_.loop().Forget(self->worker_fd_);
    self->link_.api().ucp_worker_destroy(self->worker_);
  });
}

}  // namespace ropeway::comm
