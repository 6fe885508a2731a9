// The module acl and its nine submodules, which are attributes of it and importable by their dotted names. It exports
// functions and nothing else, and importing it touches no device.
#include <cstdlib>
#include <cstring>

#include "tables.h"

namespace ropeway::python {
namespace {

struct Submodule {
  PyModuleDef definition;
  Table* tables[12];
};

PyModuleDef Define(const char* name, const char* text) {
  return {PyModuleDef_HEAD_INIT, name, text, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
}

PyModuleDef g_top = Define("acl",
                           "AscendCL for Python, by Ropeway: streams, events, memory and copies without an NPU.\n\n"
                           "Functions return an error code last, 0 for success; handles and addresses are plain ints.");

Submodule g_submodules[] = {
    {Define("acl.rt", "Devices, contexts, streams, events, callbacks, memory and copies."),
     {kDeviceFunctions, kStreamFunctions, kEventFunctions, kCallbackFunctions, kMemoryFunctions, kCopyFunctions, kShareFunctions,
      kAllocatorFunctions, kKernelFunctions}},
    {Define("acl.mdl", "Datasets; models, which do not run here."), {kDatasetFunctions, kModelFunctions}},
    {Define("acl.media", "The allocator of the media unit."), {kMediaFunctions}},
    {Define("acl.op", "Operators, which do not run here."), {kOpFunctions}},
    {Define("acl.blas", "Matrix products, which do not run here."), {kBlasFunctions}},
    {Define("acl.util", "Addresses of Python objects, objects over addresses, threads."), {kUtilFunctions, kThreadFunctions}},
    {Define("acl.prof", "The vendor's profiler, which is not part of this."), {kProfFunctions}},
    {Define("acl.himpi", "Media functions, which are not part of this."), {}},
    {Define("acl.fv", "Feature vector search, which is not part of this."), {}},
};

struct Extension {
  const char* module;
  Table* functions;
};

constexpr Extension kExtensions[] = {{"acl.rt", kRtExtensions}, {"acl.mdl", kMdlExtensions}};

// Programs probe for names, so somebody who wants exactly the original's can have them.
bool ExtensionsWanted() {
  const char* setting = getenv("ROPEWAY_PYTHON_EXTENSIONS");
  return setting == nullptr || strcmp(setting, "0") != 0;
}

bool AddSubmodule(PyObject* top, Submodule* submodule) {
  const char* name = submodule->definition.m_name;
  Reference module(PyModule_Create(&submodule->definition));
  if (!module) return false;
  for (Table* table : submodule->tables) {
    if (table != nullptr && PyModule_AddFunctions(module.get(), table) < 0) return false;
  }
  for (const Extension& extension : kExtensions) {
    if (strcmp(extension.module, name) == 0 && ExtensionsWanted() && PyModule_AddFunctions(module.get(), extension.functions) < 0)
      return false;
  }
  PyObject* modules = PyImport_GetModuleDict();  // borrowed
  return PyDict_SetItemString(modules, name, module.get()) == 0 &&
         PyObject_SetAttrString(top, Skip(name, LastPart(name)), module.get()) == 0;
}

PyObject* MakeModule() {
  Reference top(PyModule_Create(&g_top));
  if (!top) return nullptr;
  if (PyModule_AddFunctions(top.get(), kTopFunctions) < 0 || PyModule_AddFunctions(top.get(), kTensorDescFunctions) < 0) return nullptr;
  for (Submodule& submodule : g_submodules) {
    if (!AddSubmodule(top.get(), &submodule)) return nullptr;
  }
  return GuardInterpreterExit() ? top.release() : nullptr;
}

}  // namespace
}  // namespace ropeway::python

PyMODINIT_FUNC PyInit_acl() { return ropeway::python::MakeModule(); }
