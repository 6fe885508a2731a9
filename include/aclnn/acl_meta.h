/*
 * What operators take: tensors, scalars, arrays and lists of them. A container copies what it is made of; the bytes of a tensor stay where
 * they are.
 *
 * Results: 0; 161001 for a pointer that is NULL, 161002 for a value that cannot be. What makes an object answers NULL instead. The text
 * comes from aclGetRecentErrMsg.
 */
#ifndef RW_ACLNN_ACL_META_H
#define RW_ACLNN_ACL_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/acl_base.h"
#include "acl/acl_rt.h"
#include "acl/detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ACLNN_META
#define ACLNN_META
typedef struct aclOpExecutor aclOpExecutor;
typedef struct aclTensor aclTensor;
typedef struct aclScalar aclScalar;
typedef struct aclIntArray aclIntArray;
typedef struct aclFloatArray aclFloatArray;
typedef struct aclBoolArray aclBoolArray;
typedef struct aclTensorList aclTensorList;
typedef struct aclScalarList aclScalarList;

typedef int32_t aclnnStatus;
#ifdef __cplusplus
constexpr aclnnStatus OK = 0;
#endif
#endif /* ACLNN_META */

/* ---- Operator containers. ---- */

/* stride NULL: the elements lie one behind the other. offset counts elements from tensorData. */
RW_API aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType, const int64_t* stride,
                                  int64_t offset, aclFormat format, const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData);
/* The same for a tensor that is there already. */
RW_API aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                                 const int64_t* stride, int64_t offset, aclFormat format, const int64_t* storageDims,
                                 uint64_t storageDimsNum, void* tensorDataAddr);
/* A data type without a size in bytes: NULL. */
RW_API aclScalar* aclCreateScalar(void* value, aclDataType dataType);
RW_API aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size);
RW_API aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size);
RW_API aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size);
/* A list owns its members: they end with it. */
RW_API aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size);
RW_API aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size);

RW_API aclnnStatus aclDestroyTensor(const aclTensor* tensor);
RW_API aclnnStatus aclDestroyScalar(const aclScalar* scalar);
RW_API aclnnStatus aclDestroyIntArray(const aclIntArray* array);
RW_API aclnnStatus aclDestroyFloatArray(const aclFloatArray* array);
RW_API aclnnStatus aclDestroyBoolArray(const aclBoolArray* array);
RW_API aclnnStatus aclDestroyTensorList(const aclTensorList* array);
RW_API aclnnStatus aclDestroyScalarList(const aclScalarList* array);

/* These three hand out a copy, which the caller ends by C++'s delete[]. */
RW_API aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum);
RW_API aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims, uint64_t* storageDimsNum);
RW_API aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue, uint64_t* stridesNum);
RW_API aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset);
RW_API aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format);
RW_API aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType);
RW_API aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size);
RW_API aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size);
RW_API aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size);
RW_API aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size);
RW_API aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size);
/* The address that tensorData was, without the offset. addr NULL: the tensor has no bytes yet. */
RW_API aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr);
RW_API aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr);

/* Executors of operators by stand-in (ropeway/operator.h). One that is repeatable outlives its launch, until it is destroyed. */
RW_API aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor* executor);
RW_API aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor* executor);

/* ---- Executors that are changed, and dumps: refused. ---- */

RW_API aclnnStatus aclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr);
RW_API aclnnStatus aclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr);
RW_API aclnnStatus aclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr);
RW_API aclnnStatus aclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex, aclTensorList* tensors,
                                                void* addr);
RW_API aclnnStatus aclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                                 aclTensorList* tensors, void* addr);
RW_API aclnnStatus aclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex, aclTensorList* tensors,
                                           void* addr);
RW_API aclnnStatus AclSetInputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr);
RW_API aclnnStatus AclSetOutputTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr);
RW_API aclnnStatus AclSetTensorAddr(aclOpExecutor* executor, const size_t index, aclTensor* tensor, void* addr);
RW_API aclnnStatus AclSetDynamicInputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex, aclTensorList* tensors,
                                                void* addr);
RW_API aclnnStatus AclSetDynamicOutputTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex,
                                                 aclTensorList* tensors, void* addr);
RW_API aclnnStatus AclSetDynamicTensorAddr(aclOpExecutor* executor, size_t irIndex, const size_t relativeIndex, aclTensorList* tensors,
                                           void* addr);
RW_API aclnnStatus aclDumpOpTensors(const char* opType, const char* opName, const aclTensor* tensors, size_t inputTensorNum,
                                    size_t outputTensorNum, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACLNN_ACL_META_H */
