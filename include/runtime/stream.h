/* Streams by their older names. */
#ifndef RW_RUNTIME_STREAM_H
#define RW_RUNTIME_STREAM_H

#include "rt_external_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API rtError_t rtStreamCreate(rtStream_t* stm, int32_t priority);
RW_API rtError_t rtStreamDestroy(rtStream_t stm);
RW_API rtError_t rtStreamSynchronize(rtStream_t stm);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_STREAM_H */
