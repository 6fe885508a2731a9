/* The queues of a stream, which has none of hardware here: refused. */
#ifndef RW_RUNTIME_RT_EXTERNAL_STREAM_H
#define RW_RUNTIME_RT_EXTERNAL_STREAM_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API rtError_t rtStreamGetSqid(const rtStream_t stm, uint32_t* sqId);
RW_API rtError_t rtStreamGetCqid(const rtStream_t stm, uint32_t* cqId, uint32_t* logicCqId);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_RT_EXTERNAL_STREAM_H */
