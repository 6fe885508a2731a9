/*
 * hccl::Stream: a stream of the runtime, with or without the duty to destroy it. C++.
 */
#ifndef RW_STREAM_PUB_H
#define RW_STREAM_PUB_H

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "hccl_common.h"
#include "task_logic_info_pub.h"

/* A stream as the device side describes it. */
struct HcclComStreamInfo {
    s32 actualStreamId;
    u32 sqId;
    u32 sqDepth;
    void* sqBaseAddr;
    u32 logicCqId;
};

namespace hccl {

enum class StreamType { STREAM_TYPE_OFFLINE = 0, STREAM_TYPE_ONLINE = 1, STREAM_TYPE_DEVICE = 2, STREAM_TYPE_RESERVED = 3 };

/*
 * Copies never own; a move takes the duty along. Assignments do not destroy what the left side owned. There is no member that
 * waits: use aclrtSynchronizeStream on ptr(), or hcclStreamSynchronize.
 */
class RW_API Stream {
   public:
    /* Empty: ptr() is NULL, id() 0, and it is a main stream. */
    explicit Stream();
    /* Makes a stream of the current context and owns it. On failure the object is empty: look at ptr(). */
    explicit Stream(const StreamType streamType, bool isMainStream = false);
    /* Wraps a stream, without owning it. NULL, or what is no stream: an empty object. */
    explicit Stream(const rtStream_t rtStream, bool isMainStream = true);
    /* Numbers of a device-side stream: there is no handle, so ptr() is NULL. */
    explicit Stream(const HcclComStreamInfo& streamInfo, bool isMainStream = false);

    /* The notes of a virtual dispatcher stay with the source; an assignment copies them. */
    Stream(const Stream& that);
    Stream(Stream&& that) noexcept;
    virtual ~Stream();

    Stream& operator=(const Stream& that);
    Stream operator=(Stream&& that);

    void* ptr() const { return stream_; }
    s32 id() const { return id_; }
    u32 sqId() const { return sq_id_; }
    u32 cqId() const { return cq_id_; }
    u32 logicCqId() const { return logic_cq_id_; }
    bool IsMainStream() { return is_main_; }
    operator bool() const { return stream_ != nullptr; }
    /* Whether any copy of this object was destroyed. */
    bool IsInvalid() const;

    /* What the stream does after a failure: 0 goes on, 1 stops. HCCL_E_INTERNAL when the runtime refuses. */
    HcclResult SetMode(const uint64_t streamMode);
    HcclResult GetMode(uint64_t* const streamMode);

    void PushTaskLogicInfo(TaskLogicInfo& info);
    /* The oldest note; HCCL_E_NOT_FOUND when there is none. */
    HcclResult PopTaskLogicInfo(TaskLogicInfo& info);

    void* stream_ = nullptr;

   private:
    void ShareHandle(const Stream& that);
    void TakeOver(Stream& that) noexcept;
    void Forget();

    s32 id_ = 0;
    u32 sq_id_ = 0;
    u32 cq_id_ = 0;
    u32 logic_cq_id_ = 0;
    bool is_main_ = true;
    bool owner_ = false;
    void* context_ = nullptr;                      /* where an owned stream was made */
    std::shared_ptr<std::atomic<bool>> destroyed_; /* shared by all copies */
    std::vector<TaskLogicInfo> notes_;             /* a list or a string would differ between the two ABIs of libstdc++ */
    size_t next_note_ = 0;
};

}  // namespace hccl

#endif /* RW_STREAM_PUB_H */
