/* Where a notify lies on the device, which it does not here: refused. */
#ifndef RW_RUNTIME_RT_EXTERNAL_EVENT_H
#define RW_RUNTIME_RT_EXTERNAL_EVENT_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API rtError_t rtNotifyGetAddrOffset(rtNotify_t notify, uint64_t* devAddrOffset);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_RT_EXTERNAL_EVENT_H */
