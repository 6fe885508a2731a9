// hccl::P2PMgmtPub: peer access of the runtime, counted, by physical ids.
#include <map>
#include <utility>

#include "acl/acl.h"
#include "base/mutex.h"
#include "hccl/base/result.h"
#include "p2p_mgmt_pub.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

using Direction = std::pair<int32_t, int32_t>;  // user ids: from the first to the second

struct Counts {
  Mutex mutex{LockRank::kHcclPeerAccess};
  std::map<Direction, int> uses RW_GUARDED_BY(mutex);
};

// Never destroyed: calls may come during static destruction, too.
Counts& Peers() {
  static auto* counts = new Counts;
  return *counts;
}

Result<Direction> FindDirection(uint32_t physical_id) {
  int32_t current = -1;
  int32_t peer = -1;
  RW_TRY(FromRuntime("aclrtGetDevice", aclrtGetDevice(&current)));
  if (aclrtGetUserDevIdByPhyDevId(static_cast<int32_t>(physical_id), &peer) != ACL_SUCCESS)
    return Fail(HCCL_E_PARA, "remoteDevices: %u is not the physical id of a visible device", physical_id);
  return Direction(current, peer);
}

bool IsSelf(const Direction& direction) { return direction.first == direction.second; }

// Under the lock, so that two threads agree about who is the first and the last. The device's own memory needs no leave.
Status Enable(const Direction& direction) {
  if (IsSelf(direction)) return Ok();
  Counts& peers = Peers();
  LockGuard lock(peers.mutex);
  int& uses = peers.uses[direction];
  // The call is cheap, and a reset of the device in between has taken the access away.
  RW_TRY(FromRuntime("aclrtDeviceEnablePeerAccess", aclrtDeviceEnablePeerAccess(direction.second, 0)));
  ++uses;
  return Ok();
}

Status Disable(const Direction& direction) {
  if (IsSelf(direction)) return Ok();
  Counts& peers = Peers();
  LockGuard lock(peers.mutex);
  const auto found = peers.uses.find(direction);
  if (found == peers.uses.end() || found->second == 0)
    return Fail(HCCL_E_NOT_FOUND, "access from device %d to device %d is not enabled", direction.first, direction.second);
  if (--found->second > 0) return Ok();
  peers.uses.erase(found);
  return FromRuntime("aclrtDeviceDisablePeerAccess", aclrtDeviceDisablePeerAccess(direction.second));
}

Result<std::vector<Direction>> FindDirections(const std::vector<uint32_t>& physical_ids) {
  std::vector<Direction> directions;
  for (uint32_t id : physical_ids) {
    RW_TRY_SET(Direction direction, FindDirection(id));
    directions.push_back(direction);
  }
  return directions;
}

}  // namespace
}  // namespace ropeway::comm

namespace hccl {

HcclResult P2PMgmtPub::EnableP2P(std::vector<uint32_t> remoteDevices) {
  return Entry("P2PMgmtPub::EnableP2P", [&]() -> Status {
    RW_TRY_SET(std::vector<Direction> directions, FindDirections(remoteDevices));
    for (size_t i = 0; i < directions.size(); ++i) {
      Status status = Enable(directions[i]);
      if (status.ok()) continue;
      while (i-- > 0) static_cast<void>(Disable(directions[i]));
      return status;
    }
    return Ok();
  });
}

HcclResult P2PMgmtPub::DisableP2P(std::vector<uint32_t> remoteDevices) {
  return Entry("P2PMgmtPub::DisableP2P", [&]() -> Status {
    RW_TRY_SET(std::vector<Direction> directions, FindDirections(remoteDevices));
    for (const Direction& direction : directions) RW_TRY(Disable(direction));
    return Ok();
  });
}

// Enabling is done when EnableP2P returns, so there is nothing to wait for.
HcclResult P2PMgmtPub::WaitP2PEnabled(std::vector<uint32_t> remoteDevices, std::function<bool()> needStop) {
  return Entry("P2PMgmtPub::WaitP2PEnabled", [&]() -> Status {
    RW_TRY_SET(std::vector<Direction> directions, FindDirections(remoteDevices));
    if (needStop && needStop()) return Fail(HCCL_E_AGAIN, "needStop ended the wait");
    for (const Direction& direction : directions) {
      if (IsSelf(direction)) continue;
      int32_t enabled = 0;
      RW_TRY(FromRuntime("aclrtDevicePeerAccessStatus", aclrtDevicePeerAccessStatus(direction.first, direction.second, &enabled)));
      if (enabled == 0)
        return Fail(HCCL_E_NOT_FOUND, "nobody enabled access from device %d to device %d; call EnableP2P", direction.first,
                    direction.second);
    }
    return Ok();
  });
}

}  // namespace hccl
