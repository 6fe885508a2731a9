// The rank table of HcclCommInitClusterInfo: JSON, versions 1.0, 1.2 and 2.0. Says who is where; the ranks still have to
// find each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hccl/transport/address.h"

namespace ropeway::comm {

// Where a rank listens for which the table has no device_port.
inline constexpr uint16_t kDefaultDevicePort = 16666;

struct RankTable {
  struct Rank {
    std::string server;
    int32_t device = 0;
    Address address;  // of the device, or else of the server; not valid when the table gives none
  };
  std::vector<Rank> ranks;  // index = rank id
  bool one_server = false;
};

// Empty, or what is wrong with the table and where.
std::string ParseRankTable(const std::string& text, RankTable* table);

}  // namespace ropeway::comm
