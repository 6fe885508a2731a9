// Marks and ranges of a program (docs/profiling.md). They are void: what cannot be is ignored, exceptions included.
#include "profile/mstx.h"

#include "api/entry.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

// What `body` answers, or `otherwise` where it cannot.
template <typename Answer, typename Body>
Answer Quietly(Answer otherwise, Body&& body) noexcept {
  if (InForkedChild()) return otherwise;
  const race_detector::OurCode ours;
  try {
    return body();
  } catch (...) {
    return otherwise;
  }
}
template <typename Body>
void Quietly(Body&& body) noexcept {
  Quietly(0, [&] {
    body();
    return 0;
  });
}

}  // namespace
}  // namespace ropeway::api

void mstxMarkA(const char* message, aclrtStream stream) {
  Quietly([&] { mstx::MarkIn(mstx::DefaultDomain(), message, stream, "mstxMarkA"); });
}

mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream) {
  return Quietly(mstxRangeId{MSTX_INVALID_ID}, [&] { return mstx::StartRange(mstx::DefaultDomain(), message, stream, "mstxRangeStartA"); });
}

void mstxRangeEnd(mstxRangeId id) {
  Quietly([&] { mstx::EndRange(mstx::DefaultDomain(), id, "mstxRangeEnd"); });
}

mstxDomainHandle_t mstxDomainCreateA(const char* name) {
  return Quietly(mstxDomainHandle_t{nullptr}, [&] { return mstx::CreateDomain(name); });
}

void mstxDomainDestroy(mstxDomainHandle_t handle) {
  Quietly([&] { mstx::DestroyDomain(handle); });
}

void mstxDomainMarkA(mstxDomainHandle_t handle, const char* message, aclrtStream stream) {
  Quietly([&] { mstx::MarkIn(handle, message, stream, "mstxDomainMarkA"); });
}

mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t handle, const char* message, aclrtStream stream) {
  return Quietly(mstxRangeId{MSTX_INVALID_ID}, [&] { return mstx::StartRange(handle, message, stream, "mstxDomainRangeStartA"); });
}

void mstxDomainRangeEnd(mstxDomainHandle_t handle, mstxRangeId id) {
  Quietly([&] { mstx::EndRange(handle, id, "mstxDomainRangeEnd"); });
}

// Only a tool that looks for leaks would answer. Programs leave fields of these uninitialised: nothing is read.
mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t, const mstxMemHeapDesc_t*) { return nullptr; }
void mstxMemHeapUnregister(mstxDomainHandle_t, mstxMemHeapHandle_t) {}
void mstxMemRegionsRegister(mstxDomainHandle_t, const mstxMemRegionsRegisterBatch_t*) {}
void mstxMemRegionsUnregister(mstxDomainHandle_t, const mstxMemRegionsUnregisterBatch_t*) {}
