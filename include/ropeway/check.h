/* What a program tells `ropeway check` of its own kernels and operators, which have a place in their stream and no ranges otherwise, and
 * what it can ask. Without the layer these do nothing. */
#ifndef ROPEWAY_CHECK_H_
#define ROPEWAY_CHECK_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of the layer, when it is loaded. */
__attribute__((weak)) void ropewayCheckUse(void* stream, const void* address, size_t size, int writes);
__attribute__((weak)) unsigned long ropewayCheckErrors(void);

/* Whether the layer is there. */
static inline int ropewayCheckLoaded(void) { return ropewayCheckErrors != 0; }

/* How many errors of this process were told so far. */
static inline unsigned long ropewayCheckCount(void) { return ropewayCheckErrors ? ropewayCheckErrors() : 0; }

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
