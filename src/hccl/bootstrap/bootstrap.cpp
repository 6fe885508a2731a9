#include "hccl/bootstrap/bootstrap.h"

#include <unistd.h>

#include <set>

#include "base/random.h"
#include "base/settings.h"
#include "hccl/base/told.h"
#include "hccl/bootstrap/root_service.h"
#include "hccl/membership/channels.h"
#include "hccl/membership/membership.h"
#include "hccl/membership/parts.h"
#include "hccl/transport/door.h"
#include "hccl/transport/host_identity.h"
#include "hccl/transport/io_thread.h"
#include "hccl/transport/sha256.h"

namespace ropeway::comm {
namespace {

// The ranks of this process: none may be there twice. I/O thread.
std::set<std::pair<std::string, uint32_t>>& PresentRanks() {
  static auto* const ranks = new std::set<std::pair<std::string, uint32_t>>;
  return *ranks;
}

// How long HcclCommDestroy waits for the root to pass its good-bye on.
constexpr std::chrono::seconds kGoodByePatience(2);

}  // namespace

// One rank on its way into a communicator. Keeps itself alive through the functions it leaves with others. I/O thread.
class Joining : public std::enable_shared_from_this<Joining> {
 public:
  explicit Joining(Plan plan) : plan_(std::move(plan)), communicator_(new Communicator) {}
  std::future<Outcome> outcome() { return outcome_.get_future(); }
  void Start();

 private:
  bool OpenDoor(std::string* why);
  PeerInfo Self() const;
  std::string Gathered(const std::string& session, std::vector<PeerInfo> peers);
  void Joined(HcclResult result, const std::string& why);
  Membership::Events EventsOf(const std::weak_ptr<Communicator>& communicator);

