// From a rank table to a plan: rank 0's address is the meeting point, or the loopback when there is one server; the table's text is the
// secret.
#pragma once

#include <string>

#include "hccl/bootstrap/bootstrap.h"
#include "hccl/bootstrap/rank_table.h"

namespace ropeway::comm {

// `rank` is in the table. Whoever can read the table can join, unless ROPEWAY_HCCL_SECRET adds something that only the
// ranks know.
void PlanByTable(const RankTable& table, const std::string& text, uint32_t rank, Plan* plan);

}  // namespace ropeway::comm
