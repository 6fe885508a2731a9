/* Begin and end of the operator API. */
#ifndef RW_ACLNN_ACLNN_BASE_H
#define RW_ACLNN_ACLNN_BASE_H

#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Operator API. ---- */

/* configPath may be NULL, or names a file of JSON as aclInit takes it, which is checked as there (100003, 100006) and has nothing that
 * operators by stand-in would need. Neither needs a device, and both may be called as often as one likes. */
RW_API aclnnStatus aclnnInit(const char* configPath);
RW_API aclnnStatus aclnnFinalize(void);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACLNN_ACLNN_BASE_H */
