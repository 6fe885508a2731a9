// The thin names over the runtime (adapter_rts_common.h), and the directions that copies of this library have.
#include "hccl/dispatcher/runtime_names.h"

#include "acl/acl.h"

using namespace ropeway::comm;

namespace ropeway::comm {

Result<int> RuntimeKind(HcclRtMemcpyKind kind) {
  switch (kind) {
    case HCCL_RT_MEMCPY_KIND_HOST_TO_HOST: return int{ACL_MEMCPY_HOST_TO_HOST};
    case HCCL_RT_MEMCPY_KIND_HOST_TO_DEVICE: return int{ACL_MEMCPY_HOST_TO_DEVICE};
    case HCCL_RT_MEMCPY_KIND_DEVICE_TO_HOST: return int{ACL_MEMCPY_DEVICE_TO_HOST};
    case HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE: return int{ACL_MEMCPY_DEVICE_TO_DEVICE};
    default:
      return Fail(HCCL_E_PARA, "kind %d has no direction; use HCCL_RT_MEMCPY_KIND_HOST_TO_HOST (0) to DEVICE_TO_DEVICE (3)", int{kind});
  }
}

namespace {

// Operator code calls the synchronous copy while other streams are captured: the thread is relaxed for its time.
class RelaxedCapture {
 public:
  RelaxedCapture() { exchanged_ = aclmdlRICaptureThreadExchangeMode(&mode_) == ACL_SUCCESS; }
  ~RelaxedCapture() {
    if (exchanged_) aclmdlRICaptureThreadExchangeMode(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  aclmdlRICaptureMode mode_ = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  bool exchanged_ = false;
};

}  // namespace
ropewayTransfer Labelled(u32 rank, hccl::LinkType link, uint64_t bytes) {
  const bool local = rank == INVALID_VALUE_RANKID && link == hccl::LinkType::LINK_ONCHIP;
  const auto number = ROPEWAY_LINK_NAMED + static_cast<uint32_t>(link);
  const bool known = !local && number <= ROPEWAY_LINK_NAMED_LAST;
  return {known ? static_cast<ropewayLink>(number) : ROPEWAY_LINK_NONE, rank, bytes, 1};
}

}  // namespace ropeway::comm

HcclResult hrtMemSyncCopy(void* dst, uint64_t destMax, const void* src, uint64_t count, HcclRtMemcpyKind kind) {
  return Entry("hrtMemSyncCopy", [&]() -> Status {
    RW_TRY(RequirePointer("dst", dst));
    RW_TRY(RequirePointer("src", src));
    if (count == 0) return Ok();
    RW_TRY_SET(const int runtime_kind, RuntimeKind(kind));
    RelaxedCapture relaxed;
    return FromRuntime("aclrtMemcpy", aclrtMemcpy(dst, destMax, src, count, static_cast<aclrtMemcpyKind>(runtime_kind)));
  });
}

HcclResult hrtMemAsyncCopy(void* dst, uint64_t destMax, const void* src, uint64_t count, HcclRtMemcpyKind kind, rtStream_t stream) {
  return Entry("hrtMemAsyncCopy", [&]() -> Status {
    RW_TRY(RequirePointer("dst", dst));
    RW_TRY(RequirePointer("src", src));
    if (count == 0) return Ok();
    RW_TRY_SET(const int runtime_kind, RuntimeKind(kind));
    return FromRuntime("aclrtMemcpyAsync", aclrtMemcpyAsync(dst, destMax, src, count, static_cast<aclrtMemcpyKind>(runtime_kind), stream));
  });
}

HcclResult hcclStreamSynchronize(HcclRtStream stream, s32 timeout) {
  return Entry("hcclStreamSynchronize", [&]() -> Status {
    RW_TRY(RequirePointer("stream", stream));
    constexpr s32 kMaxSeconds = 2147483;  // what the runtime's milliseconds can hold
    if (timeout <= 0) return Fail(HCCL_E_PARA, "timeout %d is not a number of seconds above 0", timeout);
    const aclError code =
        timeout > kMaxSeconds ? aclrtSynchronizeStream(stream) : aclrtSynchronizeStreamWithTimeout(stream, timeout * 1000);
    if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
      return Fail(HCCL_E_TIMEOUT, "the stream's work is not done after %d seconds and goes on", timeout);
    return FromRuntime("aclrtSynchronizeStream", code);
  });
}
