/*
 * What the transfer engines' headers include: status numbers and AscendString. C++.
 */
#ifndef RW_GE_COMMON_API_ERROR_CODES_H
#define RW_GE_COMMON_API_ERROR_CODES_H

#include <map>
#include <string>

#include "ge_api_types.h"
#include "ge_error_codes.h"
#include "graph/ascend_string.h"

/* What the classes of these headers are marked with. */
#if defined(FUNC_VISIBILITY)
#define ASCEND_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ASCEND_FUNC_VISIBILITY
#endif

#endif /* RW_GE_COMMON_API_ERROR_CODES_H */
