// acl.mdl: datasets, the lists of data buffers that programs walk when they copy inputs and outputs. The library has
// none, because it has no models; the module keeps them itself.
#include "live_set.h"
#include "tables.h"

namespace ropeway::python {
namespace {

struct Dataset {
  struct Item {
    void* buffer;
    void* tensor_desc;
  };
  std::vector<Item> items;
};

LiveSet<Dataset>& Datasets() {
  static auto* datasets = new LiveSet<Dataset>("dataset");
  return *datasets;
}

constexpr int kBad = LiveSet<Dataset>::kInvalidParam;

PyObject* Create(PyObject*, Argv, Py_ssize_t) { return ToPython(Datasets().Add({})); }

// The buffers are the program's and stay.
PyObject* Destroy(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.mdl.destroy_dataset";
  Dataset* handle;
  if (!ReadArguments<"P">(kPath, argv, count, handle)) return nullptr;
  return ToPython(Datasets().Remove(kPath, handle) ? ACL_SUCCESS : kBad);
}

PyObject* AddBuffer(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.mdl.add_dataset_buffer";
  Dataset* handle;
  void* buffer;
  if (!ReadArguments<"PP">(kPath, argv, count, handle, buffer)) return nullptr;
  Dataset* dataset = Datasets().Find(kPath, handle);
  int code = dataset == nullptr ? kBad : ACL_SUCCESS;
  if (dataset != nullptr && buffer == nullptr) code = Fail(kPath, kBad, "data_buffer is 0");
  if (code == ACL_SUCCESS) dataset->items.push_back({buffer, nullptr});
  return Tuple(ToPython(handle), ToPython(code));
}

PyObject* NumBuffers(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.mdl.get_dataset_num_buffers";
  Dataset* handle;
  if (!ReadArguments<"P">(kPath, argv, count, handle)) return nullptr;
  const Dataset* dataset = Datasets().Find(kPath, handle);
  return ToPython(dataset == nullptr ? size_t{0} : dataset->items.size());
}

Dataset::Item* FindItem(const char* path, Dataset* handle, size_t index) {
  Dataset* dataset = Datasets().Find(path, handle);
  if (dataset == nullptr) return nullptr;
  if (index < dataset->items.size()) return &dataset->items[index];
  Fail(path, kBad, "index " + std::to_string(index) + " is not below " + std::to_string(dataset->items.size()));
  return nullptr;
}

template <FixedString kPath, auto kField>
PyObject* GetItem(PyObject*, Argv argv, Py_ssize_t count) {
  Dataset* handle;
  size_t index;
  if (!ReadArguments<"PP">(kPath.text, argv, count, handle, index)) return nullptr;
  const Dataset::Item* item = FindItem(kPath.text, handle, index);
  return ToPython(item == nullptr ? nullptr : item->*kField);
}

PyObject* SetTensorDesc(PyObject*, Argv argv, Py_ssize_t count) {
  constexpr char kPath[] = "acl.mdl.set_dataset_tensor_desc";
  Dataset* handle;
  void* tensor_desc;
  size_t index;
  if (!ReadArguments<"PPP">(kPath, argv, count, handle, tensor_desc, index)) return nullptr;
  Dataset::Item* item = FindItem(kPath, handle, index);
  if (item != nullptr) item->tensor_desc = tensor_desc;
  return Tuple(ToPython(handle), ToPython(item == nullptr ? kBad : ACL_SUCCESS));
}

}  // namespace

Table kDatasetFunctions[] = {
    RW_SPECIAL("acl.mdl.create_dataset", &Create, "*ignored", "handle", "An empty list of data buffers."),
    RW_SPECIAL("acl.mdl.destroy_dataset", &Destroy, "dataset, /", "ret", "Ends a dataset, not its buffers."),
    RW_SPECIAL("acl.mdl.add_dataset_buffer", &AddBuffer, "dataset, data_buffer, /", "(dataset, ret)", "Appends a data buffer."),
    RW_SPECIAL("acl.mdl.get_dataset_num_buffers", &NumBuffers, "dataset, /", "int", "The number of data buffers."),
    RW_SPECIAL("acl.mdl.get_dataset_buffer", (&GetItem<"acl.mdl.get_dataset_buffer", &Dataset::Item::buffer>), "dataset, index, /",
               "handle", "One data buffer, 0 when there is none."),
    RW_SPECIAL("acl.mdl.set_dataset_tensor_desc", &SetTensorDesc, "dataset, tensor_desc, index, /", "(dataset, ret)",
               "Gives a data buffer a tensor descriptor."),
    RW_SPECIAL("acl.mdl.get_dataset_tensor_desc", (&GetItem<"acl.mdl.get_dataset_tensor_desc", &Dataset::Item::tensor_desc>),
               "dataset, index, /", "handle", "The tensor descriptor of a data buffer, 0 when it has none."),
    {}};

}  // namespace ropeway::python
