/* Memory by its older names. What stands at the end of rtMalloc and rtMallocHost is not looked at: older programs leave it away. */
#ifndef RW_RUNTIME_MEM_H
#define RW_RUNTIME_MEM_H

#include "rt_external_mem.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API rtError_t rtPointerGetAttributes(rtPointerAttributes_t* attributes, const void* ptr);
RW_API rtError_t rtMemcpyAsync(void* dst, uint64_t destMax, const void* src, uint64_t cnt, rtMemcpyKind_t kind, rtStream_t stm);
RW_API rtError_t rtMalloc(void** devPtr, uint64_t size, rtMemType_t type, const uint16_t moduleId);
RW_API rtError_t rtFree(void* devPtr);
RW_API rtError_t rtMallocHost(void** hostPtr, uint64_t size, const uint16_t moduleId);
RW_API rtError_t rtFreeHost(void* hostPtr);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_MEM_H */
