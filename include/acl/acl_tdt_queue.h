/* Queues between processes of a device, which are refused; message buffers are declared in acl_rt.h. */
#ifndef RW_ACL_TDT_QUEUE_H
#define RW_ACL_TDT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

#include "acl_base.h"
#include "acl_rt.h"
#include "detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_TDT_QUEUE_PERMISSION_MANAGE 1
#define ACL_TDT_QUEUE_PERMISSION_DEQUEUE 2
#define ACL_TDT_QUEUE_PERMISSION_ENQUEUE 4

#define ACL_TDT_QUEUE_ROUTE_UNBIND 0
#define ACL_TDT_QUEUE_ROUTE_BIND 1
#define ACL_TDT_QUEUE_ROUTE_BIND_ABNORMAL 2

typedef struct tagMemQueueAttr acltdtQueueAttr;
typedef struct acltdtQueueRoute acltdtQueueRoute;
typedef struct acltdtQueueRouteList acltdtQueueRouteList;
typedef struct acltdtQueueRouteQueryInfo acltdtQueueRouteQueryInfo;
typedef void* acltdtBuf;

typedef enum acltdtQueueAttrType { ACL_TDT_QUEUE_NAME_PTR = 0, ACL_TDT_QUEUE_DEPTH_UINT32 = 1 } acltdtQueueAttrType;

typedef enum acltdtQueueRouteParamType {
    ACL_TDT_QUEUE_ROUTE_SRC_UINT32 = 0,
    ACL_TDT_QUEUE_ROUTE_DST_UINT32 = 1,
    ACL_TDT_QUEUE_ROUTE_STATUS_INT32 = 2
} acltdtQueueRouteParamType;

typedef enum acltdtQueueRouteQueryMode {
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC = 0,
    ACL_TDT_QUEUE_ROUTE_QUERY_DST = 1,
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST = 2,
    ACL_TDT_QUEUE_ROUTE_QUERY_ABNORMAL = 100
} acltdtQueueRouteQueryMode;

typedef enum acltdtQueueRouteQueryInfoParamType {
    ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM = 0,
    ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32 = 1,
    ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32 = 2
} acltdtQueueRouteQueryInfoParamType;

typedef enum acltdtAllocBufType { ACL_TDT_NORMAL_MEM = 0, ACL_TDT_DVPP_MEM = 1 } acltdtAllocBufType;

RW_API aclError acltdtCreateQueue(const acltdtQueueAttr* attr, uint32_t* qid);
RW_API aclError acltdtDestroyQueue(uint32_t qid);
RW_API aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout);
RW_API aclError acltdtDequeue(uint32_t qid, acltdtBuf* buf, int32_t timeout);
RW_API aclError acltdtEnqueueData(uint32_t qid, const void* data, size_t dataSize, const void* userData, size_t userDataSize,
                                  int32_t timeout, uint32_t rsv);
RW_API aclError acltdtDequeueData(uint32_t qid, void* data, size_t dataSize, size_t* retDataSize, void* userData, size_t userDataSize,
                                  int32_t timeout);
RW_API aclError acltdtGrantQueue(uint32_t qid, int32_t pid, uint32_t permission, int32_t timeout);
RW_API aclError acltdtAttachQueue(uint32_t qid, int32_t timeout, uint32_t* permission);
RW_API aclError acltdtBindQueueRoutes(acltdtQueueRouteList* qRouteList);
RW_API aclError acltdtUnbindQueueRoutes(acltdtQueueRouteList* qRouteList);
RW_API aclError acltdtQueryQueueRoutes(const acltdtQueueRouteQueryInfo* queryInfo, acltdtQueueRouteList* qRouteList);
RW_API aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf* buf);
RW_API aclError acltdtFreeBuf(acltdtBuf buf);
RW_API aclError acltdtGetBufData(const acltdtBuf buf, void** dataPtr, size_t* size);
RW_API aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len);
RW_API aclError acltdtGetBufDataLen(acltdtBuf buf, size_t* len);
RW_API aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf);
RW_API aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t* num);
RW_API aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf* buf);
RW_API aclError acltdtGetBufUserData(const acltdtBuf buf, void* dataPtr, size_t size, size_t offset);
RW_API aclError acltdtSetBufUserData(acltdtBuf buf, const void* dataPtr, size_t size, size_t offset);
RW_API aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf* newBuf);
RW_API acltdtQueueAttr* acltdtCreateQueueAttr(void);
RW_API aclError acltdtDestroyQueueAttr(const acltdtQueueAttr* attr);
RW_API aclError acltdtSetQueueAttr(acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len, const void* param);
RW_API aclError acltdtGetQueueAttr(const acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len, size_t* paramRetSize, void* param);
RW_API acltdtQueueRoute* acltdtCreateQueueRoute(uint32_t srcId, uint32_t dstId);
RW_API aclError acltdtDestroyQueueRoute(const acltdtQueueRoute* route);
RW_API aclError acltdtGetQueueRouteParam(const acltdtQueueRoute* route, acltdtQueueRouteParamType type, size_t len, size_t* paramRetSize,
                                         void* param);
RW_API acltdtQueueRouteList* acltdtCreateQueueRouteList(void);
RW_API aclError acltdtDestroyQueueRouteList(const acltdtQueueRouteList* routeList);
RW_API aclError acltdtAddQueueRoute(acltdtQueueRouteList* routeList, const acltdtQueueRoute* route);
RW_API aclError acltdtGetQueueRoute(const acltdtQueueRouteList* routeList, size_t index, acltdtQueueRoute* route);
RW_API size_t acltdtGetQueueRouteNum(const acltdtQueueRouteList* routeList);
RW_API acltdtQueueRouteQueryInfo* acltdtCreateQueueRouteQueryInfo(void);
RW_API aclError acltdtDestroyQueueRouteQueryInfo(const acltdtQueueRouteQueryInfo* info);
RW_API aclError acltdtSetQueueRouteQueryInfo(acltdtQueueRouteQueryInfo* param, acltdtQueueRouteQueryInfoParamType type, size_t len,
                                             const void* value);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_TDT_QUEUE_H */
