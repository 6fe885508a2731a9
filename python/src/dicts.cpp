#include "dicts.h"

namespace ropeway::python {
namespace {

bool RequireDict(const char* path, PyObject* object) {
  if (PyDict_Check(object)) return true;
  PyErr_Format(PyExc_TypeError, "%s args parse failed: a dict is wanted", path);
  return false;
}

bool DoesNotFit(const char* path, const char* key) {
  PyErr_Format(PyExc_ValueError, "%s: the value of '%s' does not fit", path, key);
  return false;
}

// Numbers fill all bits of the field, signed or not: -1 is a value that programs use for "none".
template <typename Field>
bool ReadNumber(const char* path, const char* key, PyObject* object, Field* field) {
  if (!PyLong_Check(object)) return true;
  int64_t number = PyLong_AsLongLong(object);
  if (Failed(number == -1)) {
    PyErr_Clear();
    number = static_cast<int64_t>(PyLong_AsUnsignedLongLong(object));
    if (sizeof(Field) < sizeof(number) || Failed(number == -1)) return DoesNotFit(path, key);
  }
  if constexpr (sizeof(Field) < sizeof(number)) {
    const int64_t range = int64_t{1} << (8 * sizeof(Field));
    if (number < -range / 2 || number >= range) return DoesNotFit(path, key);
  }
  return Assign(number, *field);
}

template <typename Field>
bool ReadField(const char* path, PyObject* dict, const char* key, Field* field) {
  PyObject* value = PyDict_GetItemString(dict, key);
  return value == nullptr || ReadNumber(path, key, value, field);
}

template <typename Field, size_t kSize>
bool ReadField(const char* path, PyObject* dict, const char* key, Field (*field)[kSize]) {
  PyObject* list = PyDict_GetItemString(dict, key);
  if (list == nullptr || !PyList_Check(list)) return true;
  const Py_ssize_t size = PyList_Size(list);
  if (size > static_cast<Py_ssize_t>(kSize)) return DoesNotFit(path, key);
  for (Py_ssize_t i = 0; i < size; ++i) {
    if (!ReadNumber(path, key, PyList_GetItem(list, i), &(*field)[i])) return false;
  }
  return true;
}

// A dict that grows by key and value; the value is stolen. Null stays null.
class DictBuilder {
 public:
  DictBuilder() : dict_(PyDict_New()) {}

  DictBuilder& Add(const char* key, PyObject* value) {
    Reference owned(value);
    if (dict_ && (!owned || PyDict_SetItemString(dict_.get(), key, owned.get()) < 0)) dict_ = Reference();
    return *this;
  }
  PyObject* Take() { return dict_.release(); }

 private:
  Reference dict_;
};

PyObject* LocationToDict(const aclrtMemLocation& location) {
  return DictBuilder().Add("id", ToPython(location.id)).Add("type", ToPython(location.type)).Take();
}

}  // namespace

bool ReadLocation(const char* path, PyObject* object, aclrtMemLocation* location) {
  return RequireDict(path, object) && ReadField(path, object, "id", &location->id) && ReadField(path, object, "type", &location->type);
}

bool ReadPhysicalMemProp(const char* path, PyObject* object, aclrtPhysicalMemProp* properties) {
  if (!RequireDict(path, object)) return false;
  PyObject* location = PyDict_GetItemString(object, "location");
  if (location != nullptr && PyDict_Check(location) && !ReadLocation(path, location, &properties->location)) return false;
  return ReadField(path, object, "handleType", &properties->handleType) &&
         ReadField(path, object, "allocationType", &properties->allocationType) &&
         ReadField(path, object, "memAttr", &properties->memAttr) && ReadField(path, object, "reserve", &properties->reserve);
}

bool ReadStreamAttribute(const char* path, PyObject* object, aclrtStreamAttr attribute, aclrtStreamAttrValue* value) {
  if (!RequireDict(path, object)) return false;
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE: return ReadField(path, object, "failureMode", &value->failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK: return ReadField(path, object, "overflowSwitch", &value->overflowSwitch);
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG: return ReadField(path, object, "userCustomTag", &value->userCustomTag);
    default: return ReadField(path, object, "reserved", &value->reserve);
  }
}

PyObject* StreamAttributeToDict(aclrtStreamAttr attribute, const aclrtStreamAttrValue& value) {
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE: return DictBuilder().Add("failureMode", ToPython(value.failureMode)).Take();
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK: return DictBuilder().Add("overflowSwitch", ToPython(value.overflowSwitch)).Take();
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG: return DictBuilder().Add("userCustomTag", ToPython(value.userCustomTag)).Take();
    default: return DictBuilder().Add("reserved", ListOf(value.reserve, std::size(value.reserve))).Take();
  }
}

