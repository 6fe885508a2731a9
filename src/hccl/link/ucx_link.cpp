#include "hccl/link/ucx_link.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "base/own_thread.h"
#include "base/random.h"
#include "hccl/link/ucx_peer.h"
#include "hccl/link/ucx_settings.h"

namespace ropeway::comm {
namespace {

// The links of the process, never destroyed; new peers get the last one. All but that one are uneven.
Mutex link_mutex{LockRank::kUcxLinks};
std::vector<UcxLink*>& AllLinks() RW_REQUIRES(link_mutex) {
  static auto* const links = new std::vector<UcxLink*>;
  return *links;
}

pid_t opened_by = 0;  // written before the first link is there

// UCX tears itself down when the process exits; its worker must not be driven then.
void StopAtExit() {
  if (getpid() != opened_by) return;  // the workers' threads are the parent's, and so is the lock
  LockGuard lock(link_mutex);
  for (UcxLink* const link : AllLinks()) link->Stop();
}

bool Failed(const UcxApi& api, const char* call, ucs_status_t status, std::string* why) {
  if (status == UCS_OK) return false;
  *why = std::string(call) + ": " + api.ucs_status_string(status);
  const std::string said = LastUcxMessage();
  if (!said.empty()) *why += " (" + said + ")";
  return true;
}

}  // namespace

Link* OpenUcxLink(const std::string& local_ip, std::string* why) {
  LockGuard lock(link_mutex);
  std::vector<UcxLink*>& links = AllLinks();
  if (!links.empty() && !links.back()->uneven()) return links.back();
  const UcxApi* api = LoadUcx(why);
  if (api == nullptr) return nullptr;
  auto link = std::make_unique<UcxLink>(*api);
  if (!link->Open(local_ip, why)) return nullptr;
  if (links.empty()) {
    opened_by = getpid();
    std::atexit(StopAtExit);
  }
  links.push_back(link.release());
  return links.back();
}

bool UcxLink::Open(const std::string& local_ip, std::string* why) {
  stall_limit_ = StallLimit();
  constexpr int kTries = 5;
  bool created = false;
  for (int i = 0; i < kTries && !created; ++i) created = Create(local_ip, why);
  if (!created) return false;
  if (!loop_.Watch(worker_fd_, EPOLLIN, 0)) {
    *why = std::string("the kernel watches no more descriptors: ") + strerror(errno);
    return false;
  }
  // The program's signals are for the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

bool UcxLink::Create(const std::string& local_ip, std::string* why) {
  Destroy();
  const PortRange chosen = ChoosePorts();
  if (!CreateContext(UcxSettings(local_ip, chosen), why) || !CreateWorker(why)) return false;
  if (!guard_.Attach(chosen.low, chosen.high, why)) return false;
  if (guard_.ports().empty() && WantsTcp()) {
    *why = "this version of UCX listens elsewhere than it was told, so its port cannot be closed to strangers";
    return false;
  }
  LinkAddress own{{guard_.ports().begin(), guard_.ports().end()}, LocalIps(), address_};
  address_ = own.Pack();
  return true;
}

bool UcxLink::CreateContext(const std::vector<UcxSetting>& settings, std::string* why) {
  ucp_config_t* config = nullptr;
  if (Failed(api_, "ucp_config_read", api_.ucp_config_read(nullptr, nullptr, &config), why)) return false;
  bool good = true;
  for (const UcxSetting& one : settings)
    good = good && !Failed(api_, one.variable, api_.ucp_config_modify(config, one.name, one.value.c_str()), why);
  // Active messages only: with UCP_FEATURE_RMA a peer could write to any address of this process.
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.name = "ropeway";
  const auto init = [&] { return api_.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_); };
  good = good && !Failed(api_, "ucp_init", init(), why);
  api_.ucp_config_release(config);
  return good;
}

bool UcxLink::CreateWorker(std::string* why) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = UCS_THREAD_MODE_SINGLE;
  if (Failed(api_, "ucp_worker_create", api_.ucp_worker_create(context_, &params, &worker_), why)) return false;
  if (Failed(api_, "ucp_worker_get_efd", api_.ucp_worker_get_efd(worker_, &worker_fd_), why)) return false;

  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_ADDRESS | UCP_WORKER_ATTR_FIELD_ADDRESS_FLAGS;
  attributes.address_flags = UCP_WORKER_ADDRESS_FLAG_NET_ONLY;
  if (Failed(api_, "ucp_worker_query", api_.ucp_worker_query(worker_, &attributes), why)) return false;
  address_.assign(reinterpret_cast<const char*>(attributes.address), attributes.address_length);
  api_.ucp_worker_release_address(worker_, attributes.address);

