// Events between processes: either side records, either side waits, and the latest record of anybody counts.
#include "tests/process/ipc_peer.h"

namespace {

using namespace process_test;

int StatusOf(aclrtEvent event) {
  auto status = static_cast<aclrtEventRecordedStatus>(-1);
  RW_CHECK_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
  return status;
}

// Does what it is told to do with the event, on its stream, and answers when the call has returned.
void Opener() {
  OneStream stream;
  aclrtEvent event = nullptr;
  aclrtNotify brake = NewNotify();
  RW_CHECK_EQ(OpenEvent(Hear(), &event), ACL_SUCCESS);
  for (std::string order = Hear(); order != "end"; order = Hear()) {
    int answer = ACL_SUCCESS;
    if (order == "brake") answer = aclrtWaitAndResetNotify(brake, stream, 0);
    if (order == "go") answer = aclrtRecordNotify(brake, nullptr);
    if (order == "record") answer = aclrtRecordEvent(event, stream);
    if (order == "wait") answer = aclrtStreamWaitEvent(stream, event);
    if (order == "status") answer = StatusOf(event);
    if (order == "peek") answer = aclrtSynchronizeStreamWithTimeout(stream, 5);
    if (order == "synchronize stream") answer = aclrtSynchronizeStream(stream);
    if (order == "synchronize event") answer = aclrtSynchronizeEvent(event);
    Say(std::to_string(answer));
  }
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyNotify(brake), ACL_SUCCESS);
}

int Order(const Peer& peer, const char* what) {
  peer.Say(what);
  return peer.HearNumber();
}

void Share() {
  Peer peer("opener");
  OneStream stream;
  std::string handle;
  aclrtEvent event = NewEvent(&handle);
  aclrtNotify brake = NewNotify();
  peer.Say(handle);

  // Nothing is recorded: nothing waits.
  RW_CHECK_EQ(Order(peer, "status"), int{ACL_EVENT_RECORDED_STATUS_COMPLETE});
  RW_CHECK_EQ(Order(peer, "wait"), ACL_SUCCESS);
  RW_CHECK_EQ(Order(peer, "synchronize stream"), ACL_SUCCESS);

  // The creator records, the other waits.
  RW_CHECK_EQ(aclrtWaitAndResetNotify(brake, stream, 0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  RW_CHECK_EQ(Order(peer, "status"), int{ACL_EVENT_RECORDED_STATUS_NOT_READY});
  RW_CHECK_EQ(Order(peer, "wait"), ACL_SUCCESS);
  RW_CHECK_EQ(Order(peer, "peek"), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  RW_CHECK_EQ(aclrtRecordNotify(brake, nullptr), ACL_SUCCESS);
  RW_CHECK_EQ(Order(peer, "synchronize event"), ACL_SUCCESS);
  RW_CHECK_EQ(Order(peer, "synchronize stream"), ACL_SUCCESS);
  RW_CHECK_EQ(Order(peer, "status"), int{ACL_EVENT_RECORDED_STATUS_COMPLETE});

  // The other records, the creator waits.
  RW_CHECK_EQ(Order(peer, "brake"), ACL_SUCCESS);
  RW_CHECK_EQ(Order(peer, "record"), ACL_SUCCESS);
  RW_CHECK_EQ(StatusOf(event), int{ACL_EVENT_RECORDED_STATUS_NOT_READY});
  RW_CHECK_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(stream, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  RW_CHECK_EQ(Order(peer, "go"), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(StatusOf(event), int{ACL_EVENT_RECORDED_STATUS_COMPLETE});

  // The creator's handle goes first; the event stays for the other.
  RW_CHECK_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  RW_CHECK_EQ(Order(peer, "record"), ACL_SUCCESS);
  RW_CHECK_EQ(Order(peer, "synchronize event"), ACL_SUCCESS);
  peer.Say("end");
  peer.Join();
  RW_CHECK_EQ(aclrtDestroyNotify(brake), ACL_SUCCESS);
}

void All() {
  for (const char* schedule : {"fast", "earliest", "latest", "random:3"}) ExpectClean("share", {{"ROPEWAY_SCHEDULE", schedule}});
}

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {{"share", &Share}, {"opener", &Opener}}); }
