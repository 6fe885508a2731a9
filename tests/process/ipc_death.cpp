// kill -9 of one process while another waits for it: the other gets 507022, never hangs, and goes on working. Nothing of what
// they shared is left behind.
#include <fstream>
#include <iterator>

#include "tests/process/ipc_peer.h"

namespace {

using namespace process_test;

constexpr aclError kDied = ACL_ERROR_RT_IPC_ERROR;

// The stream ends its wait with 507022, and works afterwards.
void CheckBroken(aclrtStream stream) {
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), kDied);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
}

// --- Victims ------------------------------------------------------------------------------------------------------------

// Imports a notify and, when told to, records it once. Then it waits to be killed.
void Importer() {
  OneStream stream;
  aclrtNotify notify = ImportNotify(Hear());
  Say("imported");
  while (Hear() == "record") {
    RW_CHECK_EQ(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
    Say("recorded");
  }
}

// Opens an event and records it behind a wait that never ends.
void Recorder() {
  OneStream stream;
  aclrtEvent event = nullptr;
  aclrtNotify never = NewNotify();
  RW_CHECK_EQ(OpenEvent(Hear(), &event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtWaitAndResetNotify(never, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  Say("recorded");
  Hear();
}

// Exports a notify and an event, which it has recorded behind a wait that never ends. Before that it forks: the child lives on,
// and must not look like its parent.
void Exporter() {
  OneStream stream;
  std::string handle;
  aclrtNotify never = NewNotify(), notify = NewNotify();
  aclrtEvent event = NewEvent(&handle);
  Say(ExportNotify(notify));
  Say(handle);
  RW_CHECK_EQ(Hear(), "opened");
  RW_CHECK_EQ(aclrtWaitAndResetNotify(never, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  const pid_t left_behind = fork();
  if (left_behind == 0) {
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    pause();
    _exit(0);
  }
  Say(std::to_string(left_behind));
  Hear();
}

// Leaves main in the middle of everything: waits are queued, handles are open.
void Leaver() {
  OneStream stream;
  aclrtNotify notify = ImportNotify(Hear());
  aclrtEvent event = nullptr;
  RW_CHECK_EQ(OpenEvent(Hear(), &event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  Say("queued");
  Hear();
}

// --- Survivors ----------------------------------------------------------------------------------------------------------

void ImporterDies() {
  Peer victim("importer");
  OneStream stream;
  aclrtStream waiting = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&waiting), ACL_SUCCESS);
  aclrtNotify notify = NewNotify();
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, waiting, 0), ACL_SUCCESS);  // queued before it was exported
  victim.Say(ExportNotify(notify));
  RW_CHECK_EQ(victim.Hear(), "imported");
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  victim.Kill();
  CheckBroken(stream);
  CheckBroken(waiting);
  // From now on a wait is served by a record that is there, or not at all.
  RW_CHECK_EQ(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  CheckBroken(stream);
  RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

// What the dead process recorded in time still counts, once.
void RecordOutlivesItsProcess() {
  Peer victim("importer");
  OneStream stream;
  aclrtNotify notify = NewNotify();
  victim.Say(ExportNotify(notify));
  RW_CHECK_EQ(victim.Hear(), "imported");
  victim.Say("record");
  RW_CHECK_EQ(victim.Hear(), "recorded");
  victim.Kill();
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  CheckBroken(stream);
  RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

void RecorderDies() {
  Peer victim("recorder");
  OneStream stream;
  std::string handle;
  aclrtEvent event = NewEvent(&handle);
  victim.Say(handle);
  RW_CHECK_EQ(victim.Hear(), "recorded");
  RW_CHECK_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeEventWithTimeout(event, 5), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  victim.Kill();
  RW_CHECK_EQ(aclrtSynchronizeEvent(event), kDied);
  CheckBroken(stream);
  aclrtEventRecordedStatus status;
  RW_CHECK_EQ(aclrtQueryEventStatus(event, &status), kDied);
  RW_CHECK_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  CheckBroken(stream);
  // A new record makes the event whole again.
  RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

// A process that ends without destroying its handles leaves in no order, and is as good as dead.
void PeerLeaves() {
  Peer leaver("leaver");
  OneStream stream;
  std::string handle;
  aclrtNotify notify = NewNotify(), brake = NewNotify();
  aclrtEvent event = NewEvent(&handle);
  RW_CHECK_EQ(aclrtWaitAndResetNotify(brake, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  leaver.Say(ExportNotify(notify));
  leaver.Say(handle);
  RW_CHECK_EQ(leaver.Hear(), "queued");
  leaver.Say("leave");
  RW_CHECK_EQ(aclrtRecordNotify(brake, nullptr), ACL_SUCCESS);  // meets its exit half-way
  leaver.Join();
  CheckBroken(stream);
  RW_CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  for (aclrtNotify one : {notify, brake}) RW_CHECK_EQ(aclrtDestroyNotify(one), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

void CheckLeftovers(const std::string& key) {
  std::ifstream file("/proc/net/unix");
  const std::string sockets{std::istreambuf_iterator<char>(file), {}};
  RW_CHECK(sockets.find("ropeway-" + key.substr(0, 16)) == std::string::npos);
}

void ExporterDies() {
  Peer victim("exporter");
  OneStream stream;
  aclrtStream for_event = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&for_event), ACL_SUCCESS);
  const std::string key = victim.Hear(), handle = victim.Hear();
  aclrtNotify notify = ImportNotify(key);
  aclrtEvent event = nullptr;
  RW_CHECK_EQ(OpenEvent(handle, &event), ACL_SUCCESS);
  victim.Say("opened");
  const pid_t left_behind = victim.HearNumber();
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEvent(for_event, event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(for_event, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  victim.Kill();
  CheckBroken(stream);
  CheckBroken(for_event);
  CheckLeftovers(key);
  kill(left_behind, SIGKILL);
  // Later calls say so at once, or when the stream comes to them.
  for (int round = 0; round < 2; ++round) {
    RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
    CheckBroken(stream);
    RW_CHECK_EQ(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
    CheckBroken(stream);
    RW_CHECK_EQ(aclrtRecordEvent(event, stream), kDied);
    RW_CHECK_EQ(aclrtStreamWaitEvent(stream, event), kDied);
    RW_CHECK_EQ(aclrtSynchronizeEvent(event), kDied);
  }
  aclrtNotify again = nullptr;
  RW_CHECK_EQ(aclrtNotifyImportByKey(&again, key.c_str(), 0), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

void All() {
  for (const char* mode : {"importer-dies", "record-outlives", "recorder-dies", "exporter-dies", "peer-leaves"}) {
    for (const char* schedule : {"fast", "earliest", "random:3"}) ExpectClean(mode, {{"ROPEWAY_SCHEDULE", schedule}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"importer", &Importer},
                             {"recorder", &Recorder},
                             {"exporter", &Exporter},
                             {"leaver", &Leaver},
                             {"peer-leaves", &PeerLeaves},
                             {"importer-dies", &ImporterDies},
                             {"record-outlives", &RecordOutlivesItsProcess},
                             {"recorder-dies", &RecorderDies},
                             {"exporter-dies", &ExporterDies}});
}