bool ReadUceInfo(const char* path, PyObject* object, aclrtMemUceInfo* info) {
  return RequireDict(path, object) && ReadField(path, object, "addr", &info->addr) && ReadField(path, object, "len", &info->len) &&
         ReadField(path, object, "reserved", &info->reserved);
}

PyObject* UceInfoToDict(const aclrtMemUceInfo& info) {
  return DictBuilder()
      .Add("addr", ToPython(info.addr))
      .Add("len", ToPython(info.len))
      .Add("reserved", ListOf(info.reserved, std::size(info.reserved)))
      .Take();
}

bool ReadBatchAttribute(const char* path, PyObject* object, aclrtMemcpyBatchAttr* attribute) {
  if (!RequireDict(path, object)) return false;
  PyObject* destination = PyDict_GetItemString(object, "dstLoc");
  PyObject* source = PyDict_GetItemString(object, "srcLoc");
  return (destination == nullptr || ReadLocation(path, destination, &attribute->dstLoc)) &&
         (source == nullptr || ReadLocation(path, source, &attribute->srcLoc)) && ReadField(path, object, "rsv", &attribute->rsv);
}

bool ReadMallocAttribute(const char* path, PyObject* object, aclrtMallocAttribute* attribute) {
  if (!RequireDict(path, object) || !ReadField(path, object, "attr", &attribute->attr)) return false;
  PyObject* value = PyDict_GetItemString(object, "value");
  auto has = [value](const char* key) { return value != nullptr && PyDict_GetItemString(value, key) != nullptr; };
  if (value != nullptr && !RequireDict(path, value)) return false;
  if (has("moduleId")) return ReadField(path, value, "moduleId", &attribute->value.moduleId);
  if (has("deviceId")) return ReadField(path, value, "deviceId", &attribute->value.deviceId);
  if (has("rsv")) return ReadField(path, value, "rsv", &attribute->value.rsv);
  PyErr_Format(PyExc_KeyError, "%s: value has none of moduleId, deviceId and rsv", path);
  return false;
}

bool ReadLoadOption(const char* path, PyObject* object, aclrtBinaryLoadOption* option) {
  return RequireDict(path, object) && ReadField(path, object, "type", &option->type) &&
         ReadField(path, object, "value", &option->value.rsv[0]);
}

bool ReadLaunchAttribute(const char* path, PyObject* object, aclrtLaunchKernelAttr* attribute) {
  return RequireDict(path, object) && ReadField(path, object, "id", &attribute->id) &&
         ReadField(path, object, "value", &attribute->value.rsv[0]);
}

bool ReadPlaceHolder(const char* path, PyObject* object, aclrtPlaceHolderInfo* info) {
  return RequireDict(path, object) && ReadField(path, object, "addrOffset", &info->addrOffset) &&
         ReadField(path, object, "dataOffset", &info->dataOffset);
}

PyObject* PointerAttributesToDict(const aclrtPtrAttributes& attributes) {
  return DictBuilder()
      .Add("location", LocationToDict(attributes.location))
      .Add("page_size", ToPython(attributes.pageSize))
      .Add("rsv", ListOf(attributes.rsv, std::size(attributes.rsv)))
      .Take();
}

PyObject* UtilizationToDict(const aclrtUtilizationInfo& info) {
  return DictBuilder()
      .Add("cube_utilization", ToPython(info.cubeUtilization))
      .Add("vector_utilization", ToPython(info.vectorUtilization))
      .Add("aicpu_utilization", ToPython(info.aicpuUtilization))
      .Add("memory_utilization", ToPython(info.memoryUtilization))
      .Add("utilization_extend", ToPython(info.utilizationExtend))
      .Take();
}

PyObject* PackageVersionToDict(const aclCANNPackageVersion& version) {
  auto text = [](const char* field) { return ToPython(field); };
  return DictBuilder()
      .Add("version", text(version.version))
      .Add("major_version", text(version.majorVersion))
      .Add("minor_version", text(version.minorVersion))
      .Add("release_version", text(version.releaseVersion))
      .Add("patch_version", text(version.patchVersion))
      .Add("reserved", text(version.reserved))
      .Take();
}

PyObject* UuidToDict(const aclrtUuid& uuid) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(uuid.bytes);
  return DictBuilder().Add("bytes", ListOf(bytes, sizeof(uuid.bytes))).Take();
}

}  // namespace ropeway::python
