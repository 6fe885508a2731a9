/* Part of ascend_hal.h, and empty here. */
#ifndef RW_DRIVER_ASCEND_HAL_DC_H
#define RW_DRIVER_ASCEND_HAL_DC_H

#include "ascend_hal_define.h"

#endif /* RW_DRIVER_ASCEND_HAL_DC_H */
