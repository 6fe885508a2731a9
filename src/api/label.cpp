// Labels are names for points of a model built by hand. They and their lists are plain handles; putting one into a
// stream needs such a model and is refused (refused/model_stream.cpp).
#include <vector>

#include "api/entry.h"
#include "base/no_destroy.h"
#include "base/slab.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

struct Label final : SlabObject {
  void Recycle() {}
};
struct LabelList final : SlabObject {
  std::vector<aclrtLabel> labels;
  void Recycle() { labels = {}; }
};
using LabelSlab = Slab<Label, 0x21>;
using LabelListSlab = Slab<LabelList, 0x22>;

LabelSlab& Labels() {
  static constinit NoDestroy<LabelSlab> slab;
  return slab.get();
}

LabelListSlab& LabelLists() {
  static constinit NoDestroy<LabelListSlab> slab;
  return slab.get();
}

constexpr size_t kMaxLabels = 65535;

// `what` is "label" or "labelList"; one caller wins when several destroy the same handle.
template <typename SlabType>
Status DestroyHandle(const char* what, void* handle, SlabType& slab) {
  RW_TRY(RequirePointer(what, handle));
  auto* object = slab.Acquire(handle);
  const SlabRef hold(slab, object);
  if (object == nullptr || !slab.Retire(object, object->generation()))
    return Fail(ACL_ERROR_RT_INVALID_HANDLE, "%s %p is not alive (destroyed, or something else)", what, handle);
  slab.Release(object);  // the handle's
  return Ok();
}

Status RequireLiveLabels(const aclrtLabel* labels, size_t num) {
  for (size_t i = 0; i < num; ++i) {
    if (Labels().Find(labels[i]) == nullptr) return Fail(ACL_ERROR_RT_INVALID_HANDLE, "labels[%zu] %p is not a live label", i, labels[i]);
  }
  return Ok();
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtCreateLabel(aclrtLabel* label) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("label", label));
    RW_TRY(CurrentContext().status());
    Label* made = Labels().Take();
    if (made == nullptr) return Fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process has no label left");
    *label = Labels().Publish(made);
    return Ok();
  });
}

aclError aclrtDestroyLabel(aclrtLabel label) {
  return Entry(__func__, [&] { return DestroyHandle("label", label, Labels()); });
}

aclError aclrtCreateLabelList(aclrtLabel* labels, size_t num, aclrtLabelList* labelList) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("labels", labels));
    RW_TRY(RequirePointer("labelList", labelList));
    if (num == 0 || num > kMaxLabels) return Fail(ACL_ERROR_RT_PARAM_INVALID, "num %zu is not in 1..%zu", num, kMaxLabels);
    RW_TRY(RequireLiveLabels(labels, num));
    RW_TRY(CurrentContext().status());
    std::vector<aclrtLabel> copy(labels, labels + num);
    LabelList* made = LabelLists().Take();
    if (made == nullptr) return Fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process has no label list left");
    made->labels = std::move(copy);
    *labelList = LabelLists().Publish(made);
    return Ok();
  });
}

aclError aclrtDestroyLabelList(aclrtLabelList labelList) {
  return Entry(__func__, [&] { return DestroyHandle("labelList", labelList, LabelLists()); });
}
