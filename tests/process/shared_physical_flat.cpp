// 10,000 times allocate, export, import, map, use and free, against another process: descriptors, mappings and memory stay as
// they are in both.
#include "tests/process/footprint.h"
#include "tests/process/ipc_peer.h"
#include "tests/process/shared_physical.h"

namespace {

using namespace process_test;

constexpr int kCycles = RW_SANITIZED ? 300 : 10000;
constexpr int kWarmUp = RW_SANITIZED ? 50 : 500;

void Import(int cycles, const Window& window) {
  for (int i = 0; i < cycles; ++i) {
    aclrtDrvMemHandle handle = nullptr;
    RW_CHECK_EQ(ImportNumber(Hear(), &handle), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMapMem(window.base, kUnit, 0, handle, 0), ACL_SUCCESS);
    RW_CHECK_EQ(window.Read(), std::to_string(i));
    RW_CHECK_EQ(aclrtUnmapMem(window.base), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
    Say("done");
  }
}

void Export(const Peer& peer, int cycles, const Window& window) {
  for (int i = 0; i < cycles; ++i) {
    Memory memory(0);
    RW_CHECK_EQ(aclrtMapMem(window.base, kUnit, 0, memory.handle, 0), ACL_SUCCESS);
    window.Write(std::to_string(i));
    peer.Say(memory.Export(ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    RW_CHECK_EQ(peer.Hear(), "done");
    RW_CHECK_EQ(aclrtUnmapMem(window.base), ACL_SUCCESS);
  }
}

void Importer() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Window window;
  Import(kWarmUp, window);
  const Footprint before = MeasureAtRest();
  Import(kCycles, window);
  CheckFlat(before, MeasureAtRest());
}

void Exporter() {
  Peer peer("importer");
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  Window window;
  Export(peer, kWarmUp, window);
  const Footprint before = MeasureAtRest();
  Export(peer, kCycles, window);
  CheckFlat(before, MeasureAtRest());
}

void All() { ExpectClean("exporter"); }

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {{"exporter", &Exporter}, {"importer", &Importer}}); }
