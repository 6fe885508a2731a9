// An idle process uses no CPU, however many streams it has: its threads sleep, and nothing wakes them.
#include <cstdlib>

#include "acl/acl.h"
#include "tests/process/idleness.h"

namespace {

using process_test::CheckIdle;

void Run() {
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  // A piece of its own for every stream: they are not ordered with each other.
  constexpr size_t kPiece = 1 << 14;
  std::vector<aclrtStream> streams(100, nullptr);
  void* block = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&block, streams.size() * kPiece, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  auto set_pieces = [&](size_t stream) {
    char* piece = static_cast<char*>(block) + stream * kPiece;
    RW_CHECK_EQ(aclrtMemsetAsync(piece, kPiece, 1, kPiece, streams[stream]), ACL_SUCCESS);
  };
  for (auto& stream : streams) RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  CheckIdle("streams without work");

  for (size_t i = 0; i < streams.size(); ++i) set_pieces(i);
  RW_CHECK_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  CheckIdle("streams after work");

  // The late schedules have work here that nobody waits for, and take it up bit by bit: not idle.
  if (std::getenv("ROPEWAY_SCHEDULE") != nullptr) return;
  aclrtEvent never = nullptr;
  RW_CHECK_EQ(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC), ACL_SUCCESS);
  for (size_t i = 0; i < streams.size(); ++i) {
    RW_CHECK_EQ(aclrtStreamWaitEvent(streams[i], never), ACL_SUCCESS);
    set_pieces(i);
  }
  CheckIdle("streams that wait for an event");
}

void All() {
  process_test::ExpectClean("idle");
  process_test::ExpectClean("idle", {{"ROPEWAY_SCHEDULE", "latest"}});
  process_test::ExpectClean("idle", {{"ROPEWAY_SCHEDULE", "random:7"}});
}

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {{"idle", &Run}}); }
