// What virtual memory (copy-and-memory.md 10.1) cannot do here: choose links.
#include "api/refused/refuse.h"

using namespace ropeway;
using namespace ropeway::api;

namespace ropeway::api {
namespace {

constexpr const char* kNoLinks = "there is no link to choose between devices that are memory of one machine; map without it";

}  // namespace
}  // namespace ropeway::api

aclError aclrtMemMapSelectedLink(void* virPtrDst, size_t size, void* virPtrSrc, uint32_t linkIdx) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointers({{"virPtrDst", virPtrDst}, {"virPtrSrc", virPtrSrc}}));
    RW_TRY(RequireSome(Layer::kOuter, "size", size));
    RW_TRY(RequireRange(Layer::kOuter, "linkIdx", linkIdx, ACL_RT_MEM_LINK_IDX_0, ACL_RT_MEM_LINK_IDX_1));
    return NotSupported(kNoLinks);
  });
}

aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("handle", handle));
    RW_TRY(RequireRange(Layer::kRuntime, "adviceLink", adviceLink, ACL_RT_MEM_ACCESS_LINK_SIO,
                        ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH));
    return NotSupported(kNoLinks);
  });
}
