/* Types of the older names of the runtime, rt..., which stand for functions of acl_rt.h and answer their codes. */
#ifndef RW_RUNTIME_BASE_H
#define RW_RUNTIME_BASE_H

#include <stddef.h>
#include <stdint.h>

#include "acl/detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t rtError_t;
RW_CONSTANT int32_t RT_ERROR_NONE = 0;

typedef char char_t;
typedef void* rtStream_t;
typedef void* rtEvent_t;
typedef void* rtNotify_t;
typedef uint32_t rtMemType_t;

typedef enum { RT_OVERFLOW_MODE_SATURATION = 0, RT_OVERFLOW_MODE_INFNAN = 1, RT_OVERFLOW_MODE_UNDEF = 2 } rtFloatOverflowMode_t;

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_BASE_H */
