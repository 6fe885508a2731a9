// 10,000 times export, import, use and destroy, against another process: descriptors, mappings and memory stay as they are in
// both.
#include "tests/process/footprint.h"
#include "tests/process/idleness.h"
#include "tests/process/ipc_peer.h"

namespace {

using namespace process_test;

constexpr int kCycles = RW_SANITIZED ? 500 : 10000;
constexpr int kWarmUp = RW_SANITIZED ? 100 : 1000;
constexpr int kUseEvery = 16;  // every cycle imports; some also send work across

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

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {{"exporter", &Exporter}, {"importer", &Importer}}); }
