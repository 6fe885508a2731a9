// Notifies between processes: they order the work of both, and only those who may import them do.
#include "tests/process/ipc_peer.h"

namespace {

using namespace process_test;

constexpr int kRounds = 50;

// --- Ping and pong ------------------------------------------------------------------------------------------------------

// Waits for ping and records pong, all queued before the first ping is there.
void Pong() {
  OneStream stream;
  aclrtNotify ping = ImportNotify(Hear()), pong = ImportNotify(Hear());
  for (int i = 0; i < kRounds; ++i) {
    RW_CHECK_EQ(aclrtWaitAndResetNotify(ping, stream, 0), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtRecordNotify(pong, stream), ACL_SUCCESS);
  }
  Say("queued");
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyNotify(ping), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyNotify(pong), ACL_SUCCESS);
}

void Ping() {
  Peer peer("pong");
  OneStream stream;
  aclrtNotify ping = NewNotify(), pong = NewNotify();
  peer.Say(ExportNotify(ping));
  peer.Say(ExportNotify(pong));
  RW_CHECK_EQ(peer.Hear(), "queued");
  for (int i = 0; i < kRounds; ++i) {
    RW_CHECK_EQ(aclrtRecordNotify(ping, stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtWaitAndResetNotify(pong, stream, 0), ACL_SUCCESS);
  }
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  peer.Join();
  RW_CHECK_EQ(aclrtDestroyNotify(ping), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyNotify(pong), ACL_SUCCESS);
}

// --- Who may import -----------------------------------------------------------------------------------------------------

// Tells what it gets for every key that it hears.
void Try() {
  OneStream stream;
  int32_t pid = 0;
  RW_CHECK_EQ(aclrtDeviceGetBareTgid(&pid), ACL_SUCCESS);
  Say(std::to_string(pid));
  for (std::string key = Hear(); key != "end"; key = Hear()) {
    aclrtNotify notify = nullptr;
    const aclError code = aclrtNotifyImportByKey(&notify, key.c_str(), 0);
    if (code == ACL_SUCCESS) {
      RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
    }
    Say(std::to_string(code));
  }
}

int Ask(const Peer& peer, const std::string& key) {
  peer.Say(key);
  return peer.HearNumber();
}

void Admission() {
  Peer peer("try");
  OneStream stream;
  int32_t pid = peer.HearNumber();
  RW_CHECK_EQ(pid, peer.pid());
  aclrtNotify listed = NewNotify(), open = NewNotify();
  const std::string key = ExportNotify(listed, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT), open_key = ExportNotify(open);
  RW_CHECK_EQ(Ask(peer, key), ACL_ERROR_RT_NO_PERMISSION);
  int32_t others[] = {1, getpid()};
  RW_CHECK_EQ(aclrtNotifySetImportPid(listed, others, 2), ACL_SUCCESS);
  RW_CHECK_EQ(Ask(peer, key), ACL_ERROR_RT_NO_PERMISSION);
  RW_CHECK_EQ(aclrtNotifySetImportPid(listed, &pid, 1), ACL_SUCCESS);
  RW_CHECK_EQ(Ask(peer, key), ACL_SUCCESS);
  RW_CHECK_EQ(Ask(peer, open_key), ACL_SUCCESS);
  for (size_t at : {size_t{0}, size_t{20}, size_t{63}}) {
    std::string forged = open_key;
    forged[at] = forged[at] == '7' ? '8' : '7';
    RW_CHECK_EQ(Ask(peer, forged), ACL_ERROR_RT_PARAM_INVALID);
  }
  RW_CHECK_EQ(Ask(peer, open_key.substr(0, 63)), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(Ask(peer, "x" + open_key.substr(1)), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(aclrtDestroyNotify(open), ACL_SUCCESS);
  RW_CHECK_EQ(Ask(peer, open_key), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(aclrtDestroyNotify(listed), ACL_SUCCESS);
  peer.Say("end");
}

// Another user is refused whatever the exporter said. Only root can find out.
void AnotherUser() {
  if (getuid() != 0) return;
  Peer stranger(&Try, 65534);
  OneStream stream;
  aclrtNotify open = NewNotify();
  int32_t pid = stranger.HearNumber();
  const std::string key = ExportNotify(open);
  RW_CHECK_EQ(aclrtNotifySetImportPid(open, &pid, 1), ACL_SUCCESS);
  RW_CHECK_EQ(Ask(stranger, key), ACL_ERROR_RT_PARAM_INVALID);
  RW_CHECK_EQ(aclrtDestroyNotify(open), ACL_SUCCESS);
  stranger.Say("end");
}

void All() {
  for (const char* schedule : {"fast", "earliest", "random:3"}) ExpectClean("ping", {{"ROPEWAY_SCHEDULE", schedule}});
  ExpectClean("admission");
  ExpectClean("another-user");
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"ping", &Ping}, {"pong", &Pong}, {"admission", &Admission}, {"try", &Try}, {"another-user", &AnotherUser}});
}
