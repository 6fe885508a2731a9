/* Kernels that are melted into one. There are none here: refused. */
#ifndef RW_ACL_SK_H
#define RW_ACL_SK_H

#include <stddef.h>

#include "acl_base.h"
#include "acl_rt.h"
#include "detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclskOption aclskOption;

typedef struct aclskOptions {
    aclskOption* options;
    size_t numOptions;
} aclskOptions;

RW_API aclError aclskOptimize(aclmdlRI model, aclskOptions* options);
RW_API aclError aclskScopeBegin(const char* scopeName, aclrtStream stream);
RW_API aclError aclskScopeEnd(const char* scopeName, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_SK_H */
