/* What a program tells `ropeway check` of its own kernels and operators, which have a place in their stream and no ranges otherwise.
 * Without the layer these do nothing. */
#ifndef ROPEWAY_CHECK_H_
#define ROPEWAY_CHECK_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the layer, when it is loaded. */
__attribute__((weak)) void ropewayCheckUse(void* stream, const void* address, size_t size, int writes);

/* What was queued last on the stream reads these bytes. */
static inline void ropewayCheckReads(void* stream, const void* address, size_t size) {
    if (ropewayCheckUse) ropewayCheckUse(stream, address, size, 0);
}

/* What was queued last on the stream writes these bytes. */
static inline void ropewayCheckWrites(void* stream, const void* address, size_t size) {
    if (ropewayCheckUse) ropewayCheckUse(stream, address, size, 1);
}

#ifdef __cplusplus
}
#endif

#endif
