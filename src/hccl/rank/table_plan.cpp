#include "hccl/rank/table_plan.h"

#include <cstdlib>

#include "hccl/rank/sha256.h"

namespace ropeway::comm {
namespace {

// A table with one server needs no addresses, and those of its devices may be on no network of this host: the ranks
// meet on the loopback, at rank 0's port.
Address MeetingPoint(const RankTable& table) {
  const Address& first = table.ranks[0].address;
  if (!table.one_server) return first;
  return *Address::Parse("127.0.0.1", first.valid() ? first.port : uint16_t{16666});
}

}  // namespace

void PlanByTable(const RankTable& table, const std::string& text, uint32_t rank, Plan* plan) {
  const char* const extra = std::getenv("ROPEWAY_HCCL_SECRET");
  const std::string base(BytesOf(HmacSha256(extra == nullptr ? "" : extra, text)));
  plan->communicator = DeriveName(base, "rank table");
  plan->secret = DeriveSecret(base, "rank table");
  plan->rank = rank;
  plan->size = static_cast<uint32_t>(table.ranks.size());
  plan->host = table.ranks[rank].server;
  plan->root = MeetingPoint(table);
  plan->serves = rank == 0;
  plan->own_address = table.one_server ? plan->root : table.ranks[rank].address;
  plan->own_address->port = 0;
}

}  // namespace ropeway::comm
