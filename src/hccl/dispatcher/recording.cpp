#include "hccl/dispatcher/recording.h"

#include <algorithm>

#include "acl/acl.h"

namespace ropeway::comm {
namespace {

// An event for one record and the waits that follow it. Waits that are queued still work when it is gone.
class PassingEvent {
 public:
  Status Create() { return FromRuntime("aclrtCreateEventExWithFlag", aclrtCreateEventExWithFlag(&event_, ACL_EVENT_SYNC)); }
  ~PassingEvent() {
    if (event_ != nullptr) aclrtDestroyEvent(event_);
  }
  PassingEvent() = default;
  PassingEvent(const PassingEvent&) = delete;
  PassingEvent& operator=(const PassingEvent&) = delete;

  Status RecordOn(HcclRtStream stream) { return FromRuntime("aclrtRecordEvent", aclrtRecordEvent(event_, stream)); }
  Status HoldBack(HcclRtStream stream) { return FromRuntime("aclrtStreamWaitEvent", aclrtStreamWaitEvent(stream, event_)); }

 private:
  aclrtEvent event_ = nullptr;
};

// The streams beside the launching one, each once, in the order of their first nodes.
std::vector<HcclRtStream> OtherStreams(const std::vector<RecordedNode>& nodes, HcclRtStream stream) {
  std::vector<HcclRtStream> others;
  for (const RecordedNode& node : nodes) {
    if (node.stream == nullptr || node.stream == stream) continue;
    if (std::find(others.begin(), others.end(), node.stream) == others.end()) others.push_back(node.stream);
  }
  return others;
}

Status Fork(HcclRtStream stream, const std::vector<HcclRtStream>& others) {
  if (others.empty()) return Ok();
  PassingEvent start;
  RW_TRY(start.Create());
  RW_TRY(start.RecordOn(stream));
  for (HcclRtStream other : others) RW_TRY(start.HoldBack(other));
  return Ok();
}

Status Join(HcclRtStream stream, const std::vector<HcclRtStream>& others) {
  for (HcclRtStream other : others) {
    PassingEvent done;
    RW_TRY(done.Create());
    RW_TRY(done.RecordOn(other));
    RW_TRY(done.HoldBack(stream));
  }
  return Ok();
}

Status QueueNodes(const std::vector<RecordedNode>& nodes, HcclRtStream stream) {
  for (const RecordedNode& node : nodes) RW_TRY(node.queue(node.stream != nullptr ? node.stream : stream));
  return Ok();
}

}  // namespace

Status LaunchRecording(const std::vector<RecordedNode>& nodes, HcclRtStream stream) {
  const std::vector<HcclRtStream> others = OtherStreams(nodes, stream);
  RW_TRY(Fork(stream, others));
  Status queued = QueueNodes(nodes, stream);
  if (queued.ok()) return Join(stream, others);
  // What is queued stays queued, and later work of the stream must not overtake it. The node's failure is the one to tell.
  static_cast<void>(Join(stream, others));
  return queued;
}

}  // namespace ropeway::comm
