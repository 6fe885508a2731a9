/*
 * Attributes of operators: lists of named values. Nothing executes an operator here; a host function in its place is what
 * ropeway/operator.h offers.
 *
 * NULL for a list, a name or an array that is not empty: 100000; so is a negative number of values. A name that is set again has the newer
 * value.
 */
#ifndef RW_ACL_OP_H
#define RW_ACL_OP_H

#include "acl_base.h"
#include "acl_rt.h"
#include "detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclopHandle aclopHandle;
typedef struct aclopAttr aclopAttr;
typedef struct aclopKernelDesc aclopKernelDesc;

typedef enum aclEngineType { ACL_ENGINE_SYS, ACL_ENGINE_AICORE, ACL_ENGINE_VECTOR } aclopEngineType;

/* ---- Attributes of operators. ---- */

RW_API aclopAttr* aclopCreateAttr(void);
RW_API void aclopDestroyAttr(const aclopAttr* attr);
RW_API aclError aclopSetAttrBool(aclopAttr* attr, const char* attrName, uint8_t attrValue);
RW_API aclError aclopSetAttrInt(aclopAttr* attr, const char* attrName, int64_t attrValue);
RW_API aclError aclopSetAttrFloat(aclopAttr* attr, const char* attrName, float attrValue);
RW_API aclError aclopSetAttrString(aclopAttr* attr, const char* attrName, const char* attrValue);
RW_API aclError aclopSetAttrDataType(aclopAttr* attr, const char* attrName, aclDataType attrValue);
RW_API aclError aclopSetAttrListDataType(aclopAttr* attr, const char* attrName, int numValues, const aclDataType values[]);
RW_API aclError aclopSetAttrListBool(aclopAttr* attr, const char* attrName, int numValues, const uint8_t* values);
RW_API aclError aclopSetAttrListInt(aclopAttr* attr, const char* attrName, int numValues, const int64_t* values);
RW_API aclError aclopSetAttrListFloat(aclopAttr* attr, const char* attrName, int numValues, const float* values);
RW_API aclError aclopSetAttrListString(aclopAttr* attr, const char* attrName, int numValues, const char** values);
RW_API aclError aclopSetAttrListListInt(aclopAttr* attr, const char* attrName, int numLists, const int* numValues,
                                        const int64_t* const values[]);
/* No handle is ever made here, so there is only NULL to destroy. */
RW_API void aclopDestroyHandle(aclopHandle* handle);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_OP_H */
