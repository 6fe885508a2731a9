// Copies of many blocks (rules/batches.md). The order of the checks is behaviour.
#include <algorithm>

#include "api/entry.h"
#include "engine/watcher.h"
#include "runtime/batch_builder.h"
#include "runtime/capture_mode.h"
#include "runtime/product.h"
#include "runtime/transfer.h"
#include "stream/fence.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr size_t kMaxSyncItems = 4096;

bool HasNoBytes(const BatchItems& items) {
  return std::all_of(items.sizes, items.sizes + items.numBatches, [](size_t size) { return size == 0; });
}

Status RequireReservedZero(const BatchItems& items) {
  for (size_t k = 0; k < items.numAttrs; ++k) {
    const auto& reserved = items.attrs[k].rsv;
    if (std::any_of(std::begin(reserved), std::end(reserved), [](uint8_t byte) { return byte != 0; }))
      return Reject(ACL_ERROR_INVALID_PARAM, "attrs[%zu].rsv has bytes that are not 0; clear the structure first", k);
  }
  return Ok();
}

// One pass without a branch finds that all is well, as a rule.
Status RequireFitting(const BatchItems& items) {
  size_t too_large = 0;
  for (size_t i = 0; i < items.numBatches; ++i) too_large += items.sizes[i] > items.destMaxs[i] ? 1 : 0;
  for (size_t i = 0; too_large != 0 && i < items.numBatches; ++i) {
    if (items.sizes[i] > items.destMaxs[i])
      return Reject(ACL_ERROR_INVALID_PARAM, "sizes[%zu] %zu exceeds destMaxs[%zu] %zu", i, items.sizes[i], i, items.destMaxs[i]);
  }
  return Ok();
}

// rules/batches.md 2, steps 2 to 7. `nothing_to_do`: every size is 0, and no other check is made.
Status CheckArrays(const BatchItems& items, bool* nothing_to_do) {
  RW_TRY(RequirePointer("sizes", items.sizes));
  if (items.numBatches == 0) return Reject(ACL_ERROR_INVALID_PARAM, "numBatches is 0");
  *nothing_to_do = HasNoBytes(items);
  if (*nothing_to_do) return Ok();
  RW_TRY(RequirePointer("dsts", items.dsts));
  RW_TRY(RequirePointer("destMaxs", items.destMaxs));
  RW_TRY(RequirePointer("srcs", items.srcs));
  RW_TRY(RequirePointer("attrs", items.attrs));
  RW_TRY(RequirePointer("attrsIndexes", items.attrsIndexes));
  RW_TRY(RequireFitting(items));
  return RequireReservedZero(items);
}

Status RequireBatchProduct() {
  if (ThisProduct().copies_batches) return Ok();
  return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s has no batch copies; copy block by block", GetConfig().soc_name.c_str());
}

Status RequireAttributeCount(const BatchItems& items) {
  if (items.numAttrs != 0 && items.numAttrs <= items.numBatches) return Ok();
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "numAttrs %zu is not between 1 and numBatches %zu", items.numAttrs, items.numBatches);
}

// rules/batches.md 2, step 12: the ranges of the attributes.
Status RequireAttributeRanges(const BatchItems& items) {
  if (items.attrsIndexes[0] != 0)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "attrsIndexes[0] is %zu, but the first attribute must begin at item 0", items.attrsIndexes[0]);
  for (size_t k = 1; k < items.numAttrs; ++k) {
    const size_t index = items.attrsIndexes[k];
    if (index <= items.attrsIndexes[k - 1])
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "attrsIndexes[%zu] %zu does not exceed its predecessor %zu", k, index,
                  items.attrsIndexes[k - 1]);
    if (index >= items.numBatches)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "attrsIndexes[%zu] %zu is not below numBatches %zu", k, index, items.numBatches);
  }
  return Ok();
}

Task BatchTask(std::unique_ptr<Batch>& batch, const char* call) {
  batch->Arrange(PartOrder::Of(batch->pieces().size()));
  Task task{};
  task.kind = TaskKind::kBatch;
  task.method = PlanBatch(batch->bytes(), TheEngine().traits()).method;
  task.flags = Task::kOwnsPayload;
  task.call = call;
  const size_t bytes = batch->bytes();
  task.batch = {batch.release(), bytes};
  return task;
}

Status SubmitBatch(std::unique_ptr<Batch>& batch, StreamRef stream, Context& context, const char* call) {
  if (batch == nullptr || batch->empty()) return Ok();
  Task task = BatchTask(batch, call);
  Status status = Submit(stream, context, task);
  if (!status.ok()) ReleasePayload(task);
  return status;
}

// Items of pageable memory: the stream is drained, then they are copied by the caller.
Status CopyPageableItems(std::unique_ptr<Batch>& batch, aclrtStream stream, Context& context, const char* call) {
  RW_TRY_SET(StreamHold target, HoldStream(stream, &context));
  if (target->capturing())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "the batch has items of pageable memory, which cannot be captured; use pinned memory");
  RW_TRY(RequireUnsafeAllowed(context, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT));
  RW_TRY(target->Synchronize(Deadline::Never()));
  return RunNow(BatchTask(batch, call));
}

