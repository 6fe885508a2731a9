// The paths of the demo whose addresses lie in device memory and are read when the copy runs: descriptors, and pairs of
// cells with offsets.
#include <cstring>
#include <memory>

#include "cli/copy_descriptors.h"
#include "cli/demo_paths.h"
#include "cli/gate.h"

namespace ropeway::cli {
namespace {

// One descriptor, launched.
DemoPath DescriptorPath(const Stream& stream, Area dst, Area src) {
  auto descriptors = std::make_shared<CopyDescriptors>(1);
  return HeldBackPath("descriptor D2D", stream, dst, src, [=, &stream] {
    descriptors->Set(0, dst.address, src.address, src.size);
    descriptors->Launch(0, stream);
  });
}

// The stream itself rewrites the descriptor between two launches, by copying another one over it. All of it is
// submitted at once: a descriptor that were read at submit would copy the same half twice.
DemoPath ChangedDescriptorPath(const Stream& stream, Area dst, Area src) {
  enum { kLaunched, kFirst, kSecond };
  auto descriptors = std::make_shared<CopyDescriptors>(3);
  const size_t size = CopyDescriptors::Size();
  auto become = [=, &stream](size_t which) {
    RW_ACL(aclrtMemcpyAsync(descriptors->at(kLaunched), size, descriptors->at(which), size, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.get()));
  };
  auto submit = [=, &stream] {
    for (size_t which : {kFirst, kSecond}) {
      become(which);
      descriptors->Launch(kLaunched, stream);
    }
  };
  descriptors->Set(kFirst, At(dst, 0), At(src, 0), kHalfArea);
  descriptors->Set(kSecond, At(dst, kHalfArea), At(src, kHalfArea), kHalfArea);
  return HeldBackPath("descriptor D2D, changed between two launches", stream, dst, src, submit);
}

// Two cells of device memory with the base addresses. The check fills them in behind the call: they count when the copy
// runs.
struct Cells {
  VisibleBlock block{2 * sizeof(void*)};
  void** dst() const { return static_cast<void**>(block.area().address); }
  const void** src() const { return const_cast<const void**>(dst() + 1); }
  void Fill(void* dst_base, void* src_base) const {
    void* bases[] = {dst_base, src_base};
    std::memcpy(block.area().bytes, bases, sizeof(bases));
    Push(block.area());
  }
};

DemoPath OffsetPath(const Stream& stream, Area dst, Area src) {
  auto cells = std::make_shared<Cells>();
  auto submit = [=, &stream] {  // the second half of the source to the first half of the destination, and vice versa
    RW_ACL(aclrtMemcpyAsyncWithOffset(cells->dst(), dst.size, 0, cells->src(), kHalfArea, kHalfArea, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
                                      stream.get()));
    RW_ACL(aclrtMemcpyAsyncWithOffset(cells->dst(), dst.size, kHalfArea, cells->src(), kHalfArea, 0, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE,
                                      stream.get()));
  };
  auto check = [=, &stream] {
    Freshen(dst, src);
    cells->Fill(src.address, dst.address);  // the wrong way round, in case somebody looks too early
    Gate gate;
    gate.Close(stream);
    submit();
    const bool waited = AllBytes(dst, kUntouched);
    cells->Fill(dst.address, src.address);
    gate.Open();
    stream.Synchronize();
    Pull(dst);
    return waited && std::memcmp(dst.bytes, src.bytes + kHalfArea, kHalfArea) == 0 &&
           std::memcmp(dst.bytes + kHalfArea, src.bytes, kHalfArea) == 0;
  };
  auto run = [=, &stream] {
    submit();
    stream.Synchronize();
  };
  auto raw = [=] {
    std::memcpy(dst.bytes, src.bytes + kHalfArea, kHalfArea);
    std::memcpy(dst.bytes + kHalfArea, src.bytes, kHalfArea);
  };
  return {"offset copy D2D, through cells", src.size, check, run, raw, ""};
}

}  // namespace

std::vector<DemoPath> DescriptorPaths(DemoMemory& memory) {
  const Stream& stream = memory.streams[0];
  const Area src = memory.device(0), dst = memory.device(1);
  if (CopyDescriptors::Supported()) {
    return {DescriptorPath(stream, dst, src), ChangedDescriptorPath(stream, dst, src), OffsetPath(stream, dst, src)};
  }
  return {{"descriptor D2D", 0, {}, {}, {}, kNotOnThisProduct}, OffsetPath(stream, dst, src)};
}

}  // namespace ropeway::cli
