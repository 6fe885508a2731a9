// hccl::Stream. Ownership follows the original, traps included: copies never own, assignments never destroy, and the destruction
// of any copy raises the flag that all of them share.
#include <utility>

#include "acl/acl.h"
#include "hccl/base/result.h"
#include "stream_pub.h"

using namespace ropeway::comm;

namespace hccl {
namespace {

uint32_t FlagsOf(StreamType type) {
  switch (type) {
    case StreamType::STREAM_TYPE_ONLINE: return ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC;
    case StreamType::STREAM_TYPE_DEVICE: return ACL_STREAM_DEVICE_USE_ONLY;
    default: return ACL_STREAM_PERSISTENT;
  }
}

std::shared_ptr<std::atomic<bool>> NewFlag() { return std::make_shared<std::atomic<bool>>(false); }

// Makes `context` current for as long as the object lives.
class ContextSwitch {
 public:
  explicit ContextSwitch(aclrtContext context) {
    if (aclrtGetCurrentContext(&before_) != ACL_SUCCESS) before_ = nullptr;
    switched_ = before_ != context && aclrtSetCurrentContext(context) == ACL_SUCCESS;
  }
  ~ContextSwitch() {
    if (switched_ && before_ != nullptr) aclrtSetCurrentContext(before_);
  }
  ContextSwitch(const ContextSwitch&) = delete;
  ContextSwitch& operator=(const ContextSwitch&) = delete;

 private:
  aclrtContext before_ = nullptr;
  bool switched_ = false;
};

}  // namespace

Stream::Stream() : destroyed_(NewFlag()) {}

Stream::Stream(const StreamType streamType, bool isMainStream) : is_main_(isMainStream), destroyed_(NewFlag()) {
  if (aclrtGetCurrentContext(&context_) != ACL_SUCCESS) return;
  if (aclrtCreateStreamWithConfig(&stream_, 0, FlagsOf(streamType)) != ACL_SUCCESS) {
    stream_ = nullptr;
    return;
  }
  owner_ = true;
  if (aclrtStreamGetId(stream_, &id_) == ACL_SUCCESS) sq_id_ = static_cast<u32>(id_);
}

Stream::Stream(const rtStream_t rtStream, bool isMainStream) : is_main_(isMainStream), destroyed_(NewFlag()) {
  if (rtStream == nullptr || aclrtStreamGetId(rtStream, &id_) != ACL_SUCCESS) {
    id_ = 0;
    return;
  }
  stream_ = rtStream;
  sq_id_ = static_cast<u32>(id_);  // a queue of its own for every stream, and one completion queue for all
}

Stream::Stream(const HcclComStreamInfo& streamInfo, bool isMainStream)
    : id_(streamInfo.actualStreamId), sq_id_(streamInfo.sqId), logic_cq_id_(streamInfo.logicCqId), is_main_(isMainStream),
      destroyed_(NewFlag()) {}

Stream::Stream(const Stream& that) { ShareHandle(that); }

Stream::Stream(Stream&& that) noexcept { TakeOver(that); }

Stream::~Stream() {
  if (destroyed_ != nullptr) destroyed_->store(true);
  if (!owner_) return;
  ContextSwitch home(context_);
  aclrtDestroyStream(stream_);  // fails when the context has gone, and the stream with it
}

Stream& Stream::operator=(const Stream& that) {
  if (this == &that) return *this;
  ShareHandle(that);
  notes_ = that.notes_;
  next_note_ = that.next_note_;
  return *this;
}

Stream Stream::operator=(Stream&& that) {
  if (this != &that) TakeOver(that);
  Stream view(*this);
  view.destroyed_ = nullptr;  // or the flag would go up when the caller drops what is returned
  return view;
}

void Stream::ShareHandle(const Stream& that) {
  stream_ = that.stream_;
  id_ = that.id_;
  sq_id_ = that.sq_id_;
  cq_id_ = that.cq_id_;
  logic_cq_id_ = that.logic_cq_id_;
  is_main_ = that.is_main_;
  owner_ = false;
  context_ = nullptr;
  destroyed_ = that.destroyed_;
}

void Stream::TakeOver(Stream& that) noexcept {
  ShareHandle(that);
  owner_ = that.owner_;
  context_ = that.context_;
  notes_ = std::move(that.notes_);
  next_note_ = that.next_note_;
  that.Forget();
}

void Stream::Forget() {
  stream_ = nullptr;
  id_ = 0;
  sq_id_ = cq_id_ = logic_cq_id_ = 0;
  is_main_ = true;
  owner_ = false;
  context_ = nullptr;
  destroyed_ = nullptr;
  notes_.clear();
  next_note_ = 0;
}

bool Stream::IsInvalid() const { return destroyed_ != nullptr && destroyed_->load(); }

HcclResult Stream::SetMode(const uint64_t streamMode) {
  return Entry("Stream::SetMode", [&]() -> Status {
    const aclError code = aclrtSetStreamFailureMode(stream_, streamMode);
    if (code == ACL_SUCCESS) return Ok();
    return Fail(HCCL_E_INTERNAL, "the runtime refused mode %llu with %d", static_cast<unsigned long long>(streamMode), code);
  });
}

HcclResult Stream::GetMode(uint64_t* const streamMode) {
  return Entry("Stream::GetMode", [&]() -> Status {
    RW_TRY(RequirePointer("streamMode", streamMode));
    aclrtStreamAttrValue value{};
    const aclError code = aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value);
    if (code != ACL_SUCCESS) return Fail(HCCL_E_INTERNAL, "the runtime cannot say the mode: %d", code);
    *streamMode = value.failureMode;
    return Ok();
  });
}

void Stream::PushTaskLogicInfo(TaskLogicInfo& info) { notes_.push_back(info); }

HcclResult Stream::PopTaskLogicInfo(TaskLogicInfo& info) {
  if (next_note_ == notes_.size()) return HCCL_E_NOT_FOUND;
  info = notes_[next_note_++];
  if (next_note_ < notes_.size()) return HCCL_SUCCESS;
  notes_.clear();
  next_note_ = 0;
  return HCCL_SUCCESS;
}

}  // namespace hccl
