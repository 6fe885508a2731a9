#include <new>
#include <vector>

#include "profile/mspti.h"

namespace ropeway {
namespace {

thread_local std::vector<uint64_t> t_external_ids[MSPTI_EXTERNAL_CORRELATION_KIND_SIZE];

bool IsExternalKind(uint32_t kind) { return kind > MSPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < MSPTI_EXTERNAL_CORRELATION_KIND_SIZE; }

}  // namespace

msptiResult PushExternalId(uint32_t kind, uint64_t id) try {
  if (!IsExternalKind(kind)) return MSPTI_ERROR_INVALID_PARAMETER;
  t_external_ids[kind].push_back(id);
  return MSPTI_SUCCESS;
} catch (const std::bad_alloc&) {
  return MSPTI_ERROR_INNER;
}

msptiResult PopExternalId(uint32_t kind, uint64_t* last) {
  if (!IsExternalKind(kind)) return MSPTI_ERROR_INVALID_PARAMETER;
  std::vector<uint64_t>& ids = t_external_ids[kind];
  if (ids.empty()) return MSPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = ids.back();
  ids.pop_back();
  return MSPTI_SUCCESS;
}

void ForEachExternalId(void (*visit)(uint32_t kind, uint64_t id, void* into), void* into) {
  for (uint32_t kind = 0; kind < MSPTI_EXTERNAL_CORRELATION_KIND_SIZE; ++kind) {
    if (!t_external_ids[kind].empty()) visit(kind, t_external_ids[kind].back(), into);
  }
}

}  // namespace ropeway
