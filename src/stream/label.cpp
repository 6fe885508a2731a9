#include "stream/label.h"

#include "acl/error_codes/rt_error_codes.h"
#include "base/mutex.h"
#include "base/no_destroy.h"

namespace ropeway {
namespace {

constexpr uint64_t kMostLabels = 65535;

struct AllLabels {
  Mutex mutex{LockRank::kLabels};
};

Mutex& LabelMutex() {
  static NoDestroy<AllLabels> all;
  return all.get().mutex;
}

}  // namespace

LabelSlab& Labels() {
  static constinit NoDestroy<LabelSlab> slab;
  return slab.get();
}

LabelListSlab& LabelLists() {
  static constinit NoDestroy<LabelListSlab> slab;
  return slab.get();
}

void* Label::Make(const FailureScope* scope) {
  Label* label = Labels().live() < kMostLabels ? Labels().Take() : nullptr;
  if (label == nullptr) return nullptr;
  label->scope_ = scope;
  label->scope_epoch_ = scope->epoch();
  return Labels().Publish(label);
}

void Label::Recycle() {
  list_ = nullptr;
  place_ = 0;
  set_ = false;
}

Status Label::RequireSettable() const {
  LockGuard lock(LabelMutex());
  if (set_) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "the label was set before; a label stands for one point, create another");
  if (list_ == nullptr) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "the label is in no list yet; call aclrtCreateLabelList first");
  return Ok();
}

Status Label::Set(const LabelPlace& place) {
  RW_TRY(RequireSettable());
  const LabelListHold list(LabelLists(), LabelLists().Acquire(list_));
  LockGuard lock(LabelMutex());
  if (set_) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "the label was set by another thread meanwhile");
  set_ = true;
  if (list) list->places_[place_] = place;  // else nobody can jump to it any more
  return Ok();
}

Result<void*> LabelList::Make(const std::vector<Label*>& labels) {
  std::vector<LabelPlace> places(labels.size());
  SlabDraft<LabelListSlab, LabelList> draft(LabelLists(), LabelLists().Take());
  if (!draft) return Fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "the process has no label list left");
  draft->places_ = std::move(places);
  LockGuard lock(LabelMutex());
  for (size_t i = 0; i < labels.size(); ++i) {
    bool taken = labels[i]->list_ != nullptr;
    for (size_t before = 0; before < i; ++before) taken = taken || labels[before] == labels[i];
    if (taken) return Fail(ACL_ERROR_RT_INTERNAL_ERROR, "labels[%zu] is in a list already; a label belongs to one list, once", i);
  }
  void* const handle = LabelLists().Publish(draft.Keep());
  for (size_t i = 0; i < labels.size(); ++i) {
    labels[i]->list_ = handle;
    labels[i]->place_ = i;
  }
  return handle;
}

std::vector<LabelPlace> LabelList::places() const {
  LockGuard lock(LabelMutex());
  return places_;
}

void LabelList::Recycle() { places_ = {}; }

}  // namespace ropeway
