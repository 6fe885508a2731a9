#include "hccl/api/group.h"

#include <utility>

#include "hccl/hccl.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

// A call, and the context that it was made in.
struct KeptCall {
  GroupedCall call;
  aclrtContext context;
};

struct ThreadGroup {
  uint32_t depth = 0;
  std::vector<KeptCall> calls;
};
thread_local ThreadGroup t_group;

// What is launched together, in the context of its calls.
struct PreparedCall {
  aclrtContext context;
  Launch launch;
};

// The thread's own context comes back.
class ContextKept {
 public:
  ContextKept() {
    if (aclrtGetCurrentContext(&own_) != ACL_SUCCESS) own_ = nullptr;
  }
  ~ContextKept() {
    if (own_ != nullptr) aclrtSetCurrentContext(own_);
  }
  ContextKept(const ContextKept&) = delete;
  ContextKept& operator=(const ContextKept&) = delete;

 private:
  aclrtContext own_ = nullptr;
};

bool IsItem(const GroupedCall& call) { return !call.prepare; }

// All sends and receives of the first one's communicator and stream; they are taken out.
std::vector<HcclSendRecvItem> TakeItems(const GroupedCall& first, std::vector<KeptCall>& calls, size_t from) {
  std::vector<HcclSendRecvItem> items{first.item};
  for (size_t i = from; i < calls.size();) {
    const GroupedCall& call = calls[i].call;
    const bool with_it = IsItem(call) && call.comm == first.comm && call.stream == first.stream;
    if (with_it) items.push_back(call.item);
    if (with_it)
      calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  return items;
}

Result<std::vector<PreparedCall>> PrepareAll(std::vector<KeptCall> calls) {
  std::vector<PreparedCall> prepared;
  for (size_t i = 0; i < calls.size(); ++i) {
    const KeptCall kept = calls[i];
    RW_TRY(FromRuntime("aclrtSetCurrentContext", aclrtSetCurrentContext(kept.context)));
    const GroupedCall& call = kept.call;
    RW_TRY_SET(Launch launch,
               IsItem(call) ? PrepareBatch(call.name, TakeItems(call, calls, i + 1), call.comm, call.stream) : call.prepare());
    prepared.push_back({kept.context, std::move(launch)});
  }
  return prepared;
}

}  // namespace

bool InGroup() { return t_group.depth > 0; }

Status AddToGroup(GroupedCall call) {
  aclrtContext context = nullptr;
  RW_TRY(FromRuntime("aclrtGetCurrentContext", aclrtGetCurrentContext(&context)));
  t_group.calls.push_back({std::move(call), context});
  return Ok();
}

}  // namespace ropeway::comm

HcclResult HcclGroupStart() {
  return Entry(__func__, []() -> Status {
    ++t_group.depth;
    return Ok();
  });
}

// Everything is checked before anything begins.
HcclResult HcclGroupEnd() {
  return Entry(__func__, []() -> Status {
    if (t_group.depth == 0) return Fail(HCCL_E_NOT_SUPPORT, "no group is open on this thread: call HcclGroupStart first");
    if (--t_group.depth > 0) return Ok();
    const ContextKept context;
    RW_TRY_SET(std::vector<PreparedCall> prepared, PrepareAll(std::exchange(t_group.calls, {})));
    for (const PreparedCall& call : prepared) {
      RW_TRY(FromRuntime("aclrtSetCurrentContext", aclrtSetCurrentContext(call.context)));
      RW_TRY(call.launch());
    }
    return Ok();
  });
}

HcclResult HcclGroupStatusGet(bool* isGroupEnabled) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("isGroupEnabled", isGroupEnabled));
    *isGroupEnabled = InGroup();
    return Ok();
  });
}
