// acl.rt: contexts and streams.
#include "callbacks.h"
#include "dicts.h"
#include "tables.h"

namespace ropeway::python {
namespace {

// C insists on a null pointer for the flags, and the answer is always 0.
PyObject* GetPrimaryContextState(PyObject*, Argv argv, Py_ssize_t count) {
  int32_t device, active = 0;
  if (!ReadArguments<"I">("acl.rt.get_primary_ctx_state", argv, count, device)) return nullptr;
  const int code = aclrtGetPrimaryCtxState(device, nullptr, &active);
  return Tuple(ToPython(active), ToPython(0), ToPython(code));
}

PyObject* SetStreamAttribute(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.rt.set_stream_attribute";
  aclrtStream stream;
  aclrtStreamAttr attribute;
  PyObject* dict;
  aclrtStreamAttrValue value{};
  if (!ReadArguments<"PIO">(kPath, argv, count, stream, attribute, dict)) return nullptr;
  if (!ReadStreamAttribute(kPath, dict, attribute, &value)) return nullptr;
  return ToPython(aclrtSetStreamAttribute(stream, attribute, &value));
}

PyObject* GetStreamAttribute(PyObject*, Argv argv, Py_ssize_t count) {
  aclrtStream stream;
  aclrtStreamAttr attribute;
  if (!ReadArguments<"PI">("acl.rt.get_stream_attribute", argv, count, stream, attribute)) return nullptr;
  aclrtStreamAttrValue value{};
  const int code = aclrtGetStreamAttribute(stream, attribute, &value);
  return Tuple(StreamAttributeToDict(attribute, value), ToPython(code));
}

// Work that these drop may hold Python callbacks, which will not come any more.
template <FixedString kPath, auto kFunction>
PyObject* DropStreamWork(PyObject*, Argv argv, Py_ssize_t count) {
  aclrtStream stream;
  if (!ReadArguments<"P">(kPath.text, argv, count, stream)) return nullptr;
  const int code = WithoutGil([&] { return kFunction(stream); });
  if (code == ACL_SUCCESS) ForgetCallbacks(stream);
  return ToPython(code);
}

}  // namespace

Table kStreamFunctions[] = {
    RW_WAITING("acl.rt.create_context", aclrtCreateContext, "I", "device_id", "(context, ret)",
               "A new context, made current on this thread."),
    RW_WAITING("acl.rt.destroy_context", aclrtDestroyContext, "P", "context", "ret", "Ends a context and its streams."),
    RW_CALL("acl.rt.set_context", aclrtSetCurrentContext, "P", "context", "ret", "Makes a context current on this thread."),
    RW_CALL_PLAIN("acl.rt.get_context", aclrtGetCurrentContext, "(context, ret)", "The current context of this thread."),
    RW_CALL_PLAIN("acl.rt.ctx_get_current_default_stream", aclrtCtxGetCurrentDefaultStream, "(stream, ret)",
                  "The stream that 0 stands for."),
    RW_SPECIAL("acl.rt.get_primary_ctx_state", &GetPrimaryContextState, "device_id, /", "(active, flags, ret)",
               "Whether anybody has set the device; flags is always 0."),
    RW_CALL("acl.rt.ctx_set_sys_param_opt", aclrtCtxSetSysParamOpt, "IL", "opt, value", "ret", "Sets an option of the context."),
    RW_CALL("acl.rt.ctx_get_sys_param_opt", aclrtCtxGetSysParamOpt, "I", "opt", "(value, ret)", "Reads an option of the context."),

    RW_WAITING_PLAIN("acl.rt.create_stream", aclrtCreateStream, "(stream, ret)", "A new stream."),
    RW_WAITING("acl.rt.create_stream_with_config", aclrtCreateStreamWithConfig, "II", "priority, flag", "(stream, ret)",
               "A new stream with priority and flags."),
    RW_WAITING("acl.rt.destroy_stream", aclrtDestroyStream, "P", "stream", "ret", "Waits for a stream's work, then ends it."),
    RW_SPECIAL("acl.rt.destroy_stream_force", (&DropStreamWork<"acl.rt.destroy_stream_force", &aclrtDestroyStreamForce>), "stream, /",
               "ret", "Ends a stream and drops the work that has not started."),
    RW_WAITING("acl.rt.synchronize_stream", aclrtSynchronizeStream, "P", "stream", "ret",
               "Waits for the work of a stream and returns its error, once."),
    RW_WAITING("acl.rt.synchronize_stream_with_timeout", aclrtSynchronizeStreamWithTimeout, "PI", "stream, timeout_ms", "ret",
               "The same for at most so many milliseconds, -1 for ever; 507046 when the time is up."),
    RW_CALL("acl.rt.stream_query", aclrtStreamQuery, "P", "stream", "(status, ret)", "0 complete, 1 not ready."),
    RW_SPECIAL("acl.rt.stream_abort", (&DropStreamWork<"acl.rt.stream_abort", &aclrtStreamAbort>), "stream, /", "ret",
               "Ends what runs on a stream and drops what waits; the stream stays usable."),
    RW_CALL("acl.rt.stream_get_id", aclrtStreamGetId, "P", "stream", "(stream_id, ret)", "The number of a stream."),
    RW_CALL_PLAIN("acl.rt.get_stream_available_num", aclrtGetStreamAvailableNum, "(count, ret)", "How many streams can still be created."),
    RW_SPECIAL("acl.rt.set_stream_attribute", &SetStreamAttribute, "stream, attr_type, value: dict, /", "ret",
               "Sets an attribute: 1 {failureMode}, 2 {overflowSwitch}, 3 {userCustomTag}, others {reserved}."),
    RW_SPECIAL("acl.rt.get_stream_attribute", &GetStreamAttribute, "stream, attr_type, /", "(dict, ret)",
               "Reads an attribute, as set_stream_attribute takes it."),
    RW_CALL("acl.rt.set_stream_failure_mode", aclrtSetStreamFailureMode, "PU", "stream, mode", "ret",
            "0 goes on after a failure, 1 stops the context at its first one."),
    RW_CALL("acl.rt.set_stream_overflow_switch", aclrtSetStreamOverflowSwitch, "PU", "stream, flag", "ret",
            "Overflow check of kernels: 0 off, 1 on."),
    RW_CALL("acl.rt.get_stream_overflow_switch", aclrtGetStreamOverflowSwitch, "P", "stream", "(flag, ret)",
            "What set_stream_overflow_switch has set."),
    RW_CALL("acl.rt.get_stream_res_limit", aclrtGetStreamResLimit, "PI", "stream, type", "(value, ret)", "Core limit of a stream."),
    RW_CALL("acl.rt.set_stream_res_limit", aclrtSetStreamResLimit, "PIU", "stream, type, value", "ret", "Sets a core limit of a stream."),
    RW_CALL("acl.rt.reset_stream_res_limit", aclrtResetStreamResLimit, "P", "stream", "ret", "Takes core limits of a stream back."),
    RW_CALL("acl.rt.use_stream_res_in_current_thread", aclrtUseStreamResInCurrentThread, "P", "stream", "ret",
            "Applies a stream's core limits to this thread."),
    RW_CALL("acl.rt.unuse_stream_res_in_current_thread", aclrtUnuseStreamResInCurrentThread, "P", "stream", "ret",
            "Ends use_stream_res_in_current_thread."),
    RW_CALL("acl.rt.get_res_in_current_thread", aclrtGetResInCurrentThread, "I", "type", "(value, ret)",
            "Core limit in force on this thread."),
    {}};

}  // namespace ropeway::python
