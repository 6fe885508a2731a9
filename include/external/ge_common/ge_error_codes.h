/*
 * The type of status numbers. C++.
 */
#ifndef RW_GE_COMMON_GE_ERROR_CODES_H
#define RW_GE_COMMON_GE_ERROR_CODES_H

#include <cstdint>

namespace ge {

using Status = uint32_t;
constexpr Status SUCCESS = 0;
constexpr Status FAILED = 0xFFFFFFFFu;

}  // namespace ge

#endif /* RW_GE_COMMON_GE_ERROR_CODES_H */
