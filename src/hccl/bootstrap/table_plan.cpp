#include "hccl/bootstrap/table_plan.h"

#include <algorithm>

#include "base/settings.h"
#include "hccl/transport/host_identity.h"
#include "hccl/transport/sha256.h"
#include "hccl/transport/socket.h"

namespace ropeway::comm {
namespace {

const Address kLoopback = *Address::Parse("127.0.0.1", 0);

// Where the ranks of one server meet: on the loopback, at an address that follows from the communicator, so that jobs with different
// tables, or different secrets, do not meet each other at one port.
Address LoopbackMeetingPoint(const RankTable& table, const std::string& communicator) {
  Address point = kLoopback;
  const auto byte = [&](size_t index) { return static_cast<uint8_t>(communicator[index]); };
  point.bytes[1] = static_cast<uint8_t>(1 + byte(0) % 254);
  point.bytes[2] = byte(1);
  point.bytes[3] = static_cast<uint8_t>(1 + byte(2) % 254);
  point.port = table.ranks[0].address.valid() ? table.ranks[0].address.port : kDefaultDevicePort;
  return point;
}

// A table with one server needs no addresses, and those of its devices may be on no network of this host. But when this rank's address
// is one of this network namespace and another rank's is not, the server's ranks live in several of them.
bool IsSpread(const RankTable& table, const Address& own) {
  if (!own.valid() || !IsLocal(own)) return false;
  return std::any_of(table.ranks.begin(), table.ranks.end(),
                     [](const RankTable::Rank& rank) { return rank.address.valid() && !IsLocal(rank.address); });
}

void PlanMeeting(const RankTable& table, uint32_t rank, Plan* plan) {
  const Address& own = table.ranks[rank].address;
  const Address& first = table.ranks[0].address;
  if (!table.one_server) {
    plan->roots = {first};
    plan->own_address = own;
    return;
  }
  const bool spread = IsSpread(table, own);
  plan->roots = {LoopbackMeetingPoint(table, plan->communicator)};
  if (spread && first.valid() && (rank == 0 || !IsLocal(first))) plan->roots.push_back(first);
  plan->own_address = spread ? own : kLoopback;
}

}  // namespace

void PlanByTable(const RankTable& table, const std::string& text, uint32_t rank, Plan* plan) {
  const std::string base(BytesOf(HmacSha256(SettingText("ROPEWAY_HCCL_SECRET"), text)));
  plan->communicator = DeriveName(base, "rank table");
  plan->secret = DeriveSecret(base, "rank table");
  plan->rank = rank;
  plan->size = static_cast<uint32_t>(table.ranks.size());
  // What shares memory is both: one server to the table, and one host to the kernel.
  plan->host = table.ranks[rank].server + "/" + HostIdentity();
  plan->serves = rank == 0;
  PlanMeeting(table, rank, plan);
  plan->own_address->port = 0;
}

}  // namespace ropeway::comm
