// Dispatchers come and go, and their settings.
#include "acl/acl.h"
#include "base/settings.h"
#include "hccl/dispatcher/dispatch.h"

using namespace ropeway::comm;

namespace ropeway::comm {
namespace {

// The device's user id, which is what the runtime's calls take.
Result<int32_t> FindDevice(s32 physical_id) {
  int32_t user_id = -1;
  RW_TRY(FromRuntime("aclrtGetUserDevIdByPhyDevId", aclrtGetUserDevIdByPhyDevId(physical_id, &user_id)));
  return user_id;
}

Status RequireHostType(DispatcherType type) {
  if (type == DispatcherType::DISPATCHER_NORMAL || type == DispatcherType::DISPATCHER_VIRTURAL) return Ok();
  return Fail(HCCL_E_NOT_SUPPORT, "type %d is not for the host; use DISPATCHER_NORMAL (0) or DISPATCHER_VIRTURAL (1)",
              static_cast<int>(type));
}

// The original's switch for subgraphs is on, except where this setting wants every task in its stream at once.
bool SubgraphsWanted() { return SettingText("HCCL_OP_EXPANSION_MODE") != "HOST_TS"; }

// A thread without a context gets the dispatcher's device. The answer is the device to give back later, or -1.
Result<int32_t> BorrowDevice(int32_t user_id) {
  aclrtContext current = nullptr;
  if (aclrtGetCurrentContext(&current) == ACL_SUCCESS) return int32_t{-1};
  RW_TRY(FromRuntime("aclrtSetDevice", aclrtSetDevice(user_id)));
  return user_id;
}

Status Create(DispatcherType type, s32 physical_id, HcclDispatcher* handle) {
  int32_t user_id = -1;
  if (physical_id != HOST_DEVICE_ID) {
    RW_TRY_SET(user_id, FindDevice(physical_id));
  }
  RW_TRY(RequireHostType(type));
  HcclDispatcher made = nullptr;
  RW_TRY_SET(Dispatcher * dispatcher, AddDispatcher(type, type == DispatcherType::DISPATCHER_NORMAL && SubgraphsWanted(), &made));
  if (user_id >= 0) {
    Result<int32_t> borrowed = BorrowDevice(user_id);
    if (!borrowed.ok()) {
      static_cast<void>(RemoveDispatcher(made));
      return borrowed.status();
    }
    dispatcher->borrowed_device.store(borrowed.value());
  }
  *handle = made;
  return Ok();
}

// Changes one setting of a live dispatcher.
template <typename Change>
HcclResult Set(const char* call, HcclDispatcher handle, Change change) {
  return Entry(call, [&]() -> Status {
    RW_TRY_SET(Dispatcher * dispatcher, FindDispatcher(handle));
    dispatcher->ChangeSettings(change);
    return Ok();
  });
}

// A call that succeeds without an effect, as on the original's host side.
HcclResult AcceptOnly(const char* call, HcclDispatcher handle) {
  return Entry(call, [&]() -> Status { return FindDispatcher(handle).status(); });
}

HcclResult RefuseOnHost(const char* call, HcclDispatcher handle) {
  return Entry(call, [&]() -> Status {
    RW_TRY(FindDispatcher(handle).status());
    return Fail(HCCL_E_INTERNAL, "this is for dispatchers on the device; there is none without an NPU");
  });
}

}  // namespace
}  // namespace ropeway::comm

HcclResult HcclDispatcherInit(DispatcherType type, const s32 devicePhyId, HcclDispatcher* dispatcher) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("dispatcher", dispatcher));
    return Create(type, devicePhyId, dispatcher);
  });
}

HcclResult HcclDispatcherInit(DispatcherType type, const s32 deviceLogicId, const std::shared_ptr<hccl::ProfilerManager>&,
                              HcclDispatcher* dispatcher) {
  return Entry("HcclDispatcherInit", [&]() -> Status {
    RW_TRY(RequirePointer("dispatcher", dispatcher));
    int32_t physical_id = HOST_DEVICE_ID;
    if (deviceLogicId != HOST_DEVICE_ID)
      RW_TRY(FromRuntime("aclrtGetPhyDevIdByLogicDevId", aclrtGetPhyDevIdByLogicDevId(deviceLogicId, &physical_id)));
    return Create(type, physical_id, dispatcher);
  });
}

HcclResult HcclDispatcherDestroy(HcclDispatcher dispatcher) {
  return Entry(__func__, [&]() -> Status {
    if (dispatcher == nullptr) return Ok();
    RW_TRY_SET(const int32_t borrowed, RemoveDispatcher(dispatcher));
    if (borrowed < 0) return Ok();
    return FromRuntime("aclrtResetDevice", aclrtResetDevice(borrowed));
  });
}

