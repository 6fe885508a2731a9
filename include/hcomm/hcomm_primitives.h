/*
 * Copies on a communication thread of the device. There is no such thread without an NPU: all answer HCCL_E_NOT_SUPPORT.
 */
#ifndef RW_HCOMM_PRIMITIVES_H
#define RW_HCOMM_PRIMITIVES_H

#include "hcomm/hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API int32_t HcommLocalCopyOnThread(ThreadHandle thread, void* dst, const void* src, uint64_t len);
RW_API int32_t HcommWriteOnThread(ThreadHandle thread, ChannelHandle channel, void* dst, const void* src, uint64_t len);
RW_API int32_t HcommReadOnThread(ThreadHandle thread, ChannelHandle channel, void* dst, const void* src, uint64_t len);

#ifdef __cplusplus
}
#endif

#endif /* RW_HCOMM_PRIMITIVES_H */
