// The paths of the demo that are captured once and replayed: every replay must carry the bytes of its own time.
#include <cstring>
#include <memory>

#include "cli/block_batch.h"
#include "cli/copy_descriptors.h"
#include "cli/demo_blocks.h"
#include "cli/demo_paths.h"

namespace ropeway::cli {
namespace {

// Each stream uploads a half; the first waits for the second and downloads the whole.
struct TwoStreams {
  TwoStreams(const Stream& first, const Stream& second, Area dst, Area middle, Area src)
      : graph(first, [&] {
          RW_ACL(aclrtRecordEvent(forked.get(), first.get()));
          RW_ACL(aclrtStreamWaitEvent(second.get(), forked.get()));
          Upload(first, middle, src, 0);
          Upload(second, middle, src, kHalfArea);
          RW_ACL(aclrtRecordEvent(joined.get(), second.get()));
          RW_ACL(aclrtStreamWaitEvent(first.get(), joined.get()));
          RW_ACL(aclrtMemcpyAsync(dst.address, dst.size, middle.address, middle.size, ACL_MEMCPY_DEVICE_TO_HOST, first.get()));
        }) {}

  static void Upload(const Stream& stream, const Area& to, const Area& from, size_t offset) {
    RW_ACL(aclrtMemcpyAsync(At(to, offset), kHalfArea, At(from, offset), kHalfArea, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
  }

  Event forked{ACL_EVENT_SYNC};
  Event joined{ACL_EVENT_SYNC};
  Graph graph;
};

DemoPath TwoStreamsPath(DemoMemory& memory) {
  const Area src = memory.pinned(0), middle = memory.device(0), dst = memory.pinned(1);
  const Stream& stream = memory.streams[0];
  std::memset(dst.bytes, kUntouched, dst.size);
  auto work = std::make_shared<TwoStreams>(stream, memory.streams[1], dst, middle, src);
  const bool captured_only = AllBytes(dst, kUntouched);
  auto run = [=, &stream] {
    work->graph.Replay(stream);
    stream.Synchronize();
  };
  auto check = [=] {
    for (int replay = 0; replay < 2; ++replay) {
      Freshen(dst, src);
      std::memset(middle.bytes, 0, middle.size);
      Push(middle);
      run();
      if (!SameBytes(dst, src)) return false;
    }
    return captured_only;
  };
  auto raw = [=] {
    std::memcpy(middle.bytes, src.bytes, src.size);
    std::memcpy(dst.bytes, middle.bytes, src.size);
  };
  return {"graph of two streams, H2D and D2H, replayed", 2 * src.size, check, run, raw, ""};
}

// A batch brings scattered blocks to the device, a descriptor carries half of the device area on.
struct BatchThenDescriptor {
  BatchThenDescriptor(const Stream& stream, Area middle, Area src) : batch(Way::kToDevice, BlockPairs::kBlock) {
    for (size_t i = 0; i < BlockPairs::kCount; ++i) {
      batch.Add(At(middle, pairs.dst_offset(i)), At(src, pairs.src_offset(i)));
    }
    RW_ACL(batch.Submit(stream));  // a product without batches says so before a capture is open
    stream.Synchronize();
    graph = std::make_unique<Graph>(stream, [&] {
      RW_ACL(batch.Submit(stream));
      descriptors.Launch(0, stream);
    });
  }

  BlockPairs pairs{7};
  BlockBatch batch;
  CopyDescriptors descriptors{1};
  std::unique_ptr<Graph> graph;
};

// The check changes the descriptor between the replays: the first carries the lower half, the second the upper.
DemoPath BatchThenDescriptorPath(DemoMemory& memory) {
  const Area src = memory.pinned(0), middle = memory.device(0), dst = memory.device(1);
  const Stream& stream = memory.streams[0];
  auto work = std::make_shared<BatchThenDescriptor>(stream, middle, src);
  auto carry = [=](size_t offset) { work->descriptors.Set(0, At(dst, offset), At(middle, offset), kHalfArea); };
  auto run = [=, &stream] {
    work->graph->Replay(stream);
    stream.Synchronize();
  };
  auto check = [=] {
    for (size_t offset : {size_t{0}, kHalfArea}) {
      Freshen(middle, src);
      std::memset(dst.bytes, kUntouched, dst.size);
      Push(dst);
      carry(offset);
      run();
      Pull(dst);
      const Area other_half = {nullptr, dst.bytes + (kHalfArea - offset), kHalfArea};
      if (!work->pairs.Arrived(middle, src) || !AllBytes(other_half, kUntouched)) return false;
      if (std::memcmp(dst.bytes + offset, middle.bytes + offset, kHalfArea) != 0) return false;
    }
    return true;
  };
  auto raw = [=] {
    work->pairs.CopyRaw(middle, src);
    std::memcpy(dst.bytes + kHalfArea, middle.bytes + kHalfArea, kHalfArea);
  };
  return {"graph of a batch and a descriptor, replayed", BlockPairs::kBytes + kHalfArea, check, run, raw, ""};
}

}  // namespace

std::vector<DemoPath> GraphPaths(DemoMemory& memory) {
  std::vector<DemoPath> paths = {TwoStreamsPath(memory)};
  try {
    paths.push_back(BatchThenDescriptorPath(memory));
  } catch (const AclFailure& failure) {
    if (failure.code() != ACL_ERROR_RT_FEATURE_NOT_SUPPORT) throw;
    paths.push_back({"graph of a batch and a descriptor", 0, {}, {}, {}, kNotOnThisProduct});
  }
  return paths;
}

}  // namespace ropeway::cli
