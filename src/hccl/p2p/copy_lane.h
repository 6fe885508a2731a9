// Copies that the I/O thread orders from the runtime: streams of our own, one per context, so that bytes move at the
// engine's speed and the I/O thread waits for none of them. Everything here belongs to the I/O thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "acl/acl_rt.h"

namespace ropeway::comm {

class CopyLane {
 public:
  using Done = std::function<void(const std::string& failure)>;  // empty: the bytes are there

  CopyLane() = default;
  CopyLane(const CopyLane&) = delete;
  CopyLane& operator=(const CopyLane&) = delete;
  // Destroys the streams; copies that are queued are given up.
  void Clear();
  // `peer_device`: whose memory the other side is, when it is another device of this process; else -1.
  void Copy(aclrtContext context, void* dst, const void* src, uint64_t bytes, aclrtMemcpyKind kind, int32_t peer_device, Done done);
  // `work` in a lane of the engine, in order with the copies; its text is the failure's.
  using Work = std::function<std::string()>;
  void Run(aclrtContext context, Work work, Done done);
  // After a copy that failed: a stream in trouble stays in trouble, so the next copy gets a new one.
  void Discard(aclrtContext context);

 private:
  aclError QueueMark(aclrtStream stream, Work work, Done& done);
  aclError Queue(aclrtContext context, void* dst, const void* src, uint64_t bytes, aclrtMemcpyKind kind, int32_t peer_device, Done& done);
  aclError StreamOf(aclrtContext context, aclrtStream* stream);

  std::map<aclrtContext, aclrtStream> streams_;
  std::set<std::pair<aclrtContext, int32_t>> enabled_;
};

// The runtime's last words on this thread.
std::string RuntimeText(const char* call, aclError code);

}  // namespace ropeway::comm
