/*
 * hccl::Transport: the way to one peer. Two windows of its memory, addressed by offset, and the signals that go with them. C++.
 */
#ifndef RW_TRANSPORT_PUB_H
#define RW_TRANSPORT_PUB_H

#include <memory>
#include <vector>

#include "dispatcher_task_types.h"
#include "stream_pub.h"
#include "task_logic_info_pub.h"

namespace hccl {

class Transport {
   public:
    struct Buffer {
        const void* addr;
        u64 size;
    };

    virtual ~Transport() = default;

    /* A pointer that HcclMemcpyAsync accepts as dst and src. */
    virtual HcclResult GetRemoteMem(UserMemType memType, void** remotePtr) = 0;
    virtual LinkType GetLinkType() const = 0;
    /* The peer's world rank. */
    virtual u32 GetRemoteRank() = 0;
    virtual bool IsTransportRoce() = 0;
    virtual bool IsSpInlineReduce() const = 0;

    /* One side moves the data, the other waits. */
    virtual HcclResult TxAsync(UserMemType dstMemType, u64 dstOffset, const void* src, u64 len, Stream& stream) = 0;
    virtual HcclResult TxAsync(std::vector<TxMemoryInfo>& txMems, Stream& stream) = 0;
    virtual HcclResult RxAsync(UserMemType srcMemType, u64 srcOffset, void* dst, u64 len, Stream& stream) = 0;
    virtual HcclResult RxAsync(std::vector<RxMemoryInfo>& rxMems, Stream& stream) = 0;
    virtual HcclResult WriteAsync(Buffer& remoteBuf, Buffer& localBuf, Stream& stream) = 0;
    virtual HcclResult ReadAsync(Buffer& localBuf, Buffer& remoteBuf, Stream& stream) = 0;

    virtual HcclResult TxAck(Stream& stream) = 0;
    virtual HcclResult RxAck(Stream& stream) = 0;
    virtual HcclResult TxDataSignal(Stream& stream) = 0;
    virtual HcclResult RxDataSignal(Stream& stream) = 0;
    virtual HcclResult TxPrepare(Stream& stream) = 0;
    virtual HcclResult RxPrepare(Stream& stream) = 0;
    virtual HcclResult TxDone(Stream& stream) = 0;
    virtual HcclResult RxDone(Stream& stream) = 0;
    virtual HcclResult TxWaitDone(Stream& stream) = 0;
    virtual HcclResult RxWaitDone(Stream& stream) = 0;
    virtual HcclResult PostReady(Stream& stream) = 0;
    virtual HcclResult WaitReady(Stream& stream) = 0;
    virtual HcclResult PostFin(Stream& stream) = 0;
    virtual HcclResult WaitFin(Stream& stream) = 0;
    virtual HcclResult PostFinAck(Stream& stream) = 0;
    virtual HcclResult WaitFinAck(Stream& stream) = 0;
    virtual HcclResult Fence() = 0;
};

using LINK = std::shared_ptr<Transport>;

}  // namespace hccl

#endif /* RW_TRANSPORT_PUB_H */
