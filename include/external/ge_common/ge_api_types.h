/*
 * Types of the graph engine that the transfer engines' headers bring along: there are none of it here. C++.
 */
#ifndef RW_GE_COMMON_GE_API_TYPES_H
#define RW_GE_COMMON_GE_API_TYPES_H

#include <cstdint>

#endif /* RW_GE_COMMON_GE_API_TYPES_H */
