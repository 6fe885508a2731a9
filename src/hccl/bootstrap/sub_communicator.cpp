#include "hccl/bootstrap/sub_communicator.h"

#include "hccl/transport/wire.h"

namespace ropeway::comm {
namespace {

Status RequireRanks(const Communicator& parent, const std::vector<uint32_t>& ranks, uint32_t rank) {
  std::vector<bool> seen(parent.size());
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] >= parent.size())
      return Fail(HCCL_E_PARA, "rankIds[%zu] is %u; the communicator has %u ranks", i, ranks[i], parent.size());
    if (seen[ranks[i]]) return Fail(HCCL_E_PARA, "rankIds has rank %u twice", ranks[i]);
    seen[ranks[i]] = true;
  }
  if (ranks[rank] != parent.rank())
    return Fail(HCCL_E_PARA, "rankIds[%u] is %u, but the caller is rank %u", rank, ranks[rank], parent.rank());
  return Ok();
}

}  // namespace

Status PlanSubCommunicator(const std::shared_ptr<Communicator>& parent, const std::vector<uint32_t>& ranks, uint64_t id, uint32_t rank,
                           Plan* plan) {
  RW_TRY(RequireRanks(*parent, ranks, rank));
  Writer label;
  label.Raw("sub-communicator ").Number(id);
  for (const uint32_t member : ranks) label.Number(member);
  const std::string text = label.Take();
  const RootTicket ticket = TicketOf(parent->shared_from_this());
  plan->communicator = DeriveName(ticket.secret, text);
  plan->secret = DeriveSecret(ticket.secret, text);
  plan->rank = rank;
  plan->size = static_cast<uint32_t>(ranks.size());
  plan->device = parent->self().device;
  plan->host = parent->self().host;
  plan->roots = {parent->peer(ranks[0]).address};
  plan->serves = rank == 0;
  plan->own_address = parent->self().address;
  return Ok();
}

}  // namespace ropeway::comm
