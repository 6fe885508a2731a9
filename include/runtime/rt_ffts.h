/* Signals between cores of a device: refused. */
#ifndef RW_RUNTIME_RT_FFTS_H
#define RW_RUNTIME_RT_FFTS_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API rtError_t rtGetC2cCtrlAddr(uint64_t* addr, uint32_t* len);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_RT_FFTS_H */
