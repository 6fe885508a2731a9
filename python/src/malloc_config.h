// Allocations with attributes: {} for none, or {attrs: [{attr, value}], numAttrs}.
#pragma once

#include "call.h"
#include "dicts.h"

namespace ropeway::python {

class MallocConfig {
 public:
  // TypeError: not a dict, or no list of attributes in it. KeyError: numAttrs is not its length, or a value has no
  // known key.
  bool Read(const char* path, PyObject* object);
  // Null for the empty dict.
  aclrtMallocConfig* get() { return empty_ ? nullptr : &config_; }

 private:
  bool empty_ = true;
  std::vector<aclrtMallocAttribute> attributes_;
  aclrtMallocConfig config_{};
};

// (size, policy, cfg) -> (pointer, ret)
template <FixedString kPath, auto kFunction>
PyObject* MallocWithConfig(PyObject*, Argv argv, Py_ssize_t count) {
  size_t size;
  aclrtMemMallocPolicy policy;
  PyObject* dict;
  MallocConfig config;
  if (!ReadArguments<"PIO">(kPath.text, argv, count, size, policy, dict)) return nullptr;
  if (!config.Read(kPath.text, dict)) return nullptr;
  void* pointer = nullptr;
  const int code = WithoutGil([&] { return kFunction(&pointer, size, policy, config.get()); }, true);
  return Tuple(ToPython(pointer), ToPython(code));
}

}  // namespace ropeway::python
