/*
 * Tensor descriptors: shape, type, format and names of a tensor, without its bytes. Programs size their buffers by them. Nothing here
 * executes a model or an operator.
 *
 * NULL for a descriptor, an array or a name: 100000, or what a getter without a code answers for nothing.
 */
#ifndef RW_ACL_BASE_MDL_H
#define RW_ACL_BASE_MDL_H

#include "acl_base_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_TENSOR_SHAPE_RANGE_NUM 2
#define ACL_TENSOR_VALUE_RANGE_NUM 2
#define ACL_UNKNOWN_RANK 0xFFFFFFFFFFFFFFFEULL

typedef struct aclTensorDesc aclTensorDesc;

typedef enum aclMemType { ACL_MEMTYPE_DEVICE = 0, ACL_MEMTYPE_HOST = 1, ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2 } aclMemType;

/* ---- Tensor descriptors. ---- */

/* dims has numDims entries: -1 for a dimension that is not known, a single -2 for a rank that is not. NULL when numDims is negative or dims
 * is missing. */
RW_API aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims, aclFormat format);
RW_API void aclDestroyTensorDesc(const aclTensorDesc* desc);

RW_API aclDataType aclGetTensorDescType(const aclTensorDesc* desc);
RW_API aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc);
/* Bytes and elements; 0 when a dimension is not known, or the product has no room in a size_t. */
RW_API size_t aclGetTensorDescSize(const aclTensorDesc* desc);
RW_API size_t aclGetTensorDescElementCount(const aclTensorDesc* desc);
/* ACL_UNKNOWN_RANK when the rank is not known. */
RW_API size_t aclGetTensorDescNumDims(const aclTensorDesc* desc);
/* -1 when there is no such dimension, which the second one tells apart. */
RW_API int64_t aclGetTensorDescDim(const aclTensorDesc* desc, size_t index);
RW_API aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize);
/* Least and greatest value of a dimension; -1 for no limit. dimRangeNum is at least ACL_TENSOR_SHAPE_RANGE_NUM. */
RW_API aclError aclGetTensorDescDimRange(const aclTensorDesc* desc, size_t index, size_t dimRangeNum, int64_t* dimRange);
RW_API void aclSetTensorDescName(aclTensorDesc* desc, const char* name);
/* "" without a name. Good until the name is set again or the descriptor goes. */
RW_API const char* aclGetTensorDescName(aclTensorDesc* desc);
/* Descriptors stand alone here: the one of index 0 is itself, and there is no other. */
RW_API aclTensorDesc* aclGetTensorDescByIndex(aclTensorDesc* desc, size_t index);
/* Where a constant lies (aclSetTensorConst); NULL for the others. */
RW_API void* aclGetTensorDescAddress(const aclTensorDesc* desc);

RW_API aclError aclSetTensorShapeRange(aclTensorDesc* desc, size_t dimsCount, int64_t dimsRange[][ACL_TENSOR_SHAPE_RANGE_NUM]);
RW_API aclError aclSetTensorValueRange(aclTensorDesc* desc, size_t valueCount, int64_t valueRange[][ACL_TENSOR_VALUE_RANGE_NUM]);
/* How the tensor lies in memory, and how it was before a change of format. */
RW_API aclError aclSetTensorStorageFormat(aclTensorDesc* desc, aclFormat format);
RW_API aclError aclSetTensorStorageShape(aclTensorDesc* desc, int numDims, const int64_t* dims);
RW_API aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format);
RW_API aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims);
RW_API aclError aclSetTensorOriginFormat(aclTensorDesc* desc, aclFormat format);
RW_API aclError aclSetTensorOriginShape(aclTensorDesc* desc, int numDims, const int64_t* dims);
RW_API aclError aclSetTensorDynamicInput(aclTensorDesc* desc, const char* dynamicInputName);
/* The tensor is a constant, whose bytes stay where they are. length 0: 100000. */
RW_API aclError aclSetTensorConst(aclTensorDesc* desc, void* dataBuffer, size_t length);
RW_API aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType);
/* Would change the layout of a constant, too: refused. */
RW_API aclError aclTransTensorDescFormat(const aclTensorDesc* srcDesc, aclFormat dstFormat, aclTensorDesc** dstDesc);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_BASE_MDL_H */
