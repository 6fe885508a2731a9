// How libraries on top of the runtime put work of their own into a stream, keep a stream to themselves, and hand out addresses of
// memory that they alone reach.
#include "stream/operation.h"

#include <new>

#include "acl/error_codes/rt_error_codes.h"
#include "api/entry.h"
#include "engine/waiter_help.h"
#include "engine/watcher.h"
#include "profile/markers.h"
#include "ropeway/ropeway.h"
#include "stream/model.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

class UserOperation final : public Operation {
 public:
  UserOperation(ropewayStartFunc start, ropewayDropFunc drop, const Stream& stream, void* argument = nullptr)
      : start_(start), drop_(drop), argument_(argument), stream_id_(static_cast<uint32_t>(stream.id())) {}
  void set_argument(void* argument) { argument_ = argument; }
  using Operation::SetBrief;

  // The handle owns a reference of its own from the start to the finish.
  using Handle = std::shared_ptr<UserOperation>;
  void Tell(Watcher& watcher, const TransferSight& sight) const { watcher.Transferred(stream_id_, sequence(), sight); }
  void Tell(Watcher& watcher, uint64_t message, bool sends) const { watcher.Messaged(stream_id_, sequence(), message, sends); }

 private:
  void Start() override {
    handle_ = std::static_pointer_cast<UserOperation>(shared_from_this());
    start_(argument_, &handle_);
  }
  void Abandoned(bool started) override { drop_(argument_, started ? 1 : 0); }

  const ropewayStartFunc start_;
  const ropewayDropFunc drop_;
  void* argument_;
  const uint32_t stream_id_;
  Handle handle_;  // itself, from the start to the finish
};

class UserOperationSource final : public OperationSource {
 public:
  UserOperationSource(ropewayStartFunc start, ropewayDropFunc drop, ropewayRepeatFunc repeat, ropewayForgetFunc forget, void* argument)
      : start_(start), drop_(drop), repeat_(repeat), forget_(forget), argument_(argument) {}
  ~UserOperationSource() override {
    if (captured_) forget_(argument_);
  }
  UserOperationSource(const UserOperationSource&) = delete;
  UserOperationSource& operator=(const UserOperationSource&) = delete;

  std::shared_ptr<Operation> MakeFor(const Stream& stream) override {
    auto operation = std::make_shared<UserOperation>(start_, drop_, stream);
    void* const argument = repeat_(argument_);
    if (argument == nullptr) throw std::bad_alloc();
    operation->set_argument(argument);
    return operation;
  }
  // From now on somebody has to be told when it is forgotten.
  void Captured() { captured_ = true; }

 private:
  const ropewayStartFunc start_;
  const ropewayDropFunc drop_;
  const ropewayRepeatFunc repeat_;
  const ropewayForgetFunc forget_;
  void* const argument_;
  bool captured_ = false;
};

Status Launch(ropewayStartFunc start, ropewayDropFunc drop, void* argument, void* stream, bool brief) {
  RW_TRY(RequirePointer("start", reinterpret_cast<const void*>(start)));
  RW_TRY(RequirePointer("drop", reinterpret_cast<const void*>(drop)));
  RW_TRY_SET(StreamRef found, FindStream(stream));
  RW_TRY_SET(Context * context, CurrentContext());
  const StreamRef on = OrDefault(found, *context);
  const auto operation = std::make_shared<UserOperation>(start, drop, *on.stream, argument);
  if (brief) operation->SetBrief();
  return operation->LaunchOn(on, &context->scope(), 0, "ropewayLaunchOperation");
}

}  // namespace
}  // namespace ropeway::api

aclError ropewayLaunchOperation(ropewayStartFunc start, ropewayDropFunc drop, void* argument, void* stream) {
  return Entry(__func__, [&] { return Launch(start, drop, argument, stream, false); });
}

aclError ropewayLaunchBriefOperation(ropewayStartFunc start, ropewayDropFunc drop, void* argument, void* stream) {
  return Entry(__func__, [&] { return Launch(start, drop, argument, stream, true); });
}

