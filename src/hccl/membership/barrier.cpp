#include "hccl/membership/barrier.h"

#include "base/mutex.h"
#include "hccl/membership/parts.h"
#include "hccl/membership/stream_op.h"

namespace ropeway::comm {
namespace {

// Barriers are numbered in the order of the calls, so that all ranks number them alike; in each life of the communicator anew.
struct Count {
  Mutex mutex{LockRank::kHcclBarrier};
  uint64_t life RW_GUARDED_BY(mutex) = 0;
  uint64_t next RW_GUARDED_BY(mutex) = 0;
};
constexpr int kLifeBits = 40;

constexpr Service kBarriers = {0x300, nullptr, nullptr, nullptr, nullptr};

class Barrier final : public StreamOp {
 public:
  explicit Barrier(const std::shared_ptr<Communicator>& communicator)
      : StreamOp(communicator),
        count_(std::static_pointer_cast<Count>(communicator->State(kBarriers, [] { return std::make_shared<Count>(); }))) {}

  aclError Enqueue(void* stream) {
    if (IsCaptured(stream)) return Capture(stream);
    // Held over the launch: the order of the numbers is the order in the stream.
    LockGuard lock(count_->mutex);
    TakeNumber();
    const aclError code = Launch(stream);
    if (code != 0) --count_->next;
    return code;
  }

 private:
  void TakeNumber() RW_REQUIRES(count_->mutex) {
    const uint64_t life = communicator().life();
    if (std::exchange(count_->life, life) != life) count_->next = life << kLifeBits;
    barrier_ = count_->next++;
  }
  std::shared_ptr<StreamOp> Again() override {
    const auto op = std::make_shared<Barrier>(communicator().shared_from_this());
    LockGuard lock(op->count_->mutex);
    op->TakeNumber();
    return op;
  }
  void Started() override {
    Membership* const membership = Parts::MembershipOf(communicator());
    if (membership == nullptr) return Finish(HCCL_E_REMOTE, "HcclBarrier: the communicator is destroyed");
    const std::weak_ptr<StreamOp> weak = weak_from_this();
    membership->Arrive(barrier_, [weak, this](HcclResult result, const std::string& why) {
      if (auto self = weak.lock()) Finish(result, why.empty() ? why : "HcclBarrier: " + why);
    });
  }
  void Dropped() override {
    if (Membership* const membership = Parts::MembershipOf(communicator())) membership->Cancel(barrier_);
  }

  const std::shared_ptr<Count> count_;
  uint64_t barrier_ = 0;
};

}  // namespace

aclError LaunchBarrier(const std::shared_ptr<Communicator>& communicator, void* stream) {
  return std::make_shared<Barrier>(communicator)->Enqueue(stream);
}

}  // namespace ropeway::comm
