// acl.media: the allocator of the media unit, which plain memory programs use as just another device allocator.
#include "malloc_config.h"
#include "tables.h"

namespace ropeway::python {
namespace {

int MallocForMedia(void** pointer, size_t size) { return aclrtMalloc(pointer, size, ACL_MEM_MALLOC_HUGE_FIRST); }
int FreeForMedia(void* pointer) { return aclrtFree(pointer); }

}  // namespace

Table kMediaFunctions[] = {
    RW_SPECIAL("acl.media.dvpp_malloc", (&Call<"acl.media.dvpp_malloc", &MallocForMedia, "P", Gil::kReleased, 1>), "size, /",
               "(dev_ptr, ret)", "Device memory; here the same as acl.rt.malloc."),
    RW_SPECIAL("acl.media.dvpp_free", (&Call<"acl.media.dvpp_free", &FreeForMedia, "P", Gil::kReleased, 1>), "dev_ptr, /", "ret",
               "Frees what dvpp_malloc made."),
    RW_SPECIAL("acl.media.dvpp_malloc_with_cfg", (&MallocWithConfig<"acl.media.dvpp_malloc_with_cfg", &aclrtMallocWithCfg>),
               "size, policy, cfg: dict, /", "(dev_ptr, ret)", "Device memory with attributes, as in acl.rt.malloc_with_cfg."),
    {}};

}  // namespace ropeway::python
