// Copies that the I/O thread orders from the runtime: streams of our own, one per context, so that bytes move at the
// engine's speed and the I/O thread waits for none of them. Everything here belongs to the I/O thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

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
  // `work` for all of [0, size), in order with the copies and in lanes of the engine: in several at once where there is much, each with a
  // part of whole units. Its text is the failure's.
  using Work = std::function<std::string(uint64_t begin, uint64_t end)>;
  void Run(aclrtContext context, uint64_t size, uint64_t unit, Work work, Done done);
  // After a copy that failed: a stream in trouble stays in trouble, so the next copy gets a new one.
  void Discard(aclrtContext context);

 private:
  // The stream of a context, and those beside it, which begin when it says so and which it waits for.
  struct Helper {
    aclrtStream stream = nullptr;
    aclrtEvent over = nullptr;
  };
  struct Team {
    aclrtStream stream = nullptr;
    aclrtEvent begun = nullptr;
    std::vector<Helper> helpers;
  };
  aclError QueueMark(aclrtStream stream, std::function<std::string()> work, Done& done);
  aclError QueueParts(aclrtContext context, uint64_t size, uint64_t unit, size_t parts, Work work, Done& done);
  aclError Queue(aclrtContext context, void* dst, const void* src, uint64_t bytes, aclrtMemcpyKind kind, int32_t peer_device, Done& done);
  aclError TeamOf(aclrtContext context, size_t helpers, Team** team);

  std::map<aclrtContext, Team> teams_;
  std::set<std::pair<aclrtContext, int32_t>> enabled_;
};

// The runtime's last words on this thread.
std::string RuntimeText(const char* call, aclError code);

}  // namespace ropeway::comm