  ucp_am_handler_param_t handler{};
  handler.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  handler.id = kUcxMessageId;
  handler.cb = &UcxLink::Received;
  handler.arg = this;
  return !Failed(api_, "ucp_worker_set_am_recv_handler", api_.ucp_worker_set_am_recv_handler(worker_, &handler), why);
}

UcxLink::~UcxLink() { Destroy(); }

void UcxLink::Destroy() {
  if (worker_ != nullptr) api_.ucp_worker_destroy(worker_);
  if (context_ != nullptr) api_.ucp_cleanup(context_);
  worker_ = nullptr;
  context_ = nullptr;
}

void UcxLink::Stop() {
  stop_.store(true);
  Post([] {});
  // A callback of the thread itself may be what calls exit.
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else if (thread_.joinable())
    thread_.join();
}

std::shared_ptr<Peer> UcxLink::NewPeer() {
  LinkKey key;
  FillRandom(key.data(), key.size());
  auto peer = std::make_shared<UcxPeer>(*this, key);
  Post([this, peer] { Add(peer); });
  return peer;
}

void UcxLink::Add(const std::shared_ptr<UcxPeer>& peer) { peers_[peer->incoming_key()] = peer; }

void UcxLink::Remove(const UcxPeer& peer) { peers_.erase(peer.incoming_key()); }

void UcxLink::Run() {
  const OwnThread self("ropeway-ucx");
  for (;;) {
    loop_.RunPosted();
    if (stop_.load()) return;
    // A burst is taken as a whole, yet what is posted meanwhile does not wait for its end.
    constexpr int kBurst = 32;
    int moved = 0;
    while (moved < kBurst && api_.ucp_worker_progress(worker_) != 0) ++moved;
    TendPeers();
    if (moved == 0) Sleep();
  }
}

void UcxLink::TendPeers() {
  const int64_t now_ns = NowNs();
  for (const auto& [key, peer] : peers_) {
    peer->Claim();
    peer->Pump();
    peer->FailIfStalled(now_ns);
  }
  if (guard_.watching()) guard_.Vet();
}

bool UcxLink::AnyoneWaits() const {
  for (const auto& [key, peer] : peers_)
    if (peer->waiting()) return true;
  return false;
}

void UcxLink::Sleep() {
  if (api_.ucp_worker_arm(worker_) != UCS_OK && !guard_.watching()) return;
  // Nobody tells when a connection is made or accepted, so that is looked at every millisecond.
  Deadline limit;
  if (guard_.watching())
    limit = Deadline::AfterMs(1);
  else if (AnyoneWaits())
    limit = Deadline::After(stall_limit_ / 4);
  loop_.Turn([](uint64_t, uint32_t) {}, limit);
}

ucs_status_t UcxLink::Received(void* argument, const void* header, size_t header_length, void* data, size_t length,
                               const ucp_am_recv_param_t* param) {
  auto& link = *static_cast<UcxLink*>(argument);
  WireHeader message;
  // Ours are of one size and come with their bytes. Anything else is a stranger's.
  if (header_length != sizeof message || (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK;
  memcpy(&message, header, sizeof message);
  const auto found = link.peers_.find(message.key);
  if (found == link.peers_.end()) return UCS_OK;
  const std::shared_ptr<UcxPeer> peer = found->second;
  peer->Handle(message, data, length);
  return UCS_OK;
}

}  // namespace ropeway::comm
