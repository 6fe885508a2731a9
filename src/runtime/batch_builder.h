// Turns the arrays of a batch call into batches of checked pieces (rules/batches.md 2, steps 14 to 16): every item's
// declared location is compared with the real one, and all items must go the same way. Items of pageable memory are
// collected apart, because they are copied before the call returns.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "engine/batch.h"
#include "memory/memory.h"
#include "stream/failure_scope.h"

namespace ropeway {

// The arguments that all batch calls have, with their names.
struct BatchItems {
  void** dsts;
  size_t* destMaxs;
  void** srcs;
  size_t* sizes;
  size_t numBatches;
  aclrtMemcpyBatchAttr* attrs;
  size_t* attrsIndexes;
  size_t numAttrs;
};

class BatchBuilder {
 public:
  struct Rules {
    bool zero_sizes;       // sync: an item without bytes is fine
    int executing_device;  // -1: nobody's, so peers are not looked at
    const Stream* stream;  // async: whose context `scope` must be, for pinned items
    const FailureScope* scope;
  };
  BatchBuilder(const BatchItems& items, const Rules& rules) : items_(items), rules_(rules) {}

  // Collects the first items of a long batch. True when the engine may begin with them: then HandOver gives the batch away.
  bool CollectHead();
  // The batch, and the rest of it: complete that before the caller's arrays are gone, and before Collect.
  std::pair<std::unique_ptr<Batch>, std::shared_ptr<BatchRest>> HandOver();
  // Collects items up to the first that is refused. `fail_index` becomes that item where the rules name one.
  Status Collect(size_t* fail_index);

  // Null when there are none.
  std::unique_ptr<Batch>& queued() { return queued_; }
  std::unique_ptr<Batch>& pageable() { return pageable_; }

 private:
  // What an attribute says of one side.
  struct Declared {
    enum class Side { kHost, kDevice, kNeither } side;
    int device;  // physical
    bool Fits(const Location& real) const {
      return side == Side::kDevice ? real.device == device && real.place == Place::kDevice
                                   : side == Side::kHost && (real.place == Place::kPinned || real.place == Place::kPageable);
    }
  };
  static Declared Interpret(const aclrtMemLocation& location);

  class Rest;
  size_t EndOfRange(size_t k) const { return k + 1 < items_.numAttrs ? items_.attrsIndexes[k + 1] : items_.numBatches; }
  Status CollectRange(size_t begin, size_t end, const aclrtMemcpyBatchAttr& attr, size_t* fail_index);
  size_t CollectPlain(Batch* batch, size_t begin, size_t end, const Declared& to_declared, const Declared& from_declared);
  Status CollectItem(size_t i, const Declared& to_declared, const Declared& from_declared, size_t* fail_index);
  Status CheckItem(size_t i, const Declared& to_declared, const Declared& from_declared, const Location& to, const Location& from);
  Status CheckSide(const char* name, size_t i, const void* address, const Declared& declared, const Location& real) const;
  Status CheckReach(size_t i, const Location& to, const Location& from, bool pageable) const;
  void Add(std::unique_ptr<Batch>& batch, size_t i, const Location& to, const Location& from);

  const BatchItems& items_;
  const Rules rules_;
  size_t next_ = 0;                // the first item that was not collected yet
  std::optional<bool> to_device_;  // the way of the first item, and so of all
  std::unique_ptr<Batch> queued_;
  std::unique_ptr<Batch> pageable_;
  size_t device_left_ = 0;  // of the blocks of the item in front, behind that item
  size_t host_left_ = 0;
};

}  // namespace ropeway
