/*
 * Marks and ranges of a program, for whoever collects them: aclprof with ACL_PROF_MSPROFTX, mspti with markers, or a trace. Nothing here
 * fails: without a collector marks have no effect and ranges have the id 0. A stream may be given, and then comes to the mark in its order.
 */
#ifndef RW_MSTX_MS_TOOLS_EXT_H
#define RW_MSTX_MS_TOOLS_EXT_H

#include <stddef.h>
#include <stdint.h>

#include "acl/acl_rt.h"

#define MSTX_INVALID_ID 0

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t mstxRangeId;

struct mstxDomainRegistration_st;
typedef struct mstxDomainRegistration_st* mstxDomainHandle_t;
struct mstxMemHeap_st;
typedef struct mstxMemHeap_st* mstxMemHeapHandle_t;
struct mstxMemRegion_st;
typedef struct mstxMemRegion_st* mstxMemRegionHandle_t;

typedef enum { MSTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR = 0 } mstxMemHeapUsageType;
typedef enum { MSTX_MEM_TYPE_VIRTUAL_ADDRESS = 0 } mstxMemType;
typedef enum { MSTX_MEM_REGION_REF_TYPE_POINTER = 0, MSTX_MEM_REGION_REF_TYPE_HANDLE = 1 } mstxMemRegionRefType;

typedef struct {
    uint32_t deviceId;
    const void* ptr;
    uint64_t size;
} mstxMemVirtualRangeDesc_t;

typedef struct {
    mstxMemHeapUsageType usage;
    mstxMemType type;
    const void* typeSpecificDesc;
} mstxMemHeapDesc_t;

typedef struct {
    mstxMemHeapHandle_t heap;
    mstxMemType regionType;
    size_t regionCount;
    const void* regionDescArray;
    mstxMemRegionHandle_t* regionHandleArrayOut;
} mstxMemRegionsRegisterBatch_t;

typedef struct {
    mstxMemRegionRefType refType;
    union {
        const void* pointer;
        mstxMemRegionHandle_t handle;
    };
} mstxMemRegionRef_t;

typedef struct {
    size_t refCount;
    const mstxMemRegionRef_t* refArray;
} mstxMemRegionsUnregisterBatch_t;

/* ---- Marks and ranges; any thread may end a range, once ---- */

RW_API void mstxMarkA(const char* message, aclrtStream stream);
RW_API mstxRangeId mstxRangeStartA(const char* message, aclrtStream stream);
RW_API void mstxRangeEnd(mstxRangeId id);

/* ---- Domains: the same name is the same domain, and a range ends in its own ---- */

RW_API mstxDomainHandle_t mstxDomainCreateA(const char* name);
RW_API void mstxDomainDestroy(mstxDomainHandle_t handle);
RW_API void mstxDomainMarkA(mstxDomainHandle_t handle, const char* message, aclrtStream stream);
RW_API mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t handle, const char* message, aclrtStream stream);
RW_API void mstxDomainRangeEnd(mstxDomainHandle_t handle, mstxRangeId id);

/* ---- Memory of sub-allocators, for tools that look for leaks: nobody asks here ---- */

RW_API mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain, const mstxMemHeapDesc_t* desc);
RW_API void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap);
RW_API void mstxMemRegionsRegister(mstxDomainHandle_t domain, const mstxMemRegionsRegisterBatch_t* desc);
RW_API void mstxMemRegionsUnregister(mstxDomainHandle_t domain, const mstxMemRegionsUnregisterBatch_t* desc);

#ifdef __cplusplus
}
#endif

#endif /* RW_MSTX_MS_TOOLS_EXT_H */
