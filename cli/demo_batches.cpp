// The batch paths of the demo: a thousand scattered blocks by one call.
#include <memory>

#include "cli/block_batch.h"
#include "cli/demo_blocks.h"
#include "cli/demo_paths.h"
#include "cli/gate.h"

namespace ropeway::cli {
namespace {

// The pairs, and the arrays that name them to the batch calls.
struct Swap {
  Swap(Way way, const Area& dst, const Area& src, uint32_t seed) : pairs(seed), batch(way, BlockPairs::kBlock) {
    for (size_t i = 0; i < BlockPairs::kCount; ++i) Add(i, dst, src);
  }
  // Every second block from the one host area, the others from the other.
  Swap(const Area& dst, const Area& even, const Area& odd, uint32_t seed) : pairs(seed), batch(Way::kToDevice, BlockPairs::kBlock) {
    for (size_t i = 0; i < BlockPairs::kCount; ++i) Add(i, dst, i % 2 == 0 ? even : odd);
  }

  BlockPairs pairs;
  BlockBatch batch;

 private:
  void Add(size_t i, const Area& dst, const Area& src) {
    batch.Add(static_cast<char*>(dst.address) + pairs.dst_offset(i), static_cast<char*>(src.address) + pairs.src_offset(i));
  }
};

DemoPath SyncBatchPath(Area dst, Area src) {
  auto swap = std::make_shared<Swap>(Way::kToDevice, dst, src, 1);
  auto run = [=] { RW_ACL(swap->batch.CopyNow()); };
  auto check = [=] {
    Freshen(dst, src);
    run();
    return swap->pairs.Arrived(dst, src);
  };
  return {"sync batch H2D, scattered", BlockPairs::kBytes, check, run, [=] { swap->pairs.CopyRaw(dst, src); }, ""};
}

// The check holds the stream back: with pinned memory the call must return before anything moves.
DemoPath AsyncBatchPath(const char* name, const Stream& stream, Way way, Area dst, Area src) {
  auto swap = std::make_shared<Swap>(way, dst, src, 3);
  auto check = [=, &stream] {
    Freshen(dst, src);
    Gate gate;
    gate.Close(stream);
    RW_ACL(swap->batch.Submit(stream));
    const bool waited = AllBytes(dst, kUntouched);
    gate.Open();
    stream.Synchronize();
    return waited && swap->pairs.Arrived(dst, src);
  };
  auto run = [=, &stream] {
    RW_ACL(swap->batch.Submit(stream));
    stream.Synchronize();
  };
  return {name, BlockPairs::kBytes, check, run, [=] { swap->pairs.CopyRaw(dst, src); }, ""};
}

// Every second item is pageable: those are done when the call returns, the others when the stream is.
DemoPath MixedBatchPath(const Stream& stream, Area dst, Area pinned, Area pageable) {
  auto swap = std::make_shared<Swap>(dst, pinned, pageable, 5);
  auto arrived = [=](size_t remainder) {
    Pull(dst);
    for (size_t i = remainder; i < BlockPairs::kCount; i += 2) {
      if (!swap->pairs.SameBlock(i, dst, remainder == 0 ? pinned : pageable)) return false;
    }
    return true;
  };
  auto check = [=, &stream] {
    Freshen(dst, pinned);
    Freshen(dst, pageable);
    RW_ACL(swap->batch.Submit(stream));
    const bool pageable_arrived = arrived(1);
    stream.Synchronize();
    return pageable_arrived && arrived(0) && swap->pairs.RestIsUntouched(dst);
  };
  auto run = [=, &stream] {
    RW_ACL(swap->batch.Submit(stream));
    stream.Synchronize();
  };
  auto raw = [=] {
    for (size_t i = 0; i < BlockPairs::kCount; ++i) {
      const uint8_t* from = (i % 2 == 0 ? pinned : pageable).bytes + swap->pairs.src_offset(i);
      std::memcpy(dst.bytes + swap->pairs.dst_offset(i), from, BlockPairs::kBlock);
    }
  };
  return {"async batch H2D, half of it pageable", BlockPairs::kBytes, check, run, raw, ""};
}

}  // namespace

std::vector<DemoPath> BatchPaths(DemoMemory& memory) {
  const Stream& stream = memory.streams[0];
  const Area device = memory.device(0), host = memory.pinned(0), host2 = memory.pinned(1);
  return {
      SyncBatchPath(device, host),
      AsyncBatchPath("async batch H2D, scattered", stream, Way::kToDevice, device, host),
      AsyncBatchPath("async batch D2H, scattered", stream, Way::kToHost, host2, device),
      MixedBatchPath(stream, device, host, memory.pageable(0)),
  };
}

}  // namespace ropeway::cli
