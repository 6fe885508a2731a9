// Structures of the C API as dicts with the names of the C fields. Reading is lenient, as programs expect it: a missing
// key or a value of another type leaves the field at 0. Not a dict: TypeError; a number or a list that does not fit:
// ValueError.
#pragma once

#include <vector>

#include "acl/acl.h"
#include "arguments.h"

namespace ropeway::python {

bool ReadLocation(const char* path, PyObject* object, aclrtMemLocation* location);
bool ReadPhysicalMemProp(const char* path, PyObject* object, aclrtPhysicalMemProp* properties);
// Which key counts depends on the attribute.
bool ReadStreamAttribute(const char* path, PyObject* object, aclrtStreamAttr attribute, aclrtStreamAttrValue* value);
bool ReadUceInfo(const char* path, PyObject* object, aclrtMemUceInfo* info);
bool ReadBatchAttribute(const char* path, PyObject* object, aclrtMemcpyBatchAttr* attribute);
// KeyError when the value has none of the known keys.
bool ReadMallocAttribute(const char* path, PyObject* object, aclrtMallocAttribute* attribute);
bool ReadLoadOption(const char* path, PyObject* object, aclrtBinaryLoadOption* option);
bool ReadLaunchAttribute(const char* path, PyObject* object, aclrtLaunchKernelAttr* attribute);
bool ReadPlaceHolder(const char* path, PyObject* object, aclrtPlaceHolderInfo* info);

// A list of such dicts, each read by `read`. Not a list: ValueError.
template <typename Structure>
bool ReadStructures(const char* path, const char* name, PyObject* object,
                    bool (*read)(const char* path, PyObject* object, Structure* structure), std::vector<Structure>* all) {
  std::vector<PyObject*> objects;
  if (!ReadList<'O'>(path, name, object, &objects)) return false;
  all->resize(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    if (!read(path, objects[i], &(*all)[i])) return false;
  }
  return true;
}

PyObject* StreamAttributeToDict(aclrtStreamAttr attribute, const aclrtStreamAttrValue& value);
PyObject* UceInfoToDict(const aclrtMemUceInfo& info);
PyObject* PointerAttributesToDict(const aclrtPtrAttributes& attributes);
PyObject* UtilizationToDict(const aclrtUtilizationInfo& info);
PyObject* PackageVersionToDict(const aclCANNPackageVersion& version);
PyObject* UuidToDict(const aclrtUuid& uuid);

// The structure that one of the functions above takes.
template <typename Structure>
Structure StructureOf(PyObject* (*)(const Structure&));
template <auto kToDict>
using RecordOf = decltype(StructureOf(kToDict));

template <typename Number>
PyObject* ListOf(const Number* numbers, size_t count) {
  Reference list(PyList_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; list && i < count; ++i) {
    PyObject* number = ToPython(numbers[i]);
    if (number == nullptr) return nullptr;
    PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), number);
  }
  return list.release();
}

}  // namespace ropeway::python
