// HcclGroupStart and HcclGroupEnd: what a thread asks for in between is kept, and begins together at the end.
#pragma once

#include <functional>
#include <vector>

#include "acl/acl_rt.h"
#include "hccl/base/result.h"
#include "hccl/hccl_types.h"

namespace ropeway::comm {

// Work that has passed its checks.
using Launch = std::function<Status()>;

// A call inside a group: `prepare` makes the checks that are left, and gives what to do. Of sends and receives there is the item alone:
// those of one communicator and stream become one batch.
struct GroupedCall {
  const char* name = nullptr;
  HcclComm comm = nullptr;
  aclrtStream stream = nullptr;
  std::function<Result<Launch>()> prepare;
  HcclSendRecvItem item{};
};

// Whether the calling thread is inside a group.
bool InGroup();
Status AddToGroup(GroupedCall call);

// Items of one stream as HcclBatchSendRecv takes them, checked (send_recv.cpp).
Result<Launch> PrepareBatch(const char* name, const std::vector<HcclSendRecvItem>& items, HcclComm comm, aclrtStream stream);

}  // namespace ropeway::comm
