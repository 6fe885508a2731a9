// How communicators come about: by root info, by rank table, all ranks in one process, and out of another communicator.
#include <fstream>
#include <sstream>
#include <vector>

#include "acl/acl_rt.h"
#include "hccl/base/result.h"
#include "hccl/bootstrap/bootstrap.h"
#include "hccl/bootstrap/comm_config.h"
#include "hccl/bootstrap/rank_table.h"
#include "hccl/bootstrap/root_info.h"
#include "hccl/bootstrap/sub_communicator.h"
#include "hccl/bootstrap/table_plan.h"
#include "hccl/hccl_comm.h"
#include "hccl/membership/find.h"
#include "hccl/membership/registry.h"
#include "ropeway/ropeway.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

constexpr size_t kLongestPath = 4096;  // with the terminator

Status RequireRank(uint32_t rank, uint32_t size) {
  if (size == 0) return Fail(HCCL_E_PARA, "nRanks is 0: a communicator has at least one rank");
  if (rank >= size) return Fail(HCCL_E_PARA, "rank %u is not below nRanks %u", rank, size);
  return Ok();
}

Result<int32_t> CurrentDevice() {
  int32_t device = 0;
  RW_TRY(FromRuntime("aclrtGetDevice", aclrtGetDevice(&device)));
  return device;
}

// All ranks have to come.
Outcome Await(std::future<Outcome> joining) {
  const RankWait wait;
  return joining.get();
}

Status Take(Outcome outcome, HcclComm* comm) {
  if (outcome.result != HCCL_SUCCESS) return Fail(outcome.result, "%s", outcome.why.c_str());
  ropewayTellRank(outcome.communicator->rank(), outcome.communicator->size());
  *comm = AddCommunicator(std::move(outcome.communicator));
  return Ok();
}

// What the entry points by root info share.
Status InitByRoot(uint32_t size, const HcclRootInfo* root_info, uint32_t rank, const HcclCommConfig* config, HcclComm* comm) {
  RW_TRY(RequirePointer("comm", comm));
  RW_TRY(RequirePointer("rootInfo", root_info));
  RW_TRY(RequireRank(rank, size));
  Plan plan;
  RW_TRY(ApplyConfig(config, &plan));
  RootTicket ticket;
  if (!ReadRootInfo(*root_info, &ticket))
    return Fail(HCCL_E_PARA, "rootInfo holds no bytes of HcclGetRootInfo, or not all %d of them arrived", HCCL_ROOT_INFO_BYTES);
  RW_TRY_SET(plan.device, CurrentDevice());
  plan.roots = {ticket.root};
  plan.communicator = ticket.communicator;
  plan.secret = ticket.secret;
  plan.rank = rank;
  plan.size = size;
  CompletePlan(rank, &plan);
  return Take(Await(BeginJoin(std::move(plan))), comm);
}

Status InitByTable(const std::string& text, uint32_t rank, const HcclCommConfig* config, HcclComm* comm) {
  Plan plan;
  RW_TRY(ApplyConfig(config, &plan));
  RankTable table;
  if (const std::string wrong = ParseRankTable(text, &table); !wrong.empty())
    return Fail(HCCL_E_PARA, "the rank table is not usable: %s", wrong.c_str());
  if (rank >= table.ranks.size()) return Fail(HCCL_E_PARA, "rank %u is not in the table, which has %zu", rank, table.ranks.size());
  RW_TRY_SET(plan.device, CurrentDevice());
  PlanByTable(table, text, rank, &plan);
  CompletePlan(rank, &plan);
  return Take(Await(BeginJoin(std::move(plan))), comm);
}

Status InitByFile(const char* path, uint32_t rank, const HcclCommConfig* config, HcclComm* comm) {
  RW_TRY(RequirePointer("clusterInfo", path));
  RW_TRY(RequirePointer("comm", comm));
  if (std::string_view(path).size() >= kLongestPath)
    return Fail(HCCL_E_PARA, "clusterInfo has %zu characters, at most %zu are allowed", std::string_view(path).size(), kLongestPath - 1);
  std::ifstream file(path);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) return Fail(HCCL_E_OPEN_FILE_FAILURE, "the rank table %s cannot be read", path);
  return InitByTable(text.str(), rank, config, comm);
}

Status RequireDevices(uint32_t count, const int32_t* devices) {
  uint32_t present = 0;
  RW_TRY(FromRuntime("aclrtGetDeviceCount", aclrtGetDeviceCount(&present)));
  for (uint32_t i = 0; i < count; ++i) {
    if (devices[i] < 0 || static_cast<uint32_t>(devices[i]) >= present)
      return Fail(HCCL_E_PARA, "devices[%u] is %d; this machine has devices 0 to %u", i, devices[i], present - 1);
    for (uint32_t j = 0; j < i; ++j) {
      if (devices[i] == devices[j]) return Fail(HCCL_E_PARA, "devices[%u] and devices[%u] are both %d", j, i, devices[i]);
    }
  }
  return Ok();
}

