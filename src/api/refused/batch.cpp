// Copies of many blocks, of descriptors and through two-level pointers (copy-and-memory.md 2.5, 3, 4): not there yet.
// The checks are those that the original makes before it asks whether the product has the feature.
#include <algorithm>

#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoBatches = "batch copies are not there yet; call aclrtMemcpyAsync for each block";
constexpr const char* kNoDescriptors = "descriptor copies are not there yet; use aclrtMemcpyAsync";
constexpr const char* kNoOffsets = "copies through two-level pointers are not there yet; use aclrtMemcpyAsync";

struct Batch {
  void** dsts;
  size_t* destMaxs;
  void** srcs;
  size_t* sizes;
  size_t numBatches;
  aclrtMemcpyBatchAttr* attrs;
  size_t* attrsIndexes;
  size_t numAttrs;
};

Status RequireReservedZero(const Batch& batch) {
  for (size_t k = 0; k < batch.numAttrs; ++k) {
    const auto& reserved = batch.attrs[k].rsv;
    if (std::any_of(std::begin(reserved), std::end(reserved), [](uint8_t byte) { return byte != 0; }))
      return Reject(ACL_ERROR_INVALID_PARAM, "attrs[%zu].rsv has bytes that are not 0; clear the structure first", k);
  }
  return Ok();
}

Status CopyBatch(const Batch& batch) {
  RW_TRY(RequirePointer("sizes", batch.sizes));
  RW_TRY(RequireSome(Layer::kOuter, "numBatches", batch.numBatches));
  if (std::all_of(batch.sizes, batch.sizes + batch.numBatches, [](size_t size) { return size == 0; })) return Ok();
  RW_TRY(RequirePointers({{"dsts", batch.dsts},
                          {"destMaxs", batch.destMaxs},
                          {"srcs", batch.srcs},
                          {"attrs", batch.attrs},
                          {"attrsIndexes", batch.attrsIndexes}}));
  for (size_t i = 0; i < batch.numBatches; ++i) {
    if (batch.sizes[i] > batch.destMaxs[i])
      return Reject(ACL_ERROR_INVALID_PARAM, "sizes[%zu] %zu exceeds destMaxs[%zu] %zu", i, batch.sizes[i], i,
                    batch.destMaxs[i]);
  }
  RW_TRY(RequireReservedZero(batch));
  return NotSupported(kNoBatches);
}

Status CopyBatchWithIndex(const Batch& batch, size_t* failIndex) {
  RW_TRY(RequirePointer("failIndex", failIndex));
  *failIndex = SIZE_MAX;
  return CopyBatch(batch);
}

// Numbers outside the enumeration; the outer layer knows no others.
Status RequireKnownKind(aclrtMemcpyKind kind) { return RequireRange(Layer::kOuter, "kind", kind, 0, 7); }

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIndex) {
  const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  return Entry(__func__, [&] { return CopyBatchWithIndex(batch, failIndex); });
}

aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                            aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs) {
  const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  return Entry(__func__, [&] { return CopyBatch(batch); });
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, size_t* failIndex,
                               aclrtStream) {
  const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  return Entry(__func__, [&] { return CopyBatchWithIndex(batch, failIndex); });
}

aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, aclrtStream) {
  const Batch batch{dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs};
  return Entry(__func__, [&] { return CopyBatch(batch); });
}

aclError aclrtGetMemcpyDescSize(aclrtMemcpyKind kind, size_t* descSize) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("descSize", descSize));
    RW_TRY(RequireKnownKind(kind));
    return NotSupported(kNoDescriptors);
  });
}

aclError aclrtSetMemcpyDesc(void* desc, aclrtMemcpyKind kind, void* srcAddr, void* dstAddr, size_t count,
                            void* config) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("desc", desc));
    RW_TRY(RequireKnownKind(kind));
    RW_TRY(RequirePointers({{"srcAddr", srcAddr}, {"dstAddr", dstAddr}}));
    RW_TRY(RequireSome(Layer::kOuter, "count", count));
    RW_TRY(RequireNull("config", config));
    return NotSupported(kNoDescriptors);
  });
}

aclError aclrtMemcpyAsyncWithDesc(void* desc, aclrtMemcpyKind kind, aclrtStream stream) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("desc", desc));
    RW_TRY(RequireKnownKind(kind));
    RW_TRY(RequirePointer("stream", stream));
    return NotSupported(kNoDescriptors);
  });
}

aclError aclrtMemcpyAsyncWithOffset(void**, size_t, size_t, const void**, size_t count, size_t, aclrtMemcpyKind kind,
                                    aclrtStream) {
  return Entry(__func__, [&]() -> Status {
    if (count == 0) return Ok();
    if (kind != ACL_MEMCPY_INNER_DEVICE_TO_DEVICE)
      return Fail(ACL_ERROR_RT_PARAM_INVALID, "kind %d is not for this call; use ACL_MEMCPY_INNER_DEVICE_TO_DEVICE",
                  static_cast<int>(kind));
    return NotSupported(kNoOffsets);
  });
}
