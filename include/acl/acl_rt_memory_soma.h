/* Memory pools with allocation and release in stream order (experimental). */
#ifndef RW_ACL_RT_MEMORY_SOMA_H
#define RW_ACL_RT_MEMORY_SOMA_H

#include <stddef.h>
#include <stdint.h>

#include "acl_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void* aclrtMemPool;

/* 1 to 3: uint32_t switches; 4 to 8: uint64_t bytes, of which 5 and 7 are read only and 6 and 8 take 0 only */
typedef enum aclrtMemPoolAttr {
    ACL_RT_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
    ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 2,
    ACL_RT_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
    ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD = 4,
    ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 5,
    ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 6,
    ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT = 7,
    ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH = 8
} aclrtMemPoolAttr;

typedef struct aclrtMemPoolProps {
    aclrtMemAllocationType allocType;
    aclrtMemHandleType handleType;
    aclrtMemLocation location;
    size_t maxSize;       /* 0: the whole device */
    uint8_t reserved[32]; /* must be zero */
} aclrtMemPoolProps;

/* allocType pinned, location a device. */
RW_API aclError aclrtMemPoolCreate(aclrtMemPool* memPool, const aclrtMemPoolProps* poolProps);

/* With live blocks: 507000. */
RW_API aclError aclrtMemPoolDestroy(const aclrtMemPool memPool);
RW_API aclError aclrtMemPoolSetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value);
RW_API aclError aclrtMemPoolGetAttr(aclrtMemPool memPool, aclrtMemPoolAttr attr, void* value);

/* The address is valid at once, for later work of the same stream. Size 0 succeeds and writes nothing. */
RW_API aclError aclrtMemPoolMallocAsync(void** ptr, size_t size, aclrtMemPool memPool, aclrtStream stream);

/* Back to the pool in stream order. */
RW_API aclError aclrtMemPoolFreeAsync(void* ptr, aclrtStream stream);

/* Gives unused memory above this back to the device. */
RW_API aclError aclrtMemPoolTrimTo(aclrtMemPool memPool, size_t minBytesToKeep);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_RT_MEMORY_SOMA_H */
