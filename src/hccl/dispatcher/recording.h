// A recorded subgraph: what was asked of a dispatcher between InitTask and LaunchTask, and how it is queued.
#pragma once

#include <functional>
#include <vector>

#include "hccl/base/result.h"
#include "hccl_common.h"

namespace ropeway::comm {

struct RecordedNode {
  HcclRtStream stream;                        // whose order the node keeps; NULL: that of the launching stream
  std::function<Status(HcclRtStream)> queue;  // queues the node's work on the stream that it is given
};

// Queues all nodes behind the work of `stream`, and holds what is queued on `stream` later back until they are done. Nodes of
// different streams run side by side, in the streams that they were recorded for: a signal that one waits for may come from
// another, or from another rank. When a node is refused, those before it stay queued.
Status LaunchRecording(const std::vector<RecordedNode>& nodes, HcclRtStream stream);

}  // namespace ropeway::comm