aclError ropewayCaptureOperation(ropewayStartFunc start, ropewayDropFunc drop, ropewayRepeatFunc repeat, ropewayForgetFunc forget,
                                 void* argument, void* stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("start", reinterpret_cast<const void*>(start)));
    RW_TRY(RequirePointer("drop", reinterpret_cast<const void*>(drop)));
    RW_TRY(RequirePointer("repeat", reinterpret_cast<const void*>(repeat)));
    RW_TRY(RequirePointer("forget", reinterpret_cast<const void*>(forget)));
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(StreamHold target, HoldStream(stream, context));
    RW_TRY(target->RequireContext(&context->scope()));
    const ModelHold model(Models(), target->HoldCapture());
    if (!model) return Fail(ACL_ERROR_RT_STREAM_NOT_CAPTURED, "stream %d is not being captured; use ropewayLaunchOperation", target->id());
    const auto source = std::make_shared<UserOperationSource>(start, drop, repeat, forget, argument);
    RW_TRY(model->CaptureOperation(*target, source, "ropewayCaptureOperation"));
    source->Captured();
    return Ok();
  });
}

aclError ropewayTellTransfer(ropewayOperation operation, const ropewayTransfer* transfer) {
  return PlainEntry(__func__, [&]() -> Status {
    static thread_local TransferSight sight;
    if (transfer != nullptr) sight = {static_cast<Link>(transfer->link), transfer->rank, transfer->bytes, transfer->items};
    if (operation == nullptr) {
      t_transfer = transfer == nullptr ? nullptr : &sight;
      return Ok();
    }
    RW_TRY(RequirePointer("transfer", transfer));
    if (Watcher* const watcher = ActiveWatcher()) (*static_cast<UserOperation::Handle*>(operation))->Tell(*watcher, sight);
    return Ok();
  });
}

aclError ropewayTellCommunication(const ropewayCommunication* communication) {
  static thread_local CommunicationSight sight;
  const char* const group = communication == nullptr || communication->group == nullptr ? nullptr : LastingText(communication->group);
  if (group != nullptr) sight = {group, communication->dataType, communication->count};
  t_communication = group == nullptr ? nullptr : &sight;
  return ACL_SUCCESS;
}

aclError ropewayTellMessage(ropewayOperation operation, uint64_t message, int32_t sends) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("operation", operation));
    if (Watcher* const watcher = ActiveWatcher()) (*static_cast<UserOperation::Handle*>(operation))->Tell(*watcher, message, sends != 0);
    return Ok();
  });
}

aclError ropewayFinishOperation(ropewayOperation operation, aclError code, const char* text) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("operation", operation));
    const UserOperation::Handle handle = std::move(*static_cast<UserOperation::Handle*>(operation));
    const BeginsNextWait begins;
    handle->Finish(code, text == nullptr ? "" : text);
    return Ok();
  });
}

int32_t ropewayIsIdle(void* stream) {
  if (FaultsAreOn()) return 0;
  Stream* const found = Streams().Find(stream);
  Context* const context = CurrentContextOrNull();
  return found != nullptr && context != nullptr && MayBeDoneNow({found, StreamSlab::GenerationOf(stream)}, *context) ? 1 : 0;
}

void* ropewayBeginAccess(void) { return BeginSyncOperation(); }

void ropewayEndAccess(void* access) {
  if (access != nullptr) EndSyncOperation(static_cast<OperationPlace*>(access));
}

aclError ropewayHelpWaiters(ropewayHelpFunc help) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("help", reinterpret_cast<const void*>(help)));
    SetWaiterHelp(help);
    return Ok();
  });
}

aclError ropewayStopStreamOnFailure(void* stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    RW_TRY_SET(Context * context, CurrentContext());
    RW_TRY_SET(StreamHold target, HoldStream(stream, context));
    RW_TRY(target->RequireContext(&context->scope()));
    target->stops_alone.store(true, std::memory_order_relaxed);
    return Ok();
  });
}

aclError ropewayReserveRemote(size_t size, void** address) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("address", address));
    if (size == 0) return Reject(ACL_ERROR_INVALID_PARAM, "size is 0");
    const std::optional<void*> begin = TheMemory().ReserveRemote(size);
    if (!begin) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "the process has no %zu bytes of addresses left", size);
    *address = *begin;
    return Ok();
  });
}

aclError ropewayReleaseRemote(void* address) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("address", address));
    if (TheMemory().ReleaseRemote(address)) return Ok();
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "address %p is not the start of a reserved range", address);
  });
}
