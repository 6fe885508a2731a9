// 10,000 times export, import, use and destroy, against another process: descriptors, mappings and memory stay as they are in
// both.
#include <filesystem>
#include <fstream>

#include "tests/process/idleness.h"
#include "tests/process/ipc_peer.h"

namespace {

using namespace process_test;

constexpr int kCycles = RW_SANITIZED ? 500 : 10000;
constexpr int kWarmUp = RW_SANITIZED ? 100 : 1000;
constexpr int kUseEvery = 16;  // every cycle imports; some also send work across

struct Footprint {
  size_t descriptors = 0, mappings = 0;
  long resident_kib = 0;
};

Footprint Measure() {
  Footprint now;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++now.descriptors;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) ++now.mappings;
  std::ifstream statm("/proc/self/statm");
  long size = 0, resident = 0;
  statm >> size >> resident;
  now.resident_kib = resident * sysconf(_SC_PAGESIZE) / 1024;
  return now;
}

// What a leak of one small thing per cycle would exceed by far. A sanitizer keeps freed memory.
void CheckFlat(const Footprint& before, const Footprint& after) {
  RW_CHECK_EQ(after.descriptors, before.descriptors);
  RW_CHECK(after.mappings <= before.mappings + 8);
  if (!RW_SANITIZED && after.resident_kib > before.resident_kib + 512)
    Fail(__FILE__, __LINE__, std::to_string(after.resident_kib - before.resident_kib) + " KiB more after the cycles");
}

void Import(int cycles, aclrtStream stream) {
  for (int i = 0; i < cycles; ++i) {
    const bool use = i % kUseEvery == 0;
    aclrtNotify notify = ImportNotify(Hear());
    aclrtEvent event = nullptr;
    RW_CHECK_EQ(OpenEvent(Hear(), &event), ACL_SUCCESS);
    if (use) {
      RW_CHECK_EQ(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
    }
    RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    Say("done");
  }
}

void Importer() {
  OneStream stream;
  Import(kWarmUp, stream);
  const Footprint before = Measure();
  Import(kCycles, stream);
  CheckFlat(before, Measure());
}

void Export(const Peer& peer, int cycles, aclrtStream stream) {
  for (int i = 0; i < cycles; ++i) {
    const bool use = i % kUseEvery == 0;
    std::string handle;
    aclrtNotify notify = NewNotify();
    aclrtEvent event = NewEvent(&handle);
    peer.Say(ExportNotify(notify));
    peer.Say(handle);
    if (use) {
      RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
      RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    }
    RW_CHECK_EQ(peer.Hear(), "done");
    RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  }
}

// Goodbyes are handled by the library's thread, a moment after they were said.
Footprint MeasureAtRest() {
  process_test::CheckIdle("after the last cycle");
  return Measure();
}

void Exporter() {
  Peer peer("importer");
  OneStream stream;
  Export(peer, kWarmUp, stream);
  const Footprint before = MeasureAtRest();
  Export(peer, kCycles, stream);
  CheckFlat(before, MeasureAtRest());
}

void All() { ExpectClean("exporter"); }

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All, {{"exporter", &Exporter}, {"importer", &Importer}});
}
