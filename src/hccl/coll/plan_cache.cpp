#include "hccl/coll/plan_cache.h"

#include <map>
#include <string>

namespace ropeway::comm {
namespace {

constexpr Service kPlans = {0x400, nullptr, nullptr, nullptr, nullptr};

// What is larger than its making matters, and what is kept does not.
constexpr size_t kMostSteps = 1024;

std::vector<uint32_t> HostsOf(const Communicator& communicator) {
  std::map<std::string, uint32_t> numbers;
  std::vector<uint32_t> hosts;
  for (uint32_t rank = 0; rank < communicator.size(); ++rank)
    hosts.push_back(numbers.emplace(communicator.peer(rank).host, static_cast<uint32_t>(numbers.size())).first->second);
  return hosts;
}

}  // namespace

PlanCache* PlanCache::Of(Communicator& communicator) {
  return static_cast<PlanCache*>(communicator.StateHere(kPlans, [&] { return std::make_shared<PlanCache>(communicator); }));
}

PlanCache::PlanCache(const Communicator& communicator) : hosts_(HostsOf(communicator)) {}

std::shared_ptr<const CollectivePlan> PlanCache::Find(const CollectiveShape& shape) {
  {
    LockGuard lock(mutex_);
    for (const Kept& kept : kept_)
      if (kept.plan && kept.shape == shape) return kept.plan;
  }
  CollectiveShape here = shape;
  here.hosts = hosts_;
  auto plan = std::make_shared<const CollectivePlan>(MakeCollectivePlan(here));
  if (plan->steps.size() > kMostSteps) return plan;
  LockGuard lock(mutex_);
  kept_[next_++ % kept_.size()] = {shape, plan};
  return plan;
}

}  // namespace ropeway::comm
