// A process that ends as soon as it has what it waited for fails nobody: the record that it waited for was delivered, and others
// who waited with it were told before it knew.
#include <array>

#include "tests/process/ipc_peer.h"
#include "tests/process/partner.h"

namespace {

using namespace process_test;

constexpr int kRounds = RW_SANITIZED ? 1 : 8;  // a sanitizer takes long to start a process

using Handle = std::array<char, 65>;

Handle Pack(const std::string& text) {
  Handle handle{};
  text.copy(handle.data(), handle.size() - 1);
  return handle;
}

// Without any farewell: what has not been said by now is never said.
[[noreturn]] void Leave() { _exit(g_failures == 0 ? 0 : 1); }

// --- The owner waits for a record of the other --------------------------------------------------------------------------

void OwnerOfNotify(Link other) {
  OneStream stream;
  aclrtNotify notify = NewNotify();
  RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, stream, 0), ACL_SUCCESS);
  other.Send(Pack(ExportNotify(notify)));
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  Leave();
}

void RecorderOfNotify(Link owner) {
  OneStream stream;
  aclrtNotify notify = ImportNotify(owner.Get<Handle>().data());
  RW_CHECK_EQ(aclrtRecordNotify(notify, stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

void OwnerOfEvent(Link other) {
  OneStream stream;
  std::string handle;
  aclrtEvent event = NewEvent(&handle);
  other.Send(Pack(handle));
  other.Await();
  RW_CHECK_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  Leave();
}

void RecorderOfEvent(Link owner) {
  OneStream stream;
  aclrtEvent event = nullptr;
  aclrtNotify brake = NewNotify();
  RW_CHECK_EQ(OpenEvent(owner.Get<Handle>().data(), &event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtWaitAndResetNotify(brake, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  owner.Go();
  RW_CHECK_EQ(aclrtRecordNotify(brake, nullptr), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

// --- The other waits for a record of the owner --------------------------------------------------------------------------

void OwnerRecords(Link other) {
  OneStream stream;
  std::string handle;
  aclrtEvent event = NewEvent(&handle);
  aclrtNotify brake = NewNotify();
  RW_CHECK_EQ(aclrtWaitAndResetNotify(brake, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  other.Send(Pack(handle));
  other.Await();
  RW_CHECK_EQ(aclrtRecordNotify(brake, nullptr), ACL_SUCCESS);
  auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  while (status == ACL_EVENT_RECORDED_STATUS_NOT_READY) RW_CHECK_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  Leave();
}

void OtherWaits(Link owner) {
  OneStream stream;
  aclrtEvent event = nullptr;
  RW_CHECK_EQ(OpenEvent(owner.Get<Handle>().data(), &event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  owner.Go();
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

// Two processes of which the first owns what they share; this one only brings them together.
void Rounds(void (*owner)(Link), void (*other)(Link)) {
  for (int i = 0; i < kRounds && g_failures == 0; ++i) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    {
      const Partner one([&](Link) { owner(Link(ends[0])); }), two([&](Link) { other(Link(ends[1])); });
      for (int end : ends) close(end);
    }
  }
}

void Notify() { Rounds(&OwnerOfNotify, &RecorderOfNotify); }
void Event() { Rounds(&OwnerOfEvent, &RecorderOfEvent); }
void Wait() { Rounds(&OwnerRecords, &OtherWaits); }

void All() {
  for (const char* mode : {"notify", "event", "wait"}) {
    for (const char* schedule : {"fast", "latest", "random:3"}) ExpectClean(mode, {{"ROPEWAY_SCHEDULE", schedule}});
  }
}

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {{"notify", &Notify}, {"event", &Event}, {"wait", &Wait}}); }
