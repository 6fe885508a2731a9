#include "engine/struck_task.h"

namespace ropeway {
namespace {

// Who is told of the end of a delay.
struct Nobody final : Marker {
  void Reached() override {}
  void Dropped() override {}
};

}  // namespace

Gate* DelayGate() {
  static Gate* const closed = new Gate;  // lasts as long as the engine
  return closed;
}

Task DelayTask(const char* call, int64_t delay_ns) {
  static Nobody nobody;
  Task task = AwaitTask(DelayGate(), &nobody, delay_ns, {}, call);
  task.flags = Task::kDelays;
  return task;
}

Task FailingTask(const char* call, int code) {
  Task task{};
  task.kind = TaskKind::kFail;
  task.call = call;
  task.fail = {nullptr, code};
  return task;
}

}  // namespace ropeway
