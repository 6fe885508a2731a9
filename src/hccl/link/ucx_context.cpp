#include "hccl/link/ucx_context.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <vector>

#include "base/mutex.h"
#include "base/settings.h"
#include "hccl/link/ucx_peer.h"

namespace ropeway::comm {
namespace {

Mutex context_mutex{LockRank::kUcxContext};
UcxContext* the_context RW_GUARDED_BY(context_mutex) = nullptr;  // of the process, never destroyed
pid_t opened_by = 0;                                             // written before the context is there

// UCX tears itself down when the process exits, and must not be driven then: the link's thread does nothing any more.
void StopAtExit() {
  if (getpid() != opened_by || LinkThread().IsCurrent()) return;
  std::promise<void> stopped;
  LinkThread().Post([&] {
    stopped.set_value();
    for (;;) pause();
  });
  stopped.get_future().wait();
}

UcxContext* OpenContext(const Address& local, std::string* why) {
  LockGuard lock(context_mutex);
  if (the_context != nullptr) return the_context;
  auto context = std::make_unique<UcxContext>(LinkThread());
  if (!context->Open(local, why)) return nullptr;
  opened_by = getpid();
  std::atexit(StopAtExit);
  return the_context = context.release();
}

// The interface of the control connections, and every RDMA port: those have no say in which address a rank offers.
std::string Devices(const Address& local) {
  std::string list = InterfaceOf(local);
  if (list.empty()) return "all";
  std::error_code none;
  for (const auto& adapter : std::filesystem::directory_iterator("/sys/class/infiniband", none))
    for (const auto& port : std::filesystem::directory_iterator(adapter.path() / "ports", none))
      list += "," + adapter.path().filename().string() + ":" + port.path().filename().string();
  return list;
}

// What this link sets in UCX's configuration; what the user says in UCX_* wins. UCX knows a setting by the name of the variable without
// "UCX_" and, when it is a transport's, without its prefix either.
struct UcxSetting {
  const char* variable;
  const char* name;
  std::string value;
};
std::vector<UcxSetting> Settings(const Address& local) {
  return {
      // Ranks of one host have better ways than a network library.
      {"UCX_TLS", "TLS", "tcp,ib"},
      {"UCX_NET_DEVICES", "NET_DEVICES", Devices(local)},
      // With the 8 KiB segments that are the default large transfers stall for whole retransmission periods.
      {"UCX_TCP_TX_SEG_SIZE", "TX_SEG_SIZE", "64K"},
      {"UCX_TCP_RX_SEG_SIZE", "RX_SEG_SIZE", "64K"},
      // A peer that does not answer must not stop the thread that serves all others.
      {"UCX_TCP_CONN_NB", "CONN_NB", "y"},
  };
}

}  // namespace

std::shared_ptr<Peer> NewUcxPeer(const Address& local, std::string* why) {
  UcxContext* const context = OpenContext(local, why);
  return context == nullptr ? nullptr : UcxPeer::Create(*context, why);
}

UcxContext::~UcxContext() {
  if (context_ != nullptr) api_->ucp_cleanup(context_);
}

bool UcxContext::Failed(const char* call, ucs_status_t status, std::string* why) const {
  if (status == UCS_OK) return false;
  *why = std::string(call) + ": " + api_->ucs_status_string(status);
  const std::string said = LastUcxMessage();
  if (!said.empty()) *why += " (" + said + ")";
  return true;
}

bool UcxContext::Open(const Address& local, std::string* why) {
  api_ = LoadUcx(why);
  ucp_config_t* config = nullptr;
  if (api_ == nullptr || Failed("ucp_config_read", api_->ucp_config_read(nullptr, nullptr, &config), why)) return false;
  bool good = true;
  for (const UcxSetting& one : Settings(local))
    if (good && ForeignVariable(one.variable) == nullptr)
      good = !Failed(one.variable, api_->ucp_config_modify(config, one.name, one.value.c_str()), why);
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_NAME;
  params.features = UCP_FEATURE_RMA | UCP_FEATURE_WAKEUP;
  params.name = "ropeway";
  const auto init = [&] { return api_->ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, config, &context_); };
  good = good && !Failed("ucp_init", init(), why);
  api_->ucp_config_release(config);
  return good;
}

}  // namespace ropeway::comm
