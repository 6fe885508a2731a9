/* What the last task of the thread was: refused. */
#ifndef RW_RUNTIME_RT_EXTERNAL_BASE_H
#define RW_RUNTIME_RT_EXTERNAL_BASE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API rtError_t rtGetTaskIdAndStreamID(uint32_t* taskId, uint32_t* streamId);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_RT_EXTERNAL_BASE_H */
