/*
 * C++ overloads of runtime functions, in the global namespace. Each forwards to the C function of another name that
 * takes the extra argument. Empty for C.
 */
#ifndef RW_ACL_RT_API_H
#define RW_ACL_RT_API_H

#include "acl_rt.h"

#ifdef __cplusplus

/* timeouts of synchronise calls in milliseconds, of the stream-side wait in seconds */
inline aclError aclrtSynchronizeDevice(int32_t timeout) { return aclrtSynchronizeDeviceWithTimeout(timeout); }

inline aclError aclrtSynchronizeStream(aclrtStream stream, int32_t timeout) { return aclrtSynchronizeStreamWithTimeout(stream, timeout); }

inline aclError aclrtSynchronizeEvent(aclrtEvent event, int32_t timeout) { return aclrtSynchronizeEventWithTimeout(event, timeout); }

inline aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event, int32_t timeout) {
    return aclrtStreamWaitEventWithTimeout(stream, event, timeout);
}

inline aclError aclrtCreateStream(aclrtStream* stream, uint32_t priority, uint32_t flag) {
    return aclrtCreateStreamWithConfig(stream, priority, flag);
}

/* Note the Ex: the event differs from one made by aclrtCreateEventWithFlag. */
inline aclError aclrtCreateEvent(aclrtEvent* event, uint32_t flag) { return aclrtCreateEventExWithFlag(event, flag); }

inline aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches, aclrtMemcpyBatchAttr* attrs,
                                 size_t* attrsIndexes, size_t numAttrs) {
    return aclrtMemcpyBatchV2(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs);
}

inline aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                                      aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs, aclrtStream stream) {
    return aclrtMemcpyBatchAsyncV2(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, stream);
}

#endif /* __cplusplus */

#endif /* RW_ACL_RT_API_H */
