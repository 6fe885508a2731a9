// The last plans of a communicator: programs call the same few collectives again and again, and a small one takes less time than its plan.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "hccl/coll/plan.h"
#include "hccl/membership/communicator.h"

namespace ropeway::comm {

class PlanCache {
 public:
  // For as long as the communicator is held.
  static PlanCache* Of(Communicator& communicator);
  explicit PlanCache(const Communicator& communicator);

  // Of a shape that does not say on which hosts the ranks are: they are the communicator's.
  std::shared_ptr<const CollectivePlan> Find(const CollectiveShape& shape);

 private:
  struct Kept {
    CollectiveShape shape;
    std::shared_ptr<const CollectivePlan> plan;
  };

  const std::vector<uint32_t> hosts_;  // of every rank, in any numbering
  Mutex mutex_{LockRank::kHcclPlans};
  std::array<Kept, 8> kept_ RW_GUARDED_BY(mutex_);
  size_t next_ RW_GUARDED_BY(mutex_) = 0;
};

}  // namespace ropeway::comm
