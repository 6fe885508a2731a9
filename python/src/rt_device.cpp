// acl.rt: devices, their facts and limits.
#include "dicts.h"
#include "tables.h"

namespace ropeway::python {
namespace {

template <FixedString kPath, auto kFunction, auto kToDict>
PyObject* DeviceRecord(PyObject*, Argv argv, Py_ssize_t count) {
  int32_t device;
  if (!ReadArguments<"I">(kPath.text, argv, count, device)) return nullptr;
  RecordOf<kToDict> record{};
  const int code = kFunction(device, &record);
  return Tuple(kToDict(record), ToPython(code));
}

PyObject* GetMemUceInfo(PyObject*, Argv argv, Py_ssize_t count) {
  int32_t device;
  uint32_t size;
  if (!ReadArguments<"IU">("acl.rt.get_mem_uce_info", argv, count, device, size)) return nullptr;
  aclrtMemUceInfo infos[MAX_MEM_UCE_INFO_ARRAY_SIZE] = {};  // more than this is refused by the call
  size_t found = 0;
  const int code = aclrtGetMemUceInfo(device, infos, size, &found);
  Reference list(PyList_New(0));
  if (!list) return nullptr;
  for (size_t i = 0; i < found && i < MAX_MEM_UCE_INFO_ARRAY_SIZE; ++i) {
    Reference info(UceInfoToDict(infos[i]));
    if (!info || PyList_Append(list.get(), info.get()) < 0) return nullptr;
  }
  return Tuple(list.release(), ToPython(code));
}

PyObject* MemUceRepair(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.mem_uce_repair";
  int32_t device;
  PyObject* list;
  std::vector<aclrtMemUceInfo> infos;
  if (!ReadArguments<"IO">(kPath, argv, count, device, list)) return nullptr;
  if (!ReadStructures(kPath, "infos", list, &ReadUceInfo, &infos)) return nullptr;
  return ToPython(aclrtMemUceRepair(device, infos.data(), infos.size()));
}

PyObject* GetGroupInfoDetail(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.get_group_info_detail";
  const aclrtGroupInfo* info;
  int32_t group;
  aclrtGroupAttr attribute;
  if (!ReadArguments<"PII">(kPath, argv, count, info, group, attribute)) return nullptr;
  int32_t values[64] = {};
  size_t bytes = 0;
  const int code = aclrtGetGroupInfoDetail(info, group, attribute, values, sizeof(values), &bytes);
  if (code != ACL_SUCCESS) {
    PyErr_Format(PyExc_RuntimeError, "%s: error %d", kPath, code);
    return nullptr;
  }
  return Tuple(ListOf(values, std::min(bytes, sizeof(values)) / sizeof(values[0])), ToPython(code));
}

// The argument is mandatory and means nothing.
PyObject* GetGroupCount(PyObject*, Argv argv, Py_ssize_t count) {
  uint32_t ignored, groups = 0;
  if (!ReadArguments<"U">("acl.rt.get_group_count", argv, count, ignored)) return nullptr;
  const int code = aclrtGetGroupCount(&groups);
  return Tuple(ToPython(groups), ToPython(code));
}

}  // namespace

Table kDeviceFunctions[] = {
    RW_WAITING("acl.rt.set_device", aclrtSetDevice, "I", "device_id", "ret",
               "Brings a device up and makes its default context current on this thread."),
    RW_WAITING("acl.rt.reset_device", aclrtResetDevice, "I", "device_id", "ret",
               "Takes one set_device back; the last one ends the device's default context and frees its memory."),
    RW_WAITING("acl.rt.reset_device_force", aclrtResetDeviceForce, "I", "device_id", "ret",
               "Takes every set_device of the device back at once."),
    RW_CALL_PLAIN("acl.rt.get_device", aclrtGetDevice, "(device_id, ret)", "The device of the current context."),
    RW_CALL_PLAIN("acl.rt.get_run_mode", aclrtGetRunMode, "(run_mode, ret)",
                  "1 on a host with devices, 0 on a device itself. Needs neither init nor a device."),
    RW_CALL_PLAIN("acl.rt.get_device_count", aclrtGetDeviceCount, "(count, ret)", "The number of visible devices."),
    RW_CALL("acl.rt.set_ts_device", aclrtSetTsDevice, "I", "ts_id", "ret", "Chooses a task scheduler; accepted without effect."),
    RW_CALL("acl.rt.set_device_sat_mode", aclrtSetDeviceSatMode, "I", "mode", "ret",
            "How floating point kernels overflow: 0 saturate, 1 infinity and not-a-number."),
    RW_CALL_PLAIN("acl.rt.get_device_sat_mode", aclrtGetDeviceSatMode, "(mode, ret)", "What set_device_sat_mode has set."),
    RW_SPECIAL("acl.rt.get_device_utilization_rate",
               (&DeviceRecord<"acl.rt.get_device_utilization_rate", aclrtGetDeviceUtilizationRate, &UtilizationToDict>), "device_id, /",
               "(dict, ret)", "Percentages by unit, -1 where unknown."),
    RW_CALL("acl.rt.query_device_status", aclrtQueryDeviceStatus, "I", "device_id", "(status, ret)", "0 normal, 1 abnormal."),
    RW_WAITING("acl.rt.device_task_abort", aclrtDeviceTaskAbort, "IU", "device_id, timeout", "ret",
               "Ends everything that runs or waits on a device. Milliseconds, 0 is for ever."),
    RW_CALL("acl.rt.get_device_info", aclrtGetDeviceInfo, "UU", "device_id, attr", "(value, ret)",
            "One number about a device, in full 64 bits."),
    RW_CALL_PLAIN("acl.rt.device_get_stream_priority_range", aclrtDeviceGetStreamPriorityRange, "(least_priority, greatest_priority, ret)",
                  "The range of stream priorities."),
    RW_CALL("acl.rt.get_device_capability", aclrtGetDeviceCapability, "IU", "device_id, feature_type", "(value, ret)",
            "Whether a device has a feature (aclrtDevFeatureType)."),
    RW_CALL("acl.rt.get_device_res_limit", aclrtGetDeviceResLimit, "IU", "device_id, type", "(value, ret)", "Core limit of a device."),
    RW_CALL("acl.rt.set_device_res_limit", aclrtSetDeviceResLimit, "IUU", "device_id, type, value", "ret",
            "Sets a core limit of a device; copies do not care."),
    RW_CALL("acl.rt.reset_device_res_limit", aclrtResetDeviceResLimit, "I", "device_id", "ret", "Takes core limits of a device back."),
    RW_CALL("acl.rt.get_devices_topo", aclrtGetDevicesTopo, "UU", "device_id, other_device_id", "(value, ret)",
            "How two devices are linked, in full 64 bits."),
    RW_CALL("acl.rt.get_logic_dev_id_by_user_dev_id", aclrtGetLogicDevIdByUserDevId, "I", "user_dev_id", "(logic_dev_id, ret)",
            "From the index among the visible devices to the one among all."),
    RW_CALL("acl.rt.get_user_dev_id_by_logic_dev_id", aclrtGetUserDevIdByLogicDevId, "I", "logic_dev_id", "(user_dev_id, ret)",
            "The way back of get_logic_dev_id_by_user_dev_id."),
    RW_CALL("acl.rt.get_logic_dev_id_by_phy_dev_id", aclrtGetLogicDevIdByPhyDevId, "I", "phy_dev_id", "(logic_dev_id, ret)",
            "From the id on the bare machine."),
    RW_CALL("acl.rt.get_phy_dev_id_by_logic_dev_id", aclrtGetPhyDevIdByLogicDevId, "I", "logic_dev_id", "(phy_dev_id, ret)",
            "To the id on the bare machine."),
    RW_SPECIAL("acl.rt.device_get_uuid", (&DeviceRecord<"acl.rt.device_get_uuid", aclrtDeviceGetUuid, &UuidToDict>), "device_id, /",
               "(dict, ret)", "16 bytes that name the device, under the key bytes."),
    RW_CALL("acl.rt.device_can_access_peer", aclrtDeviceCanAccessPeer, "II", "device_id, peer_device_id", "(can_access_peer, ret)",
            "Whether one device can reach the memory of another."),
    RW_WAITING("acl.rt.device_enable_peer_access", aclrtDeviceEnablePeerAccess, "IU", "peer_device_id, flags", "ret",
               "Lets the current device reach the memory of a peer; flags must be 0."),
    RW_WAITING("acl.rt.device_disable_peer_access", aclrtDeviceDisablePeerAccess, "I", "peer_device_id", "ret", "Ends peer access."),
    RW_CALL("acl.rt.device_peer_access_status", aclrtDevicePeerAccessStatus, "II", "device_id, peer_device_id", "(status, ret)",
            "1 when peer access is on in this direction."),
    RW_CALL_PLAIN("acl.rt.device_get_bare_tgid", aclrtDeviceGetBareTgid, "(pid, ret)", "The process id that exporters put on their lists."),
    RW_CALL("acl.rt.device_set_limit", aclrtDeviceSetLimit, "IP", "limit, value", "ret", "Size of a stack or print buffer."),
    RW_CALL("acl.rt.device_get_limit", aclrtDeviceGetLimit, "I", "limit", "(value, ret)", "What device_set_limit has set."),
    RW_CALL("acl.rt.set_sys_param_opt", aclrtSetSysParamOpt, "IL", "opt, value", "ret", "Sets an option of the process."),
    RW_CALL("acl.rt.get_sys_param_opt", aclrtGetSysParamOpt, "I", "opt", "(value, ret)", "Reads an option of the process."),
    RW_WAITING_PLAIN("acl.rt.synchronize_device", aclrtSynchronizeDevice, "ret", "Waits for all streams of the current context."),
    RW_WAITING("acl.rt.synchronize_device_with_timeout", aclrtSynchronizeDeviceWithTimeout, "I", "timeout_ms", "ret",
               "The same for at most so many milliseconds, -1 for ever; 507046 when the time is up."),
    RW_WAITING("acl.rt.get_overflow_status", aclrtGetOverflowStatus, "PPP", "output_addr, output_size, stream", "ret",
               "Overflow flags of kernels."),
    RW_WAITING("acl.rt.reset_overflow_status", aclrtResetOverflowStatus, "P", "stream", "ret", "Clears overflow flags of kernels."),
    RW_CALL("acl.rt.set_group", aclrtSetGroup, "U", "group_id", "ret", "Chooses a group of cores."),
    RW_SPECIAL("acl.rt.get_group_count", &GetGroupCount, "ignored, /", "(count, ret)",
               "The number of core groups. Demands an argument and ignores it."),
    RW_CALL_PLAIN("acl.rt.create_group_info", aclrtCreateGroupInfo, "handle", "Room for facts about core groups."),
    RW_CALL("acl.rt.destroy_group_info", aclrtDestroyGroupInfo, "P", "group_info", "ret", "Frees what create_group_info made."),
    RW_CALL("acl.rt.get_all_group_info", aclrtGetAllGroupInfo, "P", "group_info", "ret", "Fills facts about core groups in."),
    RW_SPECIAL("acl.rt.get_group_info_detail", &GetGroupInfoDetail, "group_info, group_id, attr, /", "(list, ret)",
               "One fact about a core group; RuntimeError when the call fails."),
    RW_SPECIAL("acl.rt.get_mem_uce_info", &GetMemUceInfo, "device_id, array_size, /", "(list, ret)",
               "Memory faults as a list of {addr, len, reserved}."),
    RW_SPECIAL("acl.rt.mem_uce_repair", &MemUceRepair, "device_id, infos: list[dict], /", "ret",
               "Repairs memory faults, given as a list of {addr, len, reserved}."),
    {}};

}  // namespace ropeway::python
