/*
 * The short integer names that the HCCL headers are written in. u64 is unsigned long long and so another type than uint64_t
 * on LP64 Linux, although of the same width.
 */
#ifndef RW_HCCL_BASE_H
#define RW_HCCL_BASE_H

#include "hccl/hccl_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef signed char s8;
typedef signed short s16;
typedef signed int s32;
typedef signed long long s64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

typedef void* rtStream_t;

#ifdef __cplusplus
}
#endif

#endif /* RW_HCCL_BASE_H */
