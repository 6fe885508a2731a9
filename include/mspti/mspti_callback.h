/* Callbacks around calls of the runtime, on the calling thread. Calls made inside of a callback are not told of. */
#ifndef RW_MSPTI_CALLBACK_H
#define RW_MSPTI_CALLBACK_H

#include <stddef.h>
#include <stdint.h>

#include "acl/detail/api_macros.h"
#include "mspti_result.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    MSPTI_CB_DOMAIN_INVALID = 0,
    MSPTI_CB_DOMAIN_RUNTIME = 1,
    MSPTI_CB_DOMAIN_HCCL = 2,
    MSPTI_CB_DOMAIN_SIZE
} msptiCallbackDomain;

typedef enum { MSPTI_API_ENTER = 0, MSPTI_API_EXIT = 1 } msptiApiCallbackSite;

typedef uint32_t msptiCallbackId;

/* The first two are told; the rest is zero. */
typedef struct {
    msptiApiCallbackSite callbackSite;
    const char* functionName;
    const void* functionParams;
    void* functionReturnValue;
    const char* symbolName;
    uint64_t correlationId;
    uint64_t reserved1;
    uint64_t reserved2;
    uint64_t* correlationData;
} msptiCallbackData;

typedef void (*msptiCallbackFunc)(void* userdata, msptiCallbackDomain domain, msptiCallbackId cbid, const msptiCallbackData* cbdata);

struct msptiSubscriber_st;
typedef struct msptiSubscriber_st* msptiSubscriberHandle;

/* One per process: a second is refused (2). callback may be NULL. */
RW_API msptiResult msptiSubscribe(msptiSubscriberHandle* subscriber, msptiCallbackFunc callback, void* userdata);
RW_API msptiResult msptiUnsubscribe(msptiSubscriberHandle subscriber);
RW_API msptiResult msptiEnableCallback(uint32_t enable, msptiSubscriberHandle subscriber, msptiCallbackDomain domain, msptiCallbackId cbid);
RW_API msptiResult msptiEnableDomain(uint32_t enable, msptiSubscriberHandle subscriber, msptiCallbackDomain domain);

#ifdef __cplusplus
}
#endif

#endif /* RW_MSPTI_CALLBACK_H */
