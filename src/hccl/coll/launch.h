// A collective in a stream.
#pragma once

#include <memory>

#include "acl/acl_base.h"
#include "hccl/base/reduce_kernel.h"
#include "hccl/base/result.h"
#include "hccl/coll/plan.h"
#include "hccl/membership/communicator.h"

namespace ropeway::comm {

struct CollectiveCall {
  const char* name = nullptr;  // the function's, for messages; null: nothing is to be done
  HcclDataType type = HCCL_DATA_TYPE_INT8;
  CollectiveShape shape;        // rank and hosts are filled in
  const void* input = nullptr;  // device memory, inside one block each
  uint64_t input_bytes = 0;     // 0: this rank has none
  void* output = nullptr;
  uint64_t output_bytes = 0;
  ReduceKernel kernel = nullptr;  // of those that reduce
  bool equal_blocks = false;      // every rank has as much for every rank: from its own counts, each knows those of all
};

// Queues it. Input and output may overlap in any way.
Status LaunchCollective(Communicator& communicator, CollectiveCall&& call, void* stream);

}  // namespace ropeway::comm
