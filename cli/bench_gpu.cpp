// `ropeway bench` on the CUDA engine: its goals, measured beside raw CUDA; see bench_gpu.h.
#include "cli/bench_gpu.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>

#include "cli/cold_pool.h"
#include "cli/machine.h"

namespace ropeway::cli {
namespace {

constexpr size_t kLinkBytes = size_t{1} << 30;

std::vector<size_t> Scattered(size_t block_bytes, uint32_t seed) {
  std::vector<size_t> offsets(GpuBench::kPoolBytes / block_bytes);
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = i * block_bytes;
  std::shuffle(offsets.begin(), offsets.end(), std::mt19937(seed));
  return offsets;
}

}  // namespace

GpuBench::GpuBench(BenchReport& the_report, CudaPeer& peer)
    : report(the_report), raw(peer), raw_host(peer.NewPinnedMemory(kPoolBytes)), raw_device(peer.NewDeviceMemory(kPoolBytes)),
      raw_stream(peer.NewStream()), raw_second_stream(peer.NewStream()) {
  FillPattern(host.data(), kPoolBytes, 1);
  std::memcpy(raw_host, host.data(), kPoolBytes);
}

void GpuBench::Ours(Way way, size_t offset, size_t size, const Stream& to) const {
  if (way == Way::kToDevice) {
    RW_ACL(aclrtMemcpyAsync(device.at(offset), size, host.at(offset), size, ACL_MEMCPY_HOST_TO_DEVICE, to.get()));
  } else {
    RW_ACL(aclrtMemcpyAsync(host.at(offset), size, device.at(offset), size, ACL_MEMCPY_DEVICE_TO_HOST, to.get()));
  }
}

void GpuBench::RawOnOurs(Way way, size_t offset, size_t size, CudaPeer::Stream to) const {
  void *in_host = host.at(offset), *on_device = device.at(offset);
  raw.Copy(way == Way::kToDevice ? on_device : in_host, way == Way::kToDevice ? in_host : on_device, size, to);
}

void GpuBench::Raw(Way way, size_t offset, size_t size, CudaPeer::Stream to) const {
  char* in_host = raw_host + offset;
  char* on_device = raw_device + offset;
  raw.Copy(way == Way::kToDevice ? on_device : in_host, way == Way::kToDevice ? in_host : on_device, size, to);
}

double GpuBench::Link(Way way) const {
  const Clock::time_point start = Clock::now();
  Raw(way, 0, kLinkBytes, raw_stream);
  raw.Synchronize(raw_stream);
  return SecondsSince(start) / kLinkBytes;
}

double GpuBench::BothWaysRaw() const {
  const Clock::time_point start = Clock::now();
  Raw(Way::kToDevice, 0, kLinkBytes, raw_stream);
  Raw(Way::kToHost, kLinkBytes, kLinkBytes, raw_second_stream);
  raw.Synchronize(raw_stream);
  raw.Synchronize(raw_second_stream);
  return SecondsSince(start) / (2 * kLinkBytes);
}

void GpuBench::RawNow(void* dst, const void* src, size_t size) const {
  raw.Copy(dst, src, size, raw_stream);
  raw.Synchronize(raw_stream);
}

void GpuBench::Verify(const std::string& workload, Way way, const std::vector<BlockPair>& pairs, size_t size,
                      const std::function<void()>& copy_all) const {
  std::vector<uint8_t> wanted(size), got(size);
  const auto source = [&](const BlockPair& pair) { return way == Way::kToDevice ? host.at(pair.host) : device.at(pair.device); };
  const auto target = [&](const BlockPair& pair) { return way == Way::kToDevice ? device.at(pair.device) : host.at(pair.host); };
  for (size_t i = 0; i < pairs.size(); ++i) {
    FillPattern(wanted.data(), size, i + 7);
    RawNow(source(pairs[i]), wanted.data(), size);
  }
  copy_all();
  for (size_t i = 0; i < pairs.size(); ++i) {
    FillPattern(wanted.data(), size, i + 7);
    RawNow(got.data(), target(pairs[i]), size);
    if (got != wanted) throw std::runtime_error(workload + ": block " + std::to_string(i) + " arrived with other bytes");
  }
}

BlockWalk::BlockWalk(size_t block_bytes) : host_(Scattered(block_bytes, 7)), device_(Scattered(block_bytes, 8)) {}

BlockPair BlockWalk::Next() {
  const BlockPair pair = {host_[next_], device_[next_]};
  if (++next_ == host_.size()) next_ = 0;
  return pair;
}

void BenchOnGpu(BenchReport& report) {
  std::string why_not;
  const std::unique_ptr<CudaPeer> raw = CudaPeer::Open(&why_not);
  if (raw == nullptr) throw std::runtime_error("raw CUDA cannot be measured: " + why_not);
  if (MemoryInfo("MemAvailable").value_or(0) < 3 * GpuBench::kPoolBytes) {
    report.Skip("all workloads", "less than 6 GiB of memory available");
    return;
  }
  GpuBench bench(report, *raw);
  BenchGpuCopies(bench);
  BenchGpuSmall(bench);
  BenchGpuBatches(bench);
  BenchGpuLate(bench);
}

}  // namespace ropeway::cli
