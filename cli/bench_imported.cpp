// Memory of another process: copies into it beside copies between two blocks of this process.
#include <cstring>
#include <stdexcept>

#include "cli/acl_objects.h"
#include "cli/bench_report.h"
#include "cli/measure.h"
#include "cli/memory_server.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

constexpr size_t kMiB = 1 << 20;
// Larger than caches. Shared memory gets its huge pages in the background, a few seconds after it was first touched.
constexpr size_t kBytes = 256 * kMiB;

class ImportedBlock {
 public:
  explicit ImportedBlock(const MemoryServer& server) : key_(server.key()) { RW_ACL(aclrtIpcMemImportByKey(&data_, key_.c_str(), 0)); }
  ~ImportedBlock() { aclrtIpcMemClose(key_.c_str()); }
  ImportedBlock(const ImportedBlock&) = delete;
  ImportedBlock& operator=(const ImportedBlock&) = delete;
  void* data() const { return data_; }

 private:
  std::string key_;
  void* data_ = nullptr;
};

void RequireSameBytes(const void* one, const void* other, size_t size) {
  PinnedBlock a(size), b(size);
  RW_ACL(aclrtMemcpy(a.data(), size, one, size, ACL_MEMCPY_DEVICE_TO_HOST));
  RW_ACL(aclrtMemcpy(b.data(), size, other, size, ACL_MEMCPY_DEVICE_TO_HOST));
  if (std::memcmp(a.data(), b.data(), size) != 0) throw std::runtime_error("imported memory: the bytes differ");
}

}  // namespace

void BenchImported(BenchReport& report) {
  const std::string name = "imported_256m";
  if (!report.Begin(name)) return;
  const MemoryServer server(kBytes);
  const ImportedBlock imported(server);
  const DeviceBlock source(kBytes), local(kBytes);
  Stream stream;
  RW_ACL(aclrtMemset(source.data(), kBytes, 0x5A, kBytes));
  auto copy = [&](void* target) {
    const Clock::time_point start = Clock::now();
    RW_ACL(aclrtMemcpyAsync(target, kBytes, source.data(), kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.get()));
    stream.Synchronize();
    return SecondsSince(start) / kBytes;
  };
  copy(imported.data());
  copy(local.data());
  RequireSameBytes(imported.data(), local.data(), kBytes);
  for (const Clock::time_point start = Clock::now(); SecondsSince(start) < 3;) copy(imported.data());
  const Rounds rounds = RunShuffled(
      {{"imported", [&] { return copy(imported.data()); }}, {"own memory", [&] { return copy(local.data()); }}}, report.rounds());
  report.Add({name, "256 MiB D2D into memory of another process", 1 / rounds.MedianCost(0), Unit::kBytesPerSecond, "own memory",
              1 / rounds.MedianCost(1), rounds.SpeedRatio(0, 1), Goal{Goal::kAtLeast, Unit::kRatio, 0.95, 0.98}});
}

}  // namespace ropeway::cli
