// Streams that wait for another process cost nothing: no thread of the library wakes up in either process.
#include "tests/process/idleness.h"
#include "tests/process/ipc_peer.h"

namespace {

using namespace process_test;

void Importer() {
  OneStream stream;
  aclrtStream other = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  aclrtNotify notify = ImportNotify(Hear());
  aclrtEvent event = nullptr;
  RW_CHECK_EQ(OpenEvent(Hear(), &event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  CheckIdle("while its streams wait for the other process");
  Say("idle");
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

void Exporter() {
  Peer peer("importer");
  OneStream stream;
  std::string handle;
  aclrtNotify notify = NewNotify(), brake = NewNotify();
  aclrtEvent event = NewEvent(&handle);
  RW_CHECK_EQ(aclrtWaitAndResetNotify(brake, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  peer.Say(ExportNotify(notify));
  peer.Say(handle);
  RW_CHECK_EQ(peer.Hear(), "idle");
  CheckIdle("while another process waits for it");
  RW_CHECK_EQ(aclrtRecordNotify(brake, nullptr), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordNotify(notify, nullptr), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  peer.Join();
  for (aclrtNotify one : {notify, brake}) RW_CHECK_EQ(aclrtDestroyNotify(one), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

void All() { ExpectClean("exporter"); }

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {{"exporter", &Exporter}, {"importer", &Importer}}); }