HcclResult HcclDispatcherAicpuInit(HcclDispatcher* dispatcher, const u32, uint32_t, DispatcherType) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("dispatcher", dispatcher));
    return Fail(HCCL_E_NOT_SUPPORT, "this dispatcher lives on the device; use HcclDispatcherInit on the host");
  });
}

// The overflow flag is on two old families of devices only; on all others the list stays as it is.
HcclResult HcclSetGlobalWorkSpace(HcclDispatcher dispatcher, std::vector<void*>&) { return AcceptOnly(__func__, dispatcher); }

HcclResult HcclSetNotifyWaitMode(HcclDispatcher dispatcher, const SyncMode notifyWaitMode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * found, FindDispatcher(dispatcher));
    if (notifyWaitMode < DEFAULT_TIMEWAITSYNCMODE || notifyWaitMode > UNLIMITED_TIMEWAITSYNCMODE)
      return Fail(HCCL_E_PARA, "notifyWaitMode %d is not one of 0 (default), 1 (configurable), 2 (unlimited)", int{notifyWaitMode});
    found->ChangeSettings([&](Dispatcher::Settings& settings) { settings.wait_mode = notifyWaitMode; });
    return Ok();
  });
}

HcclResult HcclGetNotifyWaitMode(HcclDispatcher dispatcher, SyncMode* notifyWaitMode) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * found, FindDispatcher(dispatcher));
    RW_TRY(RequirePointer("notifyWaitMode", notifyWaitMode));
    *notifyWaitMode = found->settings().wait_mode;
    return Ok();
  });
}

HcclResult HcclSetExecTimeOut(HcclDispatcher dispatcher, s32 execTimeOut) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * found, FindDispatcher(dispatcher));
    if (execTimeOut < 0) return Fail(HCCL_E_PARA, "execTimeOut %d is negative; give seconds, or 0 for no limit", execTimeOut);
    found->ChangeSettings([&](Dispatcher::Settings& settings) { settings.exec_time_out = execTimeOut; });
    return Ok();
  });
}

// A choice among queue pairs of a network card, of which the host side has none: kept, and never looked at.
HcclResult SetMultiQpMode(HcclDispatcher dispatcher, bool multiQpMode) {
  return Set(__func__, dispatcher, [=](Dispatcher::Settings& settings) { settings.multi_qp = multiQpMode; });
}

// Callbacks of a network card on the host would leave a result here; there are none, so none has failed.
HcclResult HcclGetCallbackResult(HcclDispatcher dispatcher) { return AcceptOnly(__func__, dispatcher); }

HcclResult HcclDispatcherWaitValue(HcclDispatcher dispatcher, hccl::Stream&, u64, u64, bool) { return AcceptOnly(__func__, dispatcher); }

HcclResult HcclDispatcherWriteValue(HcclDispatcher dispatcher, hccl::Stream&, u64, u64) { return AcceptOnly(__func__, dispatcher); }

HcclResult AddRetryPreamble(HcclDispatcher dispatcherPtr, hccl::Stream&) { return AcceptOnly(__func__, dispatcherPtr); }

HcclResult StreamSync(HcclDispatcher dispatcherPtr, hccl::Stream&) { return AcceptOnly(__func__, dispatcherPtr); }

HcclResult ForceProfOn(HcclDispatcher& dispatcher, bool isForce) {
  return Set(__func__, dispatcher, [=](Dispatcher::Settings& settings) { settings.profiling = isForce; });
}

HcclResult HcclSetOpExecStatusCallback(HcclDispatcher dispatcherPtr, std::function<HcclResult()>) {
  return RefuseOnHost(__func__, dispatcherPtr);
}

HcclResult HcclSetSqeTimeOut(HcclDispatcher dispatcherPtr, const u64) { return RefuseOnHost(__func__, dispatcherPtr); }

HcclResult HcclSetSqFullWaitTimeOut(HcclDispatcher dispatcherPtr, const u64) { return RefuseOnHost(__func__, dispatcherPtr); }

HcclResult HcclSetOpRingBufferIdx(HcclDispatcher dispatcherPtr, const u32) { return RefuseOnHost(__func__, dispatcherPtr); }

HcclResult HcclSetQosCfg(HcclDispatcher dispatcherPtr, const u32 qosCfg) {
  return Set(__func__, dispatcherPtr, [=](Dispatcher::Settings& settings) { settings.qos = qosCfg; });
}

HcclResult HcclResetQosCfg(HcclDispatcher dispatcherPtr) {
  return Set(__func__, dispatcherPtr, [](Dispatcher::Settings& settings) { settings.qos = INVALID_QOSCFG; });
}

HcclResult HcclGetQosCfg(HcclDispatcher dispatcherPtr, u32* qosCfg) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY_SET(Dispatcher * found, FindDispatcher(dispatcherPtr));
    RW_TRY(RequirePointer("qosCfg", qosCfg));
    *qosCfg = found->settings().qos;
    return Ok();
  });
}