// All begin before anybody waits: the ranks need each other.
Status JoinAll(const RootTicket& ticket, uint32_t count, const int32_t* devices, HcclComm* comms) {
  std::vector<std::future<Outcome>> joining;
  for (uint32_t rank = 0; rank < count; ++rank) {
    Plan plan;
    plan.roots = {ticket.root};
    plan.communicator = ticket.communicator;
    plan.secret = ticket.secret;
    plan.rank = rank;
    plan.size = count;
    plan.device = devices[rank];
    CompletePlan(rank, &plan);
    joining.push_back(BeginJoin(std::move(plan)));
  }
  std::vector<Outcome> outcomes;
  Outcome failure;
  for (auto& one : joining) {
    outcomes.push_back(Await(std::move(one)));
    if (outcomes.back().result != HCCL_SUCCESS) failure = outcomes.back();
  }
  if (failure.result == HCCL_SUCCESS) {
    for (uint32_t rank = 0; rank < count; ++rank) comms[rank] = AddCommunicator(std::move(outcomes[rank].communicator));
    return Ok();
  }
  for (Outcome& outcome : outcomes) {
    if (outcome.communicator) Dissolve(outcome.communicator);
  }
  return Fail(failure.result, "%s", failure.why.c_str());
}

}  // namespace
}  // namespace ropeway::comm

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("rootInfo", rootInfo));
    RootTicket ticket;
    const Outcome outcome = OpenRoot(&ticket);
    if (outcome.result != HCCL_SUCCESS) return Fail(outcome.result, "%s", outcome.why.c_str());
    WriteRootInfo(ticket, rootInfo);
    return Ok();
  });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank, HcclComm* comm) {
  return Entry(__func__, [&]() -> Status { return InitByRoot(nRanks, rootInfo, rank, nullptr, comm); });
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank, const HcclCommConfig* config,
                                      HcclComm* comm) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("config", config));
    return InitByRoot(nRanks, rootInfo, rank, config, comm);
  });
}

HcclResult HcclCommInitClusterInfo(const char* clusterInfo, uint32_t rank, HcclComm* comm) {
  return Entry(__func__, [&]() -> Status { return InitByFile(clusterInfo, rank, nullptr, comm); });
}

HcclResult HcclCommInitClusterInfoConfig(const char* clusterInfo, uint32_t rank, HcclCommConfig* config, HcclComm* comm) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("config", config));
    return InitByFile(clusterInfo, rank, config, comm);
  });
}

HcclResult HcclCommInitClusterInfoMemConfig(const char* rankTableString, uint32_t rank, HcclCommConfig* config, HcclComm* comm) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("rankTableString", rankTableString));
    RW_TRY(RequirePointer("config", config));
    RW_TRY(RequirePointer("comm", comm));
    return InitByTable(rankTableString, rank, config, comm);
  });
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("devices", devices));
    RW_TRY(RequirePointer("comms", comms));
    if (ndev == 0) return Fail(HCCL_E_PARA, "ndev is 0: a communicator has at least one rank");
    RW_TRY(RequireDevices(ndev, devices));
    RootTicket ticket;
    const Outcome outcome = OpenRoot(&ticket);
    if (outcome.result != HCCL_SUCCESS) return Fail(outcome.result, "%s", outcome.why.c_str());
    return JoinAll(ticket, ndev, devices, comms);
  });
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId, uint32_t subCommRankId,
                                   HcclCommConfig* config, HcclComm* subComm) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("*comm", *comm));
    RW_TRY(RequirePointer("config", config));
    RW_TRY(RequirePointer("subComm", subComm));
    RW_TRY_SET(const CommunicatorHold parent, RequireCommunicator(*comm));
    // How a rank that takes no part says so.
    if (rankIds == nullptr && subCommId == kNoSubCommunicator) return Ok();
    RW_TRY(RequirePointer("rankIds", rankIds));
    RW_TRY(RequireRank(subCommRankId, rankNum));
    Plan plan;
    RW_TRY(ApplyConfig(config, &plan));
    RW_TRY(PlanSubCommunicator(parent.shared(), {rankIds, rankIds + rankNum}, subCommId, subCommRankId, &plan));
    CompletePlan(parent->self().world_rank, &plan);
    return Take(Await(BeginJoin(std::move(plan))), subComm);
  });
}
