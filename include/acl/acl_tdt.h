/* Channels that bring data to a model of the device. There is no such model here: channels are refused. */
#ifndef RW_ACL_TDT_H
#define RW_ACL_TDT_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_tdt_queue.h"
#include "detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct acltdtDataItem acltdtDataItem;
typedef struct acltdtDataset acltdtDataset;
typedef struct acltdtChannelHandle acltdtChannelHandle;

typedef enum acltdtTensorType {
    ACL_TENSOR_DATA_UNDEFINED = -1,
    ACL_TENSOR_DATA_TENSOR = 0,
    ACL_TENSOR_DATA_END_OF_SEQUENCE = 1,
    ACL_TENSOR_DATA_ABNORMAL = 2,
    ACL_TENSOR_DATA_SLICE_TENSOR = 3,
    ACL_TENSOR_DATA_END_TENSOR = 4
} acltdtTensorType;

RW_API acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem* dataItem);
RW_API aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem* dataItem);
RW_API void* acltdtGetDataAddrFromItem(const acltdtDataItem* dataItem);
RW_API size_t acltdtGetDataSizeFromItem(const acltdtDataItem* dataItem);
RW_API size_t acltdtGetDimNumFromItem(const acltdtDataItem* dataItem);
RW_API aclError acltdtGetSliceInfoFromItem(const acltdtDataItem* dataItem, size_t* sliceNum, size_t* sliceId);
RW_API aclError acltdtGetDimsFromItem(const acltdtDataItem* dataItem, int64_t* dims, size_t dimNum);
RW_API acltdtDataItem* acltdtCreateDataItem(acltdtTensorType tdtType, const int64_t* dims, size_t dimNum, aclDataType dataType, void* data,
                                            size_t size);
RW_API aclError acltdtDestroyDataItem(acltdtDataItem* dataItem);
RW_API acltdtDataset* acltdtCreateDataset(void);
RW_API aclError acltdtDestroyDataset(acltdtDataset* dataset);
RW_API acltdtDataItem* acltdtGetDataItem(const acltdtDataset* dataset, size_t index);
RW_API aclError acltdtAddDataItem(acltdtDataset* dataset, acltdtDataItem* dataItem);
RW_API size_t acltdtGetDatasetSize(const acltdtDataset* dataset);
RW_API const char* acltdtGetDatasetName(const acltdtDataset* dataset);
RW_API aclError acltdtStopChannel(acltdtChannelHandle* handle);
RW_API acltdtChannelHandle* acltdtCreateChannel(uint32_t deviceId, const char* name);
RW_API acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t deviceId, const char* name, size_t capacity);
RW_API aclError acltdtDestroyChannel(acltdtChannelHandle* handle);
RW_API aclError acltdtCleanChannel(acltdtChannelHandle* handle);
RW_API aclError acltdtSendTensor(const acltdtChannelHandle* handle, const acltdtDataset* dataset, int32_t timeout);
RW_API aclError acltdtReceiveTensor(const acltdtChannelHandle* handle, acltdtDataset* dataset, int32_t timeout);
RW_API aclError acltdtQueryChannelSize(const acltdtChannelHandle* handle, size_t* size);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_TDT_H */
