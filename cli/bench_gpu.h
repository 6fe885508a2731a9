// What the workloads of the CUDA engine share: memory of ours and of raw CUDA beside it, and the walks over both. Every
// workload runs the same copies through the public API and through the driver, in turns.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/block_batch.h"
#include "cli/cuda_peer.h"
#include "cli/measure.h"

namespace ropeway::cli {

constexpr Way kBothWays[] = {Way::kToDevice, Way::kToHost};
inline const char* WayName(Way way) { return way == Way::kToDevice ? "h2d" : "d2h"; }
inline const char* WayText(Way way) { return way == Way::kToDevice ? "H2D" : "D2H"; }

// Offsets into a host and a device pool.
struct BlockPair {
  size_t host, device;
};

// Two host and two device pools of one size: ours through the API, and the raw ones from the driver.
class GpuBench {
 public:
  static constexpr size_t kPoolBytes = size_t{2} << 30;

  GpuBench(BenchReport& report, CudaPeer& raw);

  BenchReport& report;
  CudaPeer& raw;
  PinnedBlock host{kPoolBytes};
  DeviceBlock device{kPoolBytes};
  char* const raw_host;
  char* const raw_device;
  Stream stream, second_stream;
  const CudaPeer::Stream raw_stream, raw_second_stream;

  // One copy between the same offset of both pools, submitted.
  void Ours(Way way, size_t offset, size_t size, const Stream& to) const;
  void Raw(Way way, size_t offset, size_t size, CudaPeer::Stream to) const;
  // The same raw between our pools.
  void RawOnOurs(Way way, size_t offset, size_t size, CudaPeer::Stream to) const;
  // Seconds per byte of the link: one raw copy of 1 GiB.
  double Link(Way way) const;
  // And of both directions at once, 1 GiB each.
  double BothWaysRaw() const;

  // Copies raw, and waits for it.
  void RawNow(void* dst, const void* src, size_t size) const;
  // Throws unless `copy_all` brings the blocks of our pools to the other side. Raw copies prepare and look at the
  // bytes.
  void Verify(const std::string& workload, Way way, const std::vector<BlockPair>& pairs, size_t size,
              const std::function<void()>& copy_all) const;
};

// Which block of the host pool goes with which of the device pool: both scattered, and others at every call until the
// pools are through.
class BlockWalk {
 public:
  explicit BlockWalk(size_t block_bytes);
  BlockPair Next();

 private:
  std::vector<size_t> host_, device_;
  size_t next_ = 0;
};

// The name of a size, and of a block that goes a way: "h2d_4k".
inline std::string WayAndSize(Way way, size_t size) { return std::string(WayName(way)) + "_" + SizeName(size); }

// The workloads; each looks at the filter itself.
void BenchGpuCopies(GpuBench& bench);   // pinned_*, submit_4k, both_ways, pageable_*
void BenchGpuSmall(GpuBench& bench);    // round_trip_*, on_device_*, hand_over_*, descriptor_first_256m
void BenchGpuBatches(GpuBench& bench);  // batch_*, few_*, both_ways_*
void BenchGpuLate(GpuBench& bench);     // descriptor_256m, graph_64x*

}  // namespace ropeway::cli
