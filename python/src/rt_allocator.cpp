// acl.rt: allocators that a program offers for a stream. The library stores C functions and hands them to whoever
// executes operators; these here find the Python functions again, by the allocator object that they are called with.
#include <unordered_map>

#include "tables.h"

namespace ropeway::python {
namespace {

enum Role { kAlloc, kFree, kAllocAdvise, kGetAddress, kRoles };

// The Python side of a description, and of its copy that belongs to a stream.
struct Allocator {
  void* object = nullptr;
  PyObject* functions[kRoles] = {};
};

// Guarded by the interpreter lock, never destroyed.
struct Allocators {
  std::unordered_map<void*, Allocator> by_desc;
  std::unordered_map<aclrtStream, Allocator> by_stream;
  std::unordered_map<void*, void*> owner_of_block;  // the object whose alloc function returned it
};

Allocators& All() {
  static auto* all = new Allocators;
  return *all;
}

void Replace(PyObject** place, PyObject* function) {
  PyObject* before = *place;
  Py_XINCREF(function);
  *place = function;
  Py_XDECREF(before);
}

template <typename Map, typename Key>
void Drop(Map& map, Key key) {
  auto it = map.find(key);
  if (it == map.end()) return;
  Allocator allocator = it->second;
  map.erase(it);
  for (PyObject*& function : allocator.functions) Replace(&function, nullptr);
}

// Borrowed; null when no stream has this allocator any more.
PyObject* FindFunction(void* object, Role role) {
  for (const auto& [stream, allocator] : All().by_stream) {
    if (allocator.object == object) return allocator.functions[role];
  }
  return nullptr;
}

// Calls the Python function with numbers; the number that comes back is a pointer. No owner objects: see gil.h.
template <typename... Numbers>
void* CallPython(void* object, Role role, Numbers... numbers) {
  PyObject* function = FindFunction(object, role);
  if (function == nullptr) return nullptr;
  Py_INCREF(function);
  PyObject* arguments = PyTuple_New(sizeof...(Numbers));
  Py_ssize_t filled = 0;
  if (arguments != nullptr) (PyTuple_SetItem(arguments, filled++, ToPython(numbers)), ...);
  PyObject* result = PyErr_Occurred() != nullptr ? nullptr : PyObject_CallObject(function, arguments);
  void* pointer = nullptr;
  if (result == nullptr || (result != Py_None && !Convert<'P'>(result, pointer))) {
    PyErr_WriteUnraisable(function);
    pointer = nullptr;
  }
  Py_XDECREF(result);
  Py_XDECREF(arguments);
  Py_DECREF(function);
  return pointer;
}

void* Remember(void* block, void* object) {
  if (block != nullptr) All().owner_of_block[block] = object;
  return block;
}

void* AllocThroughPython(aclrtAllocator object, size_t size) {
  void* block = nullptr;
  VisitPython([&] { block = Remember(CallPython(object, kAlloc, object, size), object); });
  return block;
}

void* AllocAdviseThroughPython(aclrtAllocator object, size_t size, aclrtAllocatorAddr address) {
  void* block = nullptr;
  VisitPython([&] { block = Remember(CallPython(object, kAllocAdvise, object, size, address), object); });
  return block;
}

void FreeThroughPython(aclrtAllocator object, aclrtAllocatorBlock block) {
  VisitPython([&] {
    All().owner_of_block.erase(block);
    CallPython(object, kFree, object, block);
  });
}

void* GetAddressThroughPython(aclrtAllocatorBlock block) {
  void* address = nullptr;
  VisitPython([&] {
    auto it = All().owner_of_block.find(block);
    if (it != All().owner_of_block.end()) address = CallPython(it->second, kGetAddress, block);
  });
  return address;
}

PyObject* SetObject(PyObject*, Argv argv, Py_ssize_t count) {
  void *desc, *object;
  if (!ReadArguments<"PP">("acl.rt.allocator_set_obj_to_desc", argv, count, desc, object)) return nullptr;
  const int code = aclrtAllocatorSetObjToDesc(desc, object);
  if (code == ACL_SUCCESS) All().by_desc[desc].object = object;
  return ToPython(code);
}

template <FixedString kPath, auto kSet, auto kThroughPython, Role kRole>
PyObject* SetFunction(PyObject*, Argv argv, Py_ssize_t count) {
  void* desc;
  PyObject* function;
  if (!ReadArguments<"PO">(kPath.text, argv, count, desc, function)) return nullptr;
  if (!RequireCallable(kPath.text, function)) return nullptr;
  const int code = kSet(desc, kThroughPython);
  if (code == ACL_SUCCESS) Replace(&All().by_desc[desc].functions[kRole], function);
  return ToPython(code);
}

PyObject* DestroyDesc(PyObject*, Argv argv, Py_ssize_t count) {
  void* desc;
  if (!ReadArguments<"P">("acl.rt.allocator_destroy_desc", argv, count, desc)) return nullptr;
  const int code = aclrtAllocatorDestroyDesc(desc);
  if (code == ACL_SUCCESS) Drop(All().by_desc, desc);
  return ToPython(code);
}

PyObject* Register(PyObject*, Argv argv, Py_ssize_t count) {
  void *stream, *desc;
  if (!ReadArguments<"PP">("acl.rt.allocator_register", argv, count, stream, desc)) return nullptr;
  const int code = aclrtAllocatorRegister(stream, desc);
  if (code == ACL_SUCCESS) {
    const Allocator source = All().by_desc[desc];
    Allocator copy{source.object, {}};
    for (int role = 0; role < kRoles; ++role) Replace(&copy.functions[role], source.functions[role]);
    Drop(All().by_stream, stream);
    All().by_stream[stream] = copy;
  }
  return ToPython(code);
}

PyObject* Unregister(PyObject*, Argv argv, Py_ssize_t count) {
  void* stream;
  if (!ReadArguments<"P">("acl.rt.allocator_unregister", argv, count, stream)) return nullptr;
  const int code = aclrtAllocatorUnregister(stream);
  if (code == ACL_SUCCESS) Drop(All().by_stream, stream);
  return ToPython(code);
}

}  // namespace

Table kAllocatorFunctions[] = {
    RW_CALL_PLAIN("acl.rt.allocator_create_desc", aclrtAllocatorCreateDesc, "handle", "A description of an allocator, to be filled."),
    RW_SPECIAL("acl.rt.allocator_destroy_desc", &DestroyDesc, "desc, /", "ret", "Ends a description."),
    RW_SPECIAL("acl.rt.allocator_set_obj_to_desc", &SetObject, "desc, allocator, /", "ret",
               "The number that the functions get as their first argument."),
    RW_SPECIAL("acl.rt.allocator_set_alloc_func_to_desc",
               (&SetFunction<"acl.rt.allocator_set_alloc_func_to_desc", &aclrtAllocatorSetAllocFuncToDesc, &AllocThroughPython, kAlloc>),
               "desc, fn: Callable[[int, int], int], /", "ret", "fn(allocator, size) -> block."),
    RW_SPECIAL("acl.rt.allocator_set_free_func_to_desc",
               (&SetFunction<"acl.rt.allocator_set_free_func_to_desc", &aclrtAllocatorSetFreeFuncToDesc, &FreeThroughPython, kFree>),
               "desc, fn: Callable[[int, int], object], /", "ret", "fn(allocator, block)."),
    RW_SPECIAL("acl.rt.allocator_set_alloc_advise_func_to_desc",
               (&SetFunction<"acl.rt.allocator_set_alloc_advise_func_to_desc", &aclrtAllocatorSetAllocAdviseFuncToDesc,
                             &AllocAdviseThroughPython, kAllocAdvise>),
               "desc, fn: Callable[[int, int, int], int], /", "ret", "fn(allocator, size, addr) -> block; optional."),
    RW_SPECIAL("acl.rt.allocator_set_get_addr_from_block_func_to_desc",
               (&SetFunction<"acl.rt.allocator_set_get_addr_from_block_func_to_desc", &aclrtAllocatorSetGetAddrFromBlockFuncToDesc,
                             &GetAddressThroughPython, kGetAddress>),
               "desc, fn: Callable[[int], int], /", "ret", "fn(block) -> address."),
    RW_SPECIAL("acl.rt.allocator_register", &Register, "stream, desc, /", "ret",
               "Offers an allocator for a stream; copies the description."),
    RW_SPECIAL("acl.rt.allocator_unregister", &Unregister, "stream, /", "ret", "Takes the allocator of a stream back."),
    {}};

}  // namespace ropeway::python
