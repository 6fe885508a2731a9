#include "hccl/membership/membership.h"

#include <algorithm>

#include "hccl/membership/lifeline.h"
#include "hccl/membership/peer_table.h"

namespace ropeway::comm {
namespace {

constexpr std::chrono::seconds kAnswerPatience(1);
constexpr char kLoopbackHint[] =
    ". That is its loopback, which other hosts do not reach: set HCCL_IF_IP or HCCL_SOCKET_IFNAME where the root runs";

}  // namespace

void Membership::Join(const PeerInfo& self, Deadline deadline) {
  join_body_ = Writer().Number(terms_.size).Raw(WritePeers({self})).Take();
  const std::weak_ptr<Membership> weak = weak_from_this();
  deadline_ = IoThread::Get().At(deadline, [weak] {
    if (auto membership = weak.lock()) membership->TimeOut();
  });
  Call();
}

// The root knows who is missing; it has a moment to say so.
void Membership::TimeOut() {
  std::string root = "the root at " + terms_.roots[0].Text();
  for (size_t i = 1; i < terms_.roots.size(); ++i) root += " or " + terms_.roots[i].Text();
  if (!connection_) {
    const char* const hint = terms_.roots[0].IsLoopback() ? kLoopbackHint : "";
    return Finish(HCCL_E_TIMEOUT, root + " was not reached within HCCL_CONNECT_TIMEOUT: " + last_failure_ + hint);
  }
  if (std::exchange(timed_out_, true)) return Finish(HCCL_E_TIMEOUT, root + " waits for other ranks and does not say for whom");
  connection_->Send({kWhoIsMissing, 0, ""});
  deadline_ = IoThread::Get().At(Deadline::After(kAnswerPatience), [weak = weak_from_this()] {
    if (auto membership = weak.lock()) membership->TimeOut();
  });
}

void Membership::TakeMissing(const Frame& frame) {
  missing_ = frame.body;
  if (timed_out_) Finish(HCCL_E_TIMEOUT, "not all ranks came within HCCL_CONNECT_TIMEOUT: " + missing_);
}

void Membership::Call() {
  const std::weak_ptr<Membership> weak = weak_from_this();
  const Hello hello{terms_.communicator, terms_.rank, kRoot, Purpose::kJoin};
  const Address& root = terms_.roots[calls_++ % terms_.roots.size()];
  caller_ = Caller::Start(root, hello, terms_.secret, [weak](SecureSocket fd, Verdict verdict, const std::string& why) {
    if (auto self = weak.lock()) self->Answered(std::move(fd), verdict, why);
  });
}

void Membership::Answered(SecureSocket fd, Verdict verdict, const std::string& why) {
  const std::weak_ptr<Membership> weak = weak_from_this();
  if (fd) {
    Connection::Events events;
    events.received = [weak](const Frame& frame) {
      if (auto self = weak.lock()) self->Received(frame);
    };
    events.closed = [weak](bool clean, const std::string& reason) {
      if (auto self = weak.lock()) self->Lost(clean, reason);
    };
    connection_ = Connection::Open(std::move(fd), std::move(events));
    connection_->Send({kJoin, 0, join_body_});
    return;
  }
  if (verdict == Verdict::kEncryptionDiffers) return Finish(HCCL_E_NOT_SUPPORT, why);
  if (why.empty() && verdict == Verdict::kRefused)
    return Finish(HCCL_E_PARA, "rank " + std::to_string(terms_.rank) + " has joined already");
  last_failure_ = why;
  if (calls_ % terms_.roots.size() != 0) return Call();
  retry_ = IoThread::Get().At(Deadline::After(pause_), [weak] {
    if (auto self = weak.lock()) self->Call();
  });
  pause_ = std::min(pause_ * 2, std::chrono::milliseconds(200));
}

void Membership::Received(const Frame& frame) {
  switch (frame.type) {
    case kTable: return TakeTable(frame);
    case kMissing: return TakeMissing(frame);
    case kRefusal: return Finish(static_cast<HcclResult>(frame.id), frame.body);
    case kGo: return Finish(HCCL_SUCCESS, "");
    case kRelease: return EndBarrier(frame.id, HCCL_SUCCESS, "");
    case kBarrierAborted: return EndBarrier(frame.id, HCCL_E_REMOTE, "another rank will not come to the barrier");
    case kLeft: return RankGone(static_cast<uint32_t>(frame.id), HCCL_SUCCESS);
    case kLost: return RankGone(static_cast<uint32_t>(frame.id), LossOf(Reader(frame.body).Number<uint8_t>() != 0));
    case kByeSeen:
      if (const auto left = std::exchange(left_, nullptr)) {
        connection_->Close();
        connection_.reset();
        left();
      }
      return;
    default: return;
  }
}

void Membership::TakeTable(const Frame& frame) {
  Reader reader(frame.body);
  const std::string session(reader.Raw(kSessionBytes));
  root_process_ = reader.Number<uint64_t>();
  std::vector<PeerInfo> peers;
  if (!ReadPeers(reader, &peers) || peers.size() != terms_.size)
    return Finish(HCCL_E_INTERNAL, "the root sent a table that is none of this version");
  if (const std::string wrong = events_.gathered(session, std::move(peers)); !wrong.empty()) return Finish(HCCL_E_TCP_CONNECT, wrong);
  connection_->Send({kReady, 0, ""});
}

void Membership::Finish(HcclResult result, const std::string& why) {
  IoThread::Get().Cancel(std::exchange(deadline_, {}));
  IoThread::Get().Cancel(std::exchange(retry_, {}));
  caller_.reset();
  if (result != HCCL_SUCCESS && connection_) connection_->Close();
  if (const auto joined = std::exchange(events_.joined, nullptr)) joined(result, why);
}

void Membership::RankGone(uint32_t rank, HcclResult why) {
  somebody_gone_ = true;
  const std::string who = "rank " + std::to_string(rank);
  if (events_.joined) return Finish(HCCL_E_REMOTE, who + " left before all ranks were ready");
  EndBarriers(why == HCCL_SUCCESS ? HCCL_E_REMOTE : why, who + ": " + LossText(why));
  events_.gone(rank, why);
}

void Membership::Lost(bool clean, const std::string& why) {
  connection_.reset();
  if (const auto left = std::exchange(left_, nullptr)) return left();
  // A root that has said who is missing has run out of time, too.
  if (events_.joined && !missing_.empty()) return Finish(HCCL_E_TIMEOUT, "the root gave up before all ranks had joined: " + missing_);
  if (events_.joined) return Finish(HCCL_E_REMOTE, "the root ended before all ranks had joined: " + why);
  EndBarriers(LossOf(clean), "the root is gone: " + why);
  events_.root_lost(root_process_, LossOf(clean));
}

void Membership::Arrive(uint64_t number, Met met) {
  if (!connection_ || somebody_gone_) return met(HCCL_E_REMOTE, "a rank of the communicator is gone");
  barriers_[number] = std::move(met);
  connection_->Send({kBarrier, number, ""});
}

void Membership::Cancel(uint64_t number) {
  barriers_.erase(number);
  if (connection_) connection_->Send({kBarrierCancel, number, ""});
}

void Membership::EndBarrier(uint64_t number, HcclResult result, const std::string& why) {
  if (auto node = barriers_.extract(number)) node.mapped()(result, why);
}

void Membership::EndBarriers(HcclResult result, const std::string& why) {
  while (!barriers_.empty()) EndBarrier(barriers_.begin()->first, result, why);
}

void Membership::Leave(std::function<void()> done) {
  EndBarriers(HCCL_E_REMOTE, "the communicator is destroyed");
  events_.joined = nullptr;
  Finish(HCCL_SUCCESS, "");
  if (!connection_) return done();
  left_ = std::move(done);
  connection_->Send({kBye, 0, ""});
}

}  // namespace ropeway::comm
