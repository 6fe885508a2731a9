/*
 * Attributes of operators: lists of named values. Nothing executes an operator here; a host function in its place is what
 * ropeway/operator.h offers.
 *
 * NULL for a list, a name or an array that is not empty: 100000; so is a negative number of values. A name that is set again has the newer
 * value.
 */
#ifndef RW_ACL_OP_H
#define RW_ACL_OP_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_dump.h"
#include "acl_rt.h"
#include "detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aclopHandle aclopHandle;
typedef struct aclopAttr aclopAttr;
typedef struct aclopKernelDesc aclopKernelDesc;

typedef void (*aclDataDeallocator)(void* data, size_t length);
typedef aclError (*aclopCompileFunc)(int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                                     const aclTensorDesc* const outputDesc[], const aclopAttr* opAttr, aclopKernelDesc* aclopKernelDesc);

RW_CONSTANT int ACL_COMPILE_FLAG_BIN_SELECTOR = 1;

typedef enum aclEngineType { ACL_ENGINE_SYS = 0, ACL_ENGINE_AICORE = 1, ACL_ENGINE_VECTOR = 2 } aclopEngineType;

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

/* ---- Operators, which cannot be loaded or run here: refused. ---- */

RW_API aclError aclopSetModelDir(const char* modelDir);
RW_API aclError aclopLoad(const void* model, size_t modelSize);
RW_API aclError aclopExecute(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], const aclDataBuffer* const inputs[],
                             int numOutputs, const aclTensorDesc* const outputDesc[], aclDataBuffer* const outputs[], const aclopAttr* attr,
                             aclrtStream stream);
RW_API aclError aclopExecuteV2(const char* opType, int numInputs, aclTensorDesc* inputDesc[], aclDataBuffer* inputs[], int numOutputs,
                               aclTensorDesc* outputDesc[], aclDataBuffer* outputs[], aclopAttr* attr, aclrtStream stream);
RW_API aclError aclopCreateHandle(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                                  const aclTensorDesc* const outputDesc[], const aclopAttr* opAttr, aclopHandle** handle);
RW_API aclError aclopExecWithHandle(aclopHandle* handle, int numInputs, const aclDataBuffer* const inputs[], int numOutputs,
                                    aclDataBuffer* const outputs[], aclrtStream stream);
RW_API aclError aclopCast(const aclTensorDesc* srcDesc, const aclDataBuffer* srcBuffer, const aclTensorDesc* dstDesc,
                          aclDataBuffer* dstBuffer, uint8_t truncate, aclrtStream stream);
RW_API aclError aclopCreateHandleForCast(aclTensorDesc* srcDesc, aclTensorDesc* dstDesc, uint8_t truncate, aclopHandle** handle);
RW_API aclError aclopCreateKernel(const char* opType, const char* kernelId, const char* kernelName, void* binData, int binSize,
                                  aclopEngineType enginetype, aclDataDeallocator deallocator);
RW_API aclError aclopRegisterCompileFunc(const char* opType, aclopCompileFunc func);
RW_API aclError aclopUnregisterCompileFunc(const char* opType);
RW_API aclError aclopSetKernelArgs(aclopKernelDesc* kernelDesc, const char* kernelId, uint32_t blockDim, const void* args,
                                   uint32_t argSize);
RW_API aclError aclopSetKernelWorkspaceSizes(aclopKernelDesc* kernelDesc, int numWorkspaces, size_t* workspaceSizes);
RW_API aclError aclopUpdateParams(const char* opType, int numInputs, const aclTensorDesc* const inputDesc[], int numOutputs,
                                  const aclTensorDesc* const outputDesc[], const aclopAttr* attr);
RW_API aclError aclopSetMaxOpQueueNum(uint64_t maxOpNum);
RW_API aclError aclopInferShape(const char* opType, int numInputs, aclTensorDesc* inputDesc[], aclDataBuffer* inputs[], int numOutputs,
                                aclTensorDesc* outputDesc[], aclopAttr* attr);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_OP_H */