  Plan plan_;
  std::shared_ptr<Communicator> communicator_;
  std::promise<Outcome> outcome_;
};

// All ranks see the same list, so all say the same.
std::string WhoCannotBeReached(const std::vector<PeerInfo>& peers) {
  for (size_t rank = 0; rank < peers.size(); ++rank) {
    if (!peers[rank].address.IsLoopback()) continue;
    const std::string network = NetworkOf(peers[rank].host);
    for (size_t other = 0; other < peers.size(); ++other) {
      if (NetworkOf(peers[other].host) == network) continue;
      return "rank " + std::to_string(rank) + " has no address but its loopback, " + peers[rank].address.Text() + ", and rank " +
             std::to_string(other) + " on another host cannot reach it: bring a network up there, or set HCCL_IF_IP or HCCL_SOCKET_IFNAME";
    }
  }
  return "";
}

bool Joining::OpenDoor(std::string* why) {
  std::optional<Address> own = plan_.own_address;
  if (!own) own = ChooseLocalAddress(why);
  if (!own) return false;
  communicator_->listener_ = Door::Get().Open(*own, why);
  if (!communicator_->listener_) return false;
  if (!plan_.serves) return true;
  std::vector<std::shared_ptr<Listener>> listeners;
  for (const Address& root : plan_.roots) {
    listeners.push_back(Door::Get().Open(root, why));
    if (listeners.back()) continue;
    *why += ". Does another job use this rank table, or its port? Give each its own ROPEWAY_HCCL_SECRET, or rank 0 another device_port";
    return false;
  }
  RootService::Start(plan_.communicator, plan_.secret, std::move(listeners));
  return true;
}

PeerInfo Joining::Self() const {
  PeerInfo self;
  self.host = plan_.host.empty() ? HostIdentity() : plan_.host;
  self.process = ProcessNumber();
  self.pid = getpid();
  self.device = plan_.device;
  self.world_rank = plan_.world_rank.value_or(plan_.rank);
  self.address = communicator_->listener_->address();
  return self;
}

void Joining::Start() {
  std::string why;
  if (PresentRanks().contains({plan_.communicator, plan_.rank}))
    return Joined(HCCL_E_PARA, "rank " + std::to_string(plan_.rank) + " of this communicator exists in this process already");
  if (!OpenDoor(&why)) return Joined(HCCL_E_TCP_CONNECT, why);
  PresentRanks().insert({plan_.communicator, plan_.rank});
  communicator_->present_ = {plan_.communicator, plan_.rank};
  communicator_->rank_ = plan_.rank;
  communicator_->name_ = plan_.name;
  communicator_->op_expansion_mode_ = plan_.op_expansion_mode;
  communicator_->algorithm_ = plan_.algorithm;
  const auto seconds = [](double count) { return std::chrono::milliseconds(static_cast<int64_t>(count * 1000)); };
  communicator_->connect_timeout_ = seconds(SettingNumber("HCCL_CONNECT_TIMEOUT"));
  communicator_->exec_timeout_ = seconds(plan_.exec_timeout_s ? *plan_.exec_timeout_s : SettingNumber("HCCL_EXEC_TIMEOUT"));
  communicator_->membership_ = std::make_shared<Membership>(
      Membership::Terms{plan_.roots, plan_.communicator, plan_.secret, plan_.rank, plan_.size}, EventsOf(communicator_));
  communicator_->membership_->Join(Self(), communicator_->ConnectDeadline());
}

Membership::Events Joining::EventsOf(const std::weak_ptr<Communicator>& communicator) {
  Membership::Events events;
  events.gathered = [self = shared_from_this()](const std::string& session, std::vector<PeerInfo> peers) {
    return self->Gathered(session, std::move(peers));
  };
  events.joined = [self = shared_from_this()](HcclResult result, const std::string& why) { self->Joined(result, why); };
  events.gone = [communicator](uint32_t rank, HcclResult why) {
    const auto found = communicator.lock();
    if (!found || !found->channels_) return;
    if (why != HCCL_SUCCESS) found->SetAsyncError(why, "rank " + std::to_string(rank) + ": " + LossText(why));
    found->channels_->Heard(rank, why);
  };
  events.root_lost = [communicator](uint64_t root_process, HcclResult why) {
    const auto found = communicator.lock();
    if (!found || !found->channels_) return;
    found->channels_->NoMoreNews();
    bool left_before = true;
    for (uint32_t rank = 0; rank < found->size(); ++rank) {
      if (found->peer(rank).process != root_process) continue;
      left_before = left_before && found->Ended(rank) != HCCL_SUCCESS;
      if (rank != found->rank()) found->channels_->Heard(rank, why);
    }
    // A root whose ranks have all said good-bye may go.
    if (!left_before) found->SetAsyncError(why, std::string("the root: ") + LossText(why));
  };
  return events;
}

std::string Joining::Gathered(const std::string& session, std::vector<PeerInfo> peers) {
  if (!communicator_) return "";
  if (const std::string wrong = WhoCannotBeReached(peers); !wrong.empty()) return wrong;
  communicator_->peers_ = std::move(peers);
  communicator_->channels_ =
      std::make_shared<Channels>(DeriveName(plan_.secret, session), DeriveSecret(plan_.secret, session), plan_.rank, plan_.size);
  communicator_->channels_->Begin(communicator_);
  return "";
}

void Joining::Joined(HcclResult result, const std::string& why) {
  const std::shared_ptr<Communicator> communicator = std::move(communicator_);
  if (result == HCCL_SUCCESS) return outcome_.set_value({HCCL_SUCCESS, "", communicator});
  if (plan_.serves) RootService::StopUnlessComplete(plan_.communicator);
  if (communicator->membership_) PresentRanks().erase({plan_.communicator, plan_.rank});
  communicator->channels_.reset();
  communicator->membership_.reset();
  communicator->listener_.reset();
  outcome_.set_value({result, why, nullptr});
}

std::future<Outcome> BeginJoin(Plan plan) {
  auto joining = std::make_shared<Joining>(std::move(plan));
  std::future<Outcome> outcome = joining->outcome();
  IoThread::Get().Post([joining] { joining->Start(); });
  return outcome;
}

void Dissolve(const std::shared_ptr<Communicator>& communicator) {
  auto left = std::make_shared<std::promise<void>>();
  std::future<void> told = left->get_future();
  IoThread::Get().Post([communicator, left] {
    PresentRanks().erase(Parts::PresentAs(*communicator));
    Parts::Dissolve(*communicator, [left] { left->set_value(); });
  });
  const RankWait wait;
  told.wait_for(kGoodByePatience);
}

std::string DeriveName(const std::string& secret, const std::string& label) {
  return std::string(BytesOf(HmacSha256(secret, "name " + label)).substr(0, 16));
}

std::string DeriveSecret(const std::string& secret, const std::string& label) {
  return std::string(BytesOf(HmacSha256(secret, "secret " + label)));
}

Outcome OpenRoot(RootTicket* ticket) {
  Outcome outcome;
  RunOnIo([&] {
    const std::optional<Address> own = ChooseLocalAddress(&outcome.why);
    std::shared_ptr<Listener> listener = own ? Door::Get().Open(*own, &outcome.why) : nullptr;
    if (!listener) {
      outcome.result = HCCL_E_TCP_CONNECT;
      return;
    }
    *ticket = {listener->address(), RandomBytes(16), RandomBytes(32)};
    RootService::Start(ticket->communicator, ticket->secret, {listener});
  });
  return outcome;
}

RootTicket TicketOf(const std::shared_ptr<Communicator>& communicator) {
  RootTicket ticket;
  RunOnIo([&] {
    Channels* const channels = Parts::ChannelsOf(*communicator);
    if (channels != nullptr) ticket = {{}, channels->communicator(), channels->secret()};
  });
  return ticket;
}

void RunOnIo(const std::function<void()>& function) {
  auto done = std::make_shared<std::promise<void>>();  // shared: the waiter may be gone before set_value returns
  IoThread::Get().Post([&function, done] {
    function();
    done->set_value();
  });
  done->get_future().wait();
}

}  // namespace ropeway::comm
