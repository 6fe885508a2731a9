/*
 * Bytes per element of every HcclDataType, and the families of devices. C++.
 */
#ifndef RW_DTYPE_COMMON_H
#define RW_DTYPE_COMMON_H

#include "hccl/base.h"
#include "hccl/hccl_types.h"

/* Indexed by HcclDataType; 13 is no type and has an entry all the same. */
constexpr u32 SIZE_TABLE[HCCL_DATA_TYPE_RESERVED] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2, 16, 2, 1, 1, 1, 1};

enum class DevType {
    DEV_TYPE_910 = 0,
    DEV_TYPE_310P3 = 1,
    DEV_TYPE_910B = 2,
    DEV_TYPE_310P1 = 3,
    DEV_TYPE_910_93 = 4,
    DEV_TYPE_NOSOC = 5,
    DEV_TYPE_COUNT = 6
};

#endif /* RW_DTYPE_COMMON_H */