Status CopyBatchNow(const BatchItems& items, size_t* failIndex, const char* call) {
  bool nothing_to_do = false;
  RW_TRY(CheckArrays(items, &nothing_to_do));
  if (nothing_to_do) return Ok();
  RW_TRY(RequireBatchProduct());
  RW_TRY(RequireAttributeCount(items));
  if (items.numBatches > kMaxSyncItems)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "numBatches %zu exceeds the %zu that a synchronous batch may have; use aclrtMemcpyBatchAsync",
                items.numBatches, kMaxSyncItems);
  RW_TRY(RequireAttributeRanges(items));
  if (Runtime::GetIfStarted() == nullptr) {
    *failIndex = 0;
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "no device has been set yet, so neither dsts[0] %p nor srcs[0] %p is device memory",
                items.dsts[0], items.srcs[0]);
  }
  SyncOperation in_progress;
  const Context* context = CurrentContextOrNull();
  BatchBuilder builder(items, {true, context != nullptr ? context->device() : -1, nullptr, nullptr});
  RW_TRY(builder.Collect(failIndex));
  for (auto* batch : {&builder.queued(), &builder.pageable()}) {
    if (*batch != nullptr) RW_TRY(RunNow(BatchTask(*batch, call)));
  }
  return Ok();
}

// What was collected is issued even when a later item was refused: items count as issued one after the other (rules/batches.md 3).
Status IssueCollected(BatchBuilder& builder, aclrtStream stream, StreamRef target, Context& context, const char* call) {
  Status pageable;
  if (builder.pageable() != nullptr) pageable = CopyPageableItems(builder.pageable(), stream, context, call);
  // A refusal there ends the batch at the first pageable item; those in front of it are queued.
  if (!pageable.ok() && builder.queued() != nullptr) builder.queued()->CutToSeal();
  RW_TRY(SubmitBatch(builder.queued(), target, context, call));
  return pageable;
}

// Hands the first items to the stream while the others are still being collected, where the engine gains by that.
Status StartEarly(BatchBuilder& builder, StreamRef target, Context& context, const char* call) {
  if (!TheEngine().traits().starts_batches_early || target.stream->capturing() || ActiveWatcher() != nullptr) return Ok();
  if (!builder.CollectHead()) return Ok();
  auto [batch, rest] = builder.HandOver();
  Status status = SubmitBatch(batch, target, context, call);
  rest->Complete();
  return status;
}

Status CopyBatchAsync(const BatchItems& items, size_t* failIndex, aclrtStream stream, const char* call) {
  bool nothing_to_do = false;
  RW_TRY(CheckArrays(items, &nothing_to_do));
  if (nothing_to_do) return Ok();
  RW_TRY(RequireBatchProduct());
  RW_TRY_SET(StreamRef found, FindStream(stream));
  RW_TRY(RequireAttributeCount(items));
  RW_TRY(RequireAttributeRanges(items));
  RW_TRY_SET(Context * context, CurrentContext());
  const StreamRef target = OrDefault(found, *context);
  SyncOperation in_progress;
  BatchBuilder builder(items, {false, context->device(), target.stream, &context->scope()});
  RW_TRY(StartEarly(builder, target, *context, call));
  size_t refused = SIZE_MAX;
  Status collected = builder.Collect(&refused);
  RW_TRY(IssueCollected(builder, stream, target, *context, call));
  *failIndex = refused;
  return collected;
}

// The index is written as soon as there is a place for it.
template <typename Copy>
[[gnu::always_inline]] inline aclError CopyWithIndex(const char* call, size_t* failIndex, Copy&& copy) {
  return Entry(call, [&]() -> Status {
    RW_TRY(RequirePointer("failIndex", failIndex));
    *failIndex = SIZE_MAX;
    return copy(failIndex);
  });
}

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                          size_t* attrsIndexes, size_t numAttrs, size_t* failIndex) {
  const BatchItems items{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  return CopyWithIndex(__func__, failIndex, [&](size_t* index) { return CopyBatchNow(items, index, "aclrtMemcpyBatch"); });
}

aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                            size_t* attrsIndexes, size_t numAttrs) {
  const BatchItems items{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  size_t nobody_asks = SIZE_MAX;
  return Entry(__func__, [&] { return CopyBatchNow(items, &nobody_asks, "aclrtMemcpyBatchV2"); });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                               size_t* attrsIndexes, size_t numAttrs, size_t* failIndex, aclrtStream stream) {
  const BatchItems items{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  return CopyWithIndex(__func__, failIndex, [&](size_t* index) { return CopyBatchAsync(items, index, stream, "aclrtMemcpyBatchAsync"); });
}

aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                 size_t* attrsIndexes, size_t numAttrs, aclrtStream stream) {
  const BatchItems items{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  size_t nobody_asks = SIZE_MAX;
  return Entry(__func__, [&] { return CopyBatchAsync(items, &nobody_asks, stream, "aclrtMemcpyBatchAsyncV2"); });
}
