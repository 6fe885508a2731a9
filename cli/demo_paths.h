// The paths that `ropeway demo` walks: what each one does, how it is checked, and the raw loop that it is measured
// beside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/acl_objects.h"

namespace ropeway::cli {

struct DemoPath {
  std::string name;
  size_t size_bytes;            // moved by one run; 0: nothing to measure
  std::function<bool()> check;  // runs the path once on fresh bytes and looks at every one of them
  std::function<void()> run;    // runs it again, for the clock; empty: not measured
  std::function<void()> raw;    // the same bytes by a plain loop
  std::string skipped;          // why the path cannot be walked here; empty: it can
};

// A piece of memory under the address that the API knows and the one that host code may use; they differ for device
// memory.
struct Area {
  void* address;
  uint8_t* bytes;
  size_t size;
  bool mirrored = false;  // `bytes` is a copy, because host code cannot reach the memory itself
};

inline void* At(const Area& area, size_t offset) { return static_cast<char*>(area.address) + offset; }

// Brings a mirror's bytes to the device, or the device's to the mirror. For areas that need none, nothing to do.
void Push(const Area& area);
void Pull(const Area& area);

// Device memory with an area: by the host view where the engine has one, by a mirror where it has not.
class VisibleBlock {
 public:
  explicit VisibleBlock(size_t size);
  Area area() const { return area_; }

 private:
  DeviceBlock block_;
  std::vector<uint8_t> mirror_;
  Area area_;
};

// Everything the paths copy between, touched and ready.
struct DemoMemory {
  static constexpr size_t kSize = 32 << 20;

  DemoMemory();

  PinnedBlock pinned_blocks[2]{PinnedBlock(kSize), PinnedBlock(kSize)};
  VisibleBlock device_blocks[2]{VisibleBlock(kSize), VisibleBlock(kSize)};
  std::vector<uint8_t> pageable_blocks[2]{std::vector<uint8_t>(kSize), std::vector<uint8_t>(kSize)};
  Stream streams[2];

  Area pinned(int i) { return {pinned_blocks[i].data(), pinned_blocks[i].data(), kSize}; }
  Area device(int i) { return device_blocks[i].area(); }
  Area pageable(int i) { return {pageable_blocks[i].data(), pageable_blocks[i].data(), kSize}; }
};
constexpr size_t kHalfArea = DemoMemory::kSize / 2;

constexpr const char* kNotOnThisProduct = "not on this product (207000)";
constexpr uint8_t kUntouched = 0xA5;  // what destinations hold before a check

// The source gets bytes it never had before, the destination gets kUntouched.
void Freshen(const Area& dst, const Area& src);
bool SameBytes(const Area& dst, const Area& src);
bool AllBytes(const Area& area, uint8_t value);

// A path that copies src to dst in the order of a stream. The check holds the stream back and insists that `submit`
// returns with nothing moved, so a copy inside the call does not pass.
DemoPath HeldBackPath(const char* name, const Stream& stream, Area dst, Area src, std::function<void()> submit);

std::vector<DemoPath> CopyPaths(DemoMemory& memory);        // sync, async, pageable, kind 5, 2-D, registered
std::vector<DemoPath> BatchPaths(DemoMemory& memory);       // scattered blocks, pinned and pageable
std::vector<DemoPath> DescriptorPaths(DemoMemory& memory);  // descriptors, offset copies
std::vector<DemoPath> ComputePaths(DemoMemory& memory);     // memset, memsetD32, reduce
std::vector<DemoPath> CrossingPaths(DemoMemory& memory);    // other devices, events, values, host functions
std::vector<DemoPath> GraphPaths(DemoMemory& memory);       // captured and replayed
// A refused call; what the library said about it goes to `message`.
DemoPath ErrorPath(DemoMemory& memory, std::string* message);

}  // namespace ropeway::cli
