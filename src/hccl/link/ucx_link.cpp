#include "hccl/link/ucx_link.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <future>

#include "base/mutex.h"
#include "base/own_thread.h"
#include "hccl/link/ucx_peer.h"

namespace ropeway::comm {
namespace {

Mutex link_mutex{LockRank::kUcxLinks};
UcxLink* the_link RW_GUARDED_BY(link_mutex) = nullptr;  // of the process, never destroyed

pid_t opened_by = 0;  // written before the link is there

// UCX tears itself down when the process exits; its workers must not be driven then.
void StopAtExit() {
  if (getpid() != opened_by) return;  // the thread is the parent's, and so is the lock
  LockGuard lock(link_mutex);
  the_link->Stop();
}

UcxLink* OpenUcxLink(const std::string& local_ip, std::string* why) {
  LockGuard lock(link_mutex);
  if (the_link != nullptr) return the_link;
  const UcxApi* api = LoadUcx(why);
  if (api == nullptr) return nullptr;
  auto link = std::make_unique<UcxLink>(*api);
  if (!link->Open(local_ip, why)) return nullptr;
  opened_by = getpid();
  std::atexit(StopAtExit);
  return the_link = link.release();
}

}  // namespace

bool UcxFailed(const UcxApi& api, const char* call, ucs_status_t status, std::string* why) {
  if (status == UCS_OK) return false;
  *why = std::string(call) + ": " + api.ucs_status_string(status);
  const std::string said = LastUcxMessage();
  if (!said.empty()) *why += " (" + said + ")";
  return true;
}

std::shared_ptr<Peer> NewUcxPeer(const std::string& local_ip, std::string* why) {
  UcxLink* const link = OpenUcxLink(local_ip, why);
  return link == nullptr ? nullptr : link->NewPeer(why);
}

bool UcxLink::Open(const std::string& local_ip, std::string* why) {
  if (!CreateContext(UcxSettings(local_ip), why)) return false;
  // The program's signals are for the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { Run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

bool UcxLink::CreateContext(const std::vector<UcxSetting>& settings, std::string* why) {
  ucp_config_t* config = nullptr;
  if (UcxFailed(api_, "ucp_config_read", api_.ucp_config_read(nullptr, nullptr, &config), why)) return false;
  bool good = true;
  for (const UcxSetting& one : settings)
    good = good && !UcxFailed(api_, one.variable, api_.ucp_config_modify(config, one.name, one.value.c_str()), why);
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_AM | UCP_FEATURE_WAKEUP;
  params.name = "ropeway";
  const auto init = [&] { return api_.ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_); };
  good = good && !UcxFailed(api_, "ucp_init", init(), why);
  api_.ucp_config_release(config);
  return good;
}

UcxLink::~UcxLink() {
  if (context_ != nullptr) api_.ucp_cleanup(context_);
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

std::shared_ptr<Peer> UcxLink::NewPeer(std::string* why) {
  auto peer = std::make_shared<UcxPeer>(*this);
  std::promise<bool> made;
  Post([&] {
    const bool good = peer->CreateWorker(why);
    if (good) peers_.push_back(peer);
    made.set_value(good);
  });
  return made.get_future().get() ? peer : nullptr;
}

void UcxLink::Remove(const UcxPeer& peer) {
  std::erase_if(peers_, [&](const auto& one) { return one.get() == &peer; });
}

void UcxLink::Run() {
  const OwnThread self("ropeway-ucx");
  for (;;) {
    loop_.RunPosted();
    if (stop_.load()) return;
    const int64_t now_ns = NowNs();
    bool moved = false;
    for (const auto& peer : peers_) {
      moved = peer->Progress() || moved;
      peer->Pump();
      peer->FailIfStalled(now_ns);
    }
    if (!moved) Sleep();
  }
}

bool UcxLink::Arm() {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& peer) { return peer->Arm(); });
}

void UcxLink::Sleep() {
  if (!Arm()) return;
  Deadline limit;
  for (const auto& peer : peers_)
    if (peer->waiting()) limit = Deadline::After(StallLimit() / 4);
  loop_.Turn([](uint64_t, uint32_t) {}, limit);
}

}  // namespace ropeway::comm
