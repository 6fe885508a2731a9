// Datasets: lists of data buffers (acl_mdl.h).
#include <memory>
#include <vector>

#include "acl/acl_mdl.h"
#include "api/checks.h"
#include "api/tensor_desc.h"

using namespace ropeway;
using namespace ropeway::api;

struct aclmdlDataset {
  struct Item {
    aclDataBuffer* buffer;
    std::unique_ptr<aclTensorDesc> desc;
  };
  std::vector<Item> items;
};

namespace ropeway::api {
namespace {

Status RequireItem(const aclmdlDataset* dataset, size_t index) {
  RW_TRY(RequirePointer("dataset", dataset));
  if (index < dataset->items.size()) return Ok();
  return Reject(ACL_ERROR_INVALID_PARAM, "index %zu is not below the dataset's %zu buffers", index, dataset->items.size());
}

}  // namespace
}  // namespace ropeway::api

aclmdlDataset* aclmdlCreateDataset() { return new (std::nothrow) aclmdlDataset; }

aclError aclmdlDestroyDataset(const aclmdlDataset* dataset) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("dataset", dataset));
    delete dataset;
    return Ok();
  });
}

aclError aclmdlAddDatasetBuffer(aclmdlDataset* dataset, aclDataBuffer* dataBuffer) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"dataset", dataset}, {"dataBuffer", dataBuffer}}));
    dataset->items.push_back({dataBuffer, nullptr});
    return Ok();
  });
}

size_t aclmdlGetDatasetNumBuffers(const aclmdlDataset* dataset) { return dataset == nullptr ? 0 : dataset->items.size(); }

aclDataBuffer* aclmdlGetDatasetBuffer(const aclmdlDataset* dataset, size_t index) {
  const aclError code = PlainEntry(__func__, [&] { return RequireItem(dataset, index); });
  return code == ACL_SUCCESS ? dataset->items[index].buffer : nullptr;
}

aclError aclmdlSetDatasetTensorDesc(aclmdlDataset* dataset, aclTensorDesc* tensorDesc, size_t index) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequireItem(dataset, index));
    RW_TRY(RequirePointer("tensorDesc", tensorDesc));
    dataset->items[index].desc = std::make_unique<aclTensorDesc>(*tensorDesc);
    return Ok();
  });
}

aclTensorDesc* aclmdlGetDatasetTensorDesc(const aclmdlDataset* dataset, size_t index) {
  const aclError code = PlainEntry(__func__, [&] { return RequireItem(dataset, index); });
  return code == ACL_SUCCESS ? dataset->items[index].desc.get() : nullptr;
}
