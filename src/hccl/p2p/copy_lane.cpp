#include "hccl/p2p/copy_lane.h"

#include <memory>
#include <utility>

#include "hccl/transport/io_thread.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {
namespace {

// Behind every copy: tells that it is done, or that the stream gave it up. One of the two functions gets it, once.
struct Mark {
  CopyLane::Work work;  // may be empty
  CopyLane::Done done;
};

void Tell(void* argument, std::string failure) {
  IoThread::Get().Post([mark = std::shared_ptr<Mark>(static_cast<Mark*>(argument)), failure = std::move(failure)] { mark->done(failure); });
}

void Passed(void* argument, ropewayOperation operation) {
  const CopyLane::Work& work = static_cast<Mark*>(argument)->work;
  std::string failure = work ? work() : "";
  ropewayFinishOperation(operation, 0, "");
  Tell(argument, std::move(failure));
}

void GivenUp(void* argument, int32_t started) {
  if (started == 0) Tell(argument, "the copy was given up: it failed, or its context is gone");
}

}  // namespace

std::string RuntimeText(const char* call, aclError code) {
  const char* const text = aclGetRecentErrMsg();
  return std::string(call) + " answered " + std::to_string(code) + (text == nullptr ? "" : std::string(": ") + text);
}

void CopyLane::Clear() {
  while (!streams_.empty()) Discard(streams_.begin()->first);
}

void CopyLane::Discard(aclrtContext context) {
  const auto node = streams_.extract(context);
  if (!node) return;
  // A context that is gone took its streams along.
  if (aclrtSetCurrentContext(context) == ACL_SUCCESS) aclrtDestroyStreamForce(node.mapped());
  aclGetRecentErrMsg();
}

aclError CopyLane::StreamOf(aclrtContext context, aclrtStream* stream) {
  if (const aclError code = aclrtSetCurrentContext(context); code != ACL_SUCCESS) return code;
  if (const auto found = streams_.find(context); found != streams_.end()) {
    *stream = found->second;
    return ACL_SUCCESS;
  }
  if (const aclError code = aclrtCreateStream(stream); code != ACL_SUCCESS) return code;
  // What comes after a failed copy must not look like its success. The program's own streams keep their mode.
  ropewayStopStreamOnFailure(*stream);
  streams_[context] = *stream;
  return ACL_SUCCESS;
}

aclError CopyLane::Queue(aclrtContext context, void* dst, const void* src, uint64_t bytes, aclrtMemcpyKind kind, int32_t peer_device,
                         Done& done) {
  aclrtStream stream = nullptr;
  if (const aclError code = StreamOf(context, &stream); code != ACL_SUCCESS) return code;
  if (peer_device >= 0 && enabled_.insert({context, peer_device}).second) aclrtDeviceEnablePeerAccess(peer_device, 0);
  if (const aclError code = aclrtMemcpyAsync(dst, bytes, src, bytes, kind, stream); code != ACL_SUCCESS) return code;
  return QueueMark(stream, nullptr, done);
}

aclError CopyLane::QueueMark(aclrtStream stream, Work work, Done& done) {
  auto mark = std::make_unique<Mark>(Mark{std::move(work), done});
  const aclError code = ropewayLaunchOperation(&Passed, &GivenUp, mark.get(), stream);
  if (code == ACL_SUCCESS) mark.release();
  return code;
}

void CopyLane::Run(aclrtContext context, Work work, Done done) {
  aclrtStream stream = nullptr;
  aclError code = StreamOf(context, &stream);
  if (code == ACL_SUCCESS) code = QueueMark(stream, std::move(work), done);
  if (code != ACL_SUCCESS) done(RuntimeText("ropewayLaunchOperation", code));
}

void CopyLane::Copy(aclrtContext context, void* dst, const void* src, uint64_t bytes, aclrtMemcpyKind kind, int32_t peer_device,
                    Done done) {
  const aclError code = Queue(context, dst, src, bytes, kind, peer_device, done);
  if (code == ACL_SUCCESS) return;
  done(RuntimeText("aclrtMemcpyAsync", code));
}

}  // namespace ropeway::comm
