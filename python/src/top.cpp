// acl: start and end, versions, error texts, data buffers.
#include "dicts.h"
#include "tables.h"

namespace ropeway::python {
namespace {

PyObject* Init(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.init";
  Text config;
  if (count != 0 && !ReadArguments<"S">(kPath, argv, count, config)) return nullptr;
  return ToPython(WithoutGil([&] { return aclInit(config.get()); }));
}

// The texts of the library, and in front of them those of functions that only this module has.
PyObject* GetRecentErrMsg(PyObject*, Argv, Py_ssize_t) {
  std::string texts = TakeTexts();
  const char* library = aclGetRecentErrMsg();
  if (texts.empty()) return ToPython(library);
  if (library != nullptr) texts += library;
  return ToPython(texts.c_str());
}

// Reads an attribute; the value stays as it is when there is none.
template <char kClass, typename T>
void ReadAttribute(const Reference& object, const char* name, T& value) {
  const Reference found(object ? PyObject_GetAttrString(object.get(), name) : nullptr);
  if (!found || !Convert<kClass>(found.get(), value)) PyErr_Clear();
}

// Where in the program the line comes from.
PyObject* AppLog(PyObject*, Argv argv, Py_ssize_t count) {
  aclLogLevel level;
  Text message, function, file;
  uint32_t line = 0;
  if (!ReadArguments<"IS">("acl.app_log", argv, count, level, message)) return nullptr;
  const Reference frame = Reference::Share(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  const Reference code(frame ? PyObject_GetAttrString(frame.get(), "f_code") : nullptr);
  ReadAttribute<'S'>(code, "co_name", function);
  ReadAttribute<'S'>(code, "co_filename", file);
  ReadAttribute<'U'>(frame, "f_lineno", line);
  aclAppLog(level, function.get(), file.get(), line, "%s", message.get());
  return None();
}

PyObject* GetVersionStr(PyObject*, Argv argv, Py_ssize_t count) {
  Text package;
  if (!ReadArguments<"S">("acl.get_version_str", argv, count, package)) return nullptr;
  char version[ACL_PKG_VERSION_MAX_SIZE + 1] = {};
  const int code = aclsysGetVersionStr(const_cast<char*>(package.get()), version);
  return Tuple(ToPython(static_cast<const char*>(version)), ToPython(code));
}

PyObject* GetCannVersion(PyObject*, Argv argv, Py_ssize_t count) {
  aclCANNPackageName name;
  if (!ReadArguments<"U">("acl.get_cann_version", argv, count, name)) return nullptr;
  aclCANNPackageVersion version{};
  const int code = aclsysGetCANNVersion(name, &version);
  return Tuple(PackageVersionToDict(version), ToPython(code));
}

PyObject* GetCannAttributeList(PyObject*, Argv, Py_ssize_t) {
  const aclCannAttr* attributes = nullptr;
  size_t number = 0;
  const int code = aclGetCannAttributeList(&attributes, &number);
  return Tuple(ListOf(attributes, number), ToPython(number), ToPython(code));
}

}  // namespace

Table kTopFunctions[] = {
    RW_SPECIAL("acl.init", &Init, "config_path: str=\"\", /", "ret",
               "Starts the library, with a JSON file or without; 100002 when it was started before, which counts too. C "
               "function: aclInit."),
    RW_WAITING_PLAIN("acl.finalize", aclFinalize, "ret", "Undoes every init at once."),
    RW_WAITING_PLAIN("acl.finalize_reference", aclFinalizeReference, "(ref_count, ret)", "Undoes one init."),
    RW_SPECIAL("acl.get_recent_err_msg", &GetRecentErrMsg, "*ignored", "str or None",
               "The texts of this thread's errors, newest first, and forgets them. C function: aclGetRecentErrMsg."),
    RW_SPECIAL("acl.app_log", &AppLog, "log_level, message: str, /", "None",
               "Writes a line into the log; 0 debug, 1 info, 2 warning, 3 error. C function: aclAppLog."),
    RW_CALL_PLAIN("acl.get_soc_name", aclrtGetSocName, "str or None", "The name of the chip."),
    RW_CALL_PLAIN("acl.get_version", aclrtGetVersion, "(major, minor, patch, ret)", "The version of the API."),
    RW_SPECIAL("acl.get_version_str", &GetVersionStr, "pkg_name: str, /", "(version: str, ret)",
               "The version of a package. C function: aclsysGetVersionStr."),
    RW_SPECIAL("acl.get_cann_version", &GetCannVersion, "name, /", "(dict, ret)",
               "The version of a package by its number, in parts. C function: aclsysGetCANNVersion."),
    RW_SPECIAL("acl.get_cann_attribute_list", &GetCannAttributeList, "*ignored", "(list, num, ret)",
               "The numbers of the abilities that there are. C function: aclGetCannAttributeList."),
    RW_CALL("acl.get_cann_attribute", aclGetCannAttribute, "I", "attr", "(value, ret)", "Whether there is an ability."),
    RW_CALL("acl.get_device_capability", aclGetDeviceCapability, "UI", "device_id, device_info", "(value, ret)",
            "One number about a device (aclDeviceInfo); acl.rt.get_device_capability is something else."),
    RW_CALL("acl.float16_to_float", aclFloat16ToFloat, "H", "value", "float", "From the bits of a half-precision number."),
    RW_CALL("acl.float_to_float16", aclFloatToFloat16, "F", "value", "int", "To the bits of a half-precision number."),
    RW_CALL("acl.data_type_size", aclDataTypeSize, "I", "data_type", "int", "Bytes of an element of a data type."),
    RW_CALL("acl.create_data_buffer", aclCreateDataBuffer, "PP", "data, size", "handle",
            "An address with a size; the memory stays the caller's."),
    RW_CALL("acl.destroy_data_buffer", aclDestroyDataBuffer, "P", "data_buffer", "ret", "Ends a data buffer, not its memory."),
    RW_CALL("acl.get_data_buffer_addr", aclGetDataBufferAddr, "P", "data_buffer", "addr", "The address of a data buffer."),
    RW_CALL("acl.get_data_buffer_size", aclGetDataBufferSize, "P", "data_buffer", "int", "The size of a data buffer, in 32 bits."),
    RW_CALL("acl.get_data_buffer_size_v2", aclGetDataBufferSizeV2, "P", "data_buffer", "int", "The size of a data buffer."),
    RW_CALL("acl.update_data_buffer", aclUpdateDataBuffer, "PPP", "data_buffer, data, size", "ret",
            "Gives a data buffer another address and size."),
    {}};

}  // namespace ropeway::python
