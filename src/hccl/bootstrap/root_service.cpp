#include "hccl/bootstrap/root_service.h"

#include "base/random.h"
#include "hccl/membership/lifeline.h"
#include "hccl/membership/peer_table.h"
#include "hccl/transport/host_identity.h"

namespace ropeway::comm {
namespace {

std::map<std::string, std::shared_ptr<RootService>>& Services() {
  static auto* const services = new std::map<std::string, std::shared_ptr<RootService>>;
  return *services;
}

// Of earlier uses of a rank table, while ranks of those are still there.
std::set<std::shared_ptr<RootService>>& Replaced() {
  static auto* const services = new std::set<std::shared_ptr<RootService>>;
  return *services;
}

// "3, 5-9", rising; what is too long for a message is counted.
std::string RankList(const std::vector<uint32_t>& ranks) {
  constexpr size_t kLongest = 300;
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    if (text.size() > kLongest) return text + " and " + std::to_string(ranks.size() - i) + " more";
    size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(ranks[i]);
    if (last > i) text += "-" + std::to_string(ranks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

void RootService::Start(const std::string& communicator, const std::string& secret, std::vector<std::shared_ptr<Listener>> listeners) {
  std::shared_ptr<RootService> service(new RootService(communicator, std::move(listeners)));
  if (auto& place = Services()[communicator]) {
    place->replaced_ = true;
    Replaced().insert(place);
  }
  Services()[communicator] = service;
  const std::weak_ptr<RootService> weak = service;
  Door::Get().Admit(communicator, kRoot,
                    {secret,
                     [weak](const Hello& hello) {
                       auto self = weak.lock();
                       return self ? self->Decide(hello) : Verdict::kRefused;
                     },
                     [weak](const Hello& hello, SecureSocket fd) {
                       if (auto self = weak.lock()) self->Enter(hello.from, std::move(fd));
                     }});
}

void RootService::StopUnlessComplete(const std::string& communicator) {
  const auto found = Services().find(communicator);
  if (found != Services().end() && !found->second->complete_) found->second->Stop();
}

void RootService::Stop() {
  const std::shared_ptr<RootService> self = shared_from_this();
  for (auto& [rank, member] : members_) member.connection->Close();
  members_.clear();
  if (replaced_) return void(Replaced().erase(self));
  Door::Get().Revoke(communicator_, kRoot);
  Services().erase(communicator_);
}

// Who differs in what must be the same will not come, so the others need not wait for it.
Verdict RootService::Decide(const Hello& hello) {
  const bool welcome = hello.purpose == Purpose::kJoin && !complete_ && !members_.contains(hello.from);
  if (!welcome) return Verdict::kRefused;
  if (hello.encrypted == TlsWanted()) return Verdict::kWelcome;
  mismatch_ = "ROPEWAY_HCCL_TLS is " + std::to_string(hello.encrypted) + " on rank " + std::to_string(hello.from) + " and " +
              std::to_string(TlsWanted()) + " on the root's: set it to the same for all ranks";
  std::vector<uint32_t> joined;
  for (const auto& [rank, member] : members_)
    if (member.joined) joined.push_back(rank);
  for (const uint32_t rank : joined) Refuse(rank, HCCL_E_NOT_SUPPORT, mismatch_);
  return Verdict::kEncryptionDiffers;
}

void RootService::Refuse(uint32_t rank, HcclResult code, const std::string& why) {
  const auto node = members_.extract(rank);
  joined_ -= node.mapped().joined;
  node.mapped().connection->Send({kRefusal, static_cast<uint64_t>(code), why});
  node.mapped().connection->Close();
}

void RootService::Enter(uint32_t rank, SecureSocket fd) {
  const std::weak_ptr<RootService> weak = weak_from_this();
  Connection::Events events;
  events.received = [weak, rank](const Frame& frame) {
    if (auto self = weak.lock()) self->Received(rank, frame);
  };
  events.closed = [weak, rank](bool clean, const std::string&) {
    if (auto self = weak.lock()) self->Ended(rank, LossOf(clean));
  };
  members_[rank].connection = Connection::Open(std::move(fd), std::move(events));
}

void RootService::Received(uint32_t rank, const Frame& frame) {
  switch (frame.type) {
    case kJoin: return Join(rank, frame);
    case kReady: return Ready(rank);
    case kWhoIsMissing: return TellMissing(rank);
    case kBarrier: return Arrive(rank, frame.id);
    case kBarrierCancel: return Abort(frame.id);
    case kBye: return Ended(rank, HCCL_SUCCESS);
    default: return;  // a later version may say more
  }
}

void RootService::Join(uint32_t rank, const Frame& frame) {
  Member& member = members_[rank];
  if (member.joined || complete_) return;
  Reader reader(frame.body);
  const auto size = reader.Number<uint32_t>();
  std::vector<PeerInfo> own;
  const bool sound = ReadPeers(reader, &own) && own.size() == 1 && rank < size;
  if (!sound || (size_ != 0 && size != size_)) {
    const std::string why = sound ? "rank " + std::to_string(rank) + " says that there are " + std::to_string(size) +
                                        " ranks, an earlier one said " + std::to_string(size_)
                                  : "rank " + std::to_string(rank) + " sent a message that is none of this version";
    return Refuse(rank, HCCL_E_PARA, why);
  }
  if (!mismatch_.empty()) return Refuse(rank, HCCL_E_NOT_SUPPORT, mismatch_);
  size_ = size;
  member.info = own[0];
  member.joined = true;
  gave_up_.erase(rank);
  if (++joined_ == size_) Complete();
}

void RootService::Complete() {
  complete_ = true;
  std::vector<PeerInfo> peers;
  for (const auto& [rank, member] : members_) peers.push_back(member.info);
  // A session of its own: the same rank table may be used again while stragglers of its last use are still about.
  Broadcast(kTable, 0, Writer().Raw(RandomBytes(kSessionBytes)).Number(ProcessNumber()).Raw(WritePeers(peers)).Take());
}

void RootService::Ready(uint32_t rank) {
  if (!complete_ || std::exchange(members_[rank].ready, true)) return;
  if (++ready_ == size_) Broadcast(kGo, 0, "");
}

void RootService::TellMissing(uint32_t rank) {
  const std::string text = MissingText();
  if (std::exchange(missing_told_, true)) {
    members_[rank].connection->Send({kMissing, 0, text});
  } else {
    Broadcast(kMissing, 0, text);  // the root may end with the first one that gives up
  }
}

std::string RootService::MissingText() const {
  std::vector<uint32_t> missing, slow;
  for (uint32_t rank = 0; rank < size_; ++rank) {
    const auto found = members_.find(rank);
    const bool joined = found != members_.end() && found->second.joined;
    if (!joined && !gave_up_.contains(rank)) missing.push_back(rank);
    if (joined && !found->second.ready) slow.push_back(rank);
  }
  std::string text = std::to_string(joined_) + " of " + std::to_string(size_) + " ranks have joined";
  if (!missing.empty()) text += "; missing: " + RankList(missing);
  if (!gave_up_.empty()) text += "; came and gave up: " + RankList({gave_up_.begin(), gave_up_.end()});
  if (complete_ && !slow.empty()) text += "; not ready yet: " + RankList(slow);
  if (const std::string trouble = Door::Get().trouble(); !trouble.empty()) text += "; " + trouble;
  return text;
}

void RootService::Arrive(uint32_t rank, uint64_t barrier) {
  if (!complete_) return;
  if (somebody_gone_ || aborted_.contains(barrier)) {
    members_[rank].connection->Send({kBarrierAborted, barrier, ""});
  } else if (++barriers_[barrier] == size_) {
    barriers_.erase(barrier);
    Broadcast(kRelease, barrier, "");
  }
}

void RootService::Abort(uint64_t barrier) {
  barriers_.erase(barrier);
  aborted_.insert(barrier);
  Broadcast(kBarrierAborted, barrier, "");
}

void RootService::Ended(uint32_t rank, HcclResult why) {
  const auto found = members_.find(rank);
  if (found == members_.end()) return;
  const std::shared_ptr<Connection> connection = std::move(found->second.connection);
  if (found->second.joined) {
    --joined_;
    if (!complete_) gave_up_.insert(rank);
  }
  members_.erase(found);
  if (complete_) {
    somebody_gone_ = true;
    barriers_.clear();
    if (why == HCCL_SUCCESS) {
      Broadcast(kLeft, rank, "");
    } else {
      Broadcast(kLost, rank, Writer().Number(static_cast<uint8_t>(why == LossOf(true))).Take());
    }
  } else if (joined_ == 0) {
    size_ = 0;  // whoever begins again may do so with another number
  }
  if (why == HCCL_SUCCESS) connection->Send({kByeSeen, 0, ""});
  connection->Close();
  if (complete_ && members_.empty()) Stop();
}

void RootService::Broadcast(uint16_t type, uint64_t id, const std::string& body) {
  for (auto& [rank, member] : members_) member.connection->Send({type, id, body});
}

}  // namespace ropeway::comm
