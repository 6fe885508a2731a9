// Names for points of models built by hand, and lists of them from which a number in memory chooses (rules/models.md 4). A list keeps where
// its labels were set, so labels need not outlive their setting.
#pragma once

#include <cstdint>
#include <vector>

#include "base/slab.h"
#include "base/status.h"
#include "stream/failure_scope.h"

namespace ropeway {

class Label;
class LabelList;
using LabelSlab = Slab<Label, 0x21>;
using LabelListSlab = Slab<LabelList, 0x22>;
LabelSlab& Labels();
LabelListSlab& LabelLists();
using LabelHold = SlabRef<LabelSlab, Label>;
using LabelListHold = SlabRef<LabelListSlab, LabelList>;

// A task that a label stands for: a stream, and the task's number there. No stream has the number 0.
struct LabelPlace {
  uint32_t stream = 0;
  uint32_t task = 0;
};

class LabelList final : public SlabObject {
 public:
  // A list of these labels. 507000 when one of them is in a list already.
  static Result<void*> Make(const std::vector<Label*>& labels);
  // Where the labels were set, as far as they were.
  std::vector<LabelPlace> places() const;
  void Recycle();

 private:
  friend class Label;
  std::vector<LabelPlace> places_;  // guarded by the lock of all labels
};

class Label final : public SlabObject {
 public:
  // Null: there are too many.
  static void* Make(const FailureScope* scope);
  bool OfContext(const FailureScope* scope) const { return scope_ == scope && scope->epoch() == scope_epoch_; }
  // 507000 when it was set before, or is in no list.
  Status RequireSettable() const;
  // The same, and then it stands for that task.
  Status Set(const LabelPlace& place);
  void Recycle();

 private:
  friend class LabelList;
  const FailureScope* scope_ = nullptr;
  uint32_t scope_epoch_ = 0;
  // Guarded by the lock of all labels.
  void* list_ = nullptr;  // handle
  size_t place_ = 0;
  bool set_ = false;
};

}  // namespace ropeway
