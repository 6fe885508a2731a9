// Streams that wait for another process cost nothing: no thread of the library wakes up in either process. Somebody who calls and
// says nothing is hung up on, and then costs nothing either.
#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>

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

// Knows the name of the service and keeps silent.
void Silent() {
  OneStream stream;
  aclrtNotify notify = NewNotify();
  const std::string name = "ropeway-" + ExportNotify(notify).substr(0, 16);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path + 1, name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  const int silent = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  RW_CHECK_EQ(connect(silent, reinterpret_cast<sockaddr*>(&address), size), 0);
  char byte;
  RW_CHECK_EQ(recv(silent, &byte, 1, 0), ssize_t{0});  // until the service hangs up
  CheckIdle("after a silent caller");
  close(silent);
  RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

void All() {
  ExpectClean("exporter");
  ExpectClean("silent");
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All, {{"exporter", &Exporter}, {"importer", &Importer}, {"silent", &Silent}});
}
