// Functions of the program in streams, and several threads.
#include <pthread.h>

#include <atomic>
#include <functional>
#include <thread>

#include "tests/check/corpus/program.h"

namespace corpus {
namespace {

void Call(void* function) { (*static_cast<std::function<void()>*>(function))(); }
void Launch(std::function<void()>* function, aclrtStream stream) { MUST(aclrtLaunchHostFunc(stream, &Call, function)); }

// Holds a stream by a function. The layer takes a function for something that runs, so what is behind it is judged at once.
class Gate {
 public:
  void Hold(aclrtStream stream) { Launch(&wait_, stream); }
  void Open() {
    open_ = true;
    open_.notify_all();
  }

 private:
  std::atomic<bool> open_{false};
  std::function<void()> wait_ = [this] { open_.wait(false); };
};

// A thread that serves the callbacks of one stream.
class Server {
 public:
  explicit Server(aclrtStream stream) : thread_([this] { Serve(); }), stream_(stream) {
    MUST(aclrtSubscribeReport(thread_.native_handle(), stream));
  }
  ~Server() {
    MUST(aclrtUnSubscribeReport(thread_.native_handle(), stream_));
    over_ = true;
    thread_.join();
  }

 private:
  void Serve() {
    while (!over_) (void)aclrtProcessReport(10);
  }

  std::atomic<bool> over_{false};
  std::thread thread_;
  aclrtStream stream_;
};

void OnAThread(const std::function<void()>& work) {
  std::thread([&] {
    MUST(aclrtSetDevice(0));
    work();
  }).join();
}

}  // namespace

// A function that says that the load is over, in front of the load or behind it.
PROGRAM(function_in_front_of_the_copy, "RW-LIFE-001") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const in = Pinned();
  std::atomic<bool> over{false};
  std::function<void()> tell = [&] {
    over = true;
    over.notify_all();
  };
  if (!right) Launch(&tell, load);
  Load(block, in, load);
  if (right) Launch(&tell, load);
  over.wait(false);
  MUST(aclrtFreeHost(in));
  Finish(load);
}

// The function frees what is used behind it.
PROGRAM(function_frees_what_is_used_behind_it, "RW-LIFE-001") {
  const aclrtStream load = Stream();
  char *const block = Device(2 * kSize), *const in = Pinned();
  uint64_t* const gate = Word();
  Hold(load, gate);
  Load(block, in, load);
  std::function<void()> release = [&] { MUST(aclrtFreeHost(in)); };
  if (!right) Launch(&release, load);
  Load(block + kSize, in, load);
  if (right) Launch(&release, load);
  Open(gate);
  Finish(load);
}

PROGRAM(copy_beside_a_function_that_fetches, "RW-HOST-003") {
  const aclrtStream load = Stream(), other = Stream();
  char *const block = Device(), *const in = Pinned();
  static char result[kSize];
  uint64_t* const gate = Word();
  std::function<void()> fetch = [&] {
    MUST(aclrtSetDevice(0));
    MUST(aclrtMemcpy(result, kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST));
  };
  if (!right) Hold(load, gate);
  Load(block, in, load);
  Launch(&fetch, right ? load : other);
  Finish(right ? load : other);
  if (!right) Open(gate);
  Finish({load, other});
}

PROGRAM(functions_of_two_streams_order_nothing, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  Gate gate;
  std::function<void()> nothing = [] {};
  gate.Hold(load);
  Load(block, in, load);
  Launch(&nothing, load);
  Launch(&nothing, work);
  if (right) Order(load, work);
  Move(result, block, work);
  gate.Open();
  Finish({load, work});
}

PROGRAM(callback_in_front_of_the_copy, "RW-LIFE-001") {
  const aclrtStream load = Stream();
  char *const block = Device(), *const in = Pinned();
  std::atomic<bool> over{false};
  std::function<void()> tell = [&] {
    over = true;
    over.notify_all();
  };
  {
    const Server server(load);
    if (!right) MUST(aclrtLaunchCallback(&Call, &tell, ACL_CALLBACK_BLOCK, load));
    Load(block, in, load);
    if (right) MUST(aclrtLaunchCallback(&Call, &tell, ACL_CALLBACK_BLOCK, load));
    over.wait(false);
    MUST(aclrtFreeHost(in));
    Finish(load);
  }
}

PROGRAM(callback_frees_what_is_used_behind_it, "RW-LIFE-001") {
  const aclrtStream load = Stream();
  char *const block = Device(2 * kSize), *const in = Pinned();
  uint64_t* const gate = Word();
  std::function<void()> release = [&] { MUST(aclrtFreeHost(in)); };
  {
    const Server server(load);
    Hold(load, gate);
    Load(block, in, load);
    if (!right) MUST(aclrtLaunchCallback(&Call, &release, ACL_CALLBACK_BLOCK, load));
    Load(block + kSize, in, load);
    if (right) MUST(aclrtLaunchCallback(&Call, &release, ACL_CALLBACK_BLOCK, load));
    Open(gate);
    Finish(load);
  }
}

// Beside the load, or in front of it.
PROGRAM(function_of_a_graph_refills_beside_the_load, "RW-HOST-003") {
  const aclrtStream stem = Stream(), branch = Stream();
  char *const input = Device(), *const staging = Pinned();
  Gate gate;
  std::function<void()> refill = [&] {
    MUST(aclrtSetDevice(0));
    MUST(aclrtMemset(staging, kSize, 1, kSize));
  };
  MUST(aclmdlRICaptureBegin(stem, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  if (right) Launch(&refill, stem);
  Order(stem, branch);
  if (!right) Launch(&refill, stem);
  Load(input, staging, branch);
  Order(branch, stem);
  aclmdlRI graph = nullptr;
  MUST(aclmdlRICaptureEnd(stem, &graph));
  gate.Hold(stem);
  MUST(aclmdlRIExecuteAsync(graph, stem));
  gate.Open();
  Finish(stem);
}

// What is queued behind a function may use what the function writes.
PROGRAM(function_fills_what_is_loaded_behind_it, "RW-HOST-003") {
  const aclrtStream load = Stream(), other = Stream();
  char *const input = Device(), *const staging = Pinned();
  Gate gate;
  std::function<void()> refill = [&] {
    MUST(aclrtSetDevice(0));
    MUST(aclrtMemset(staging, kSize, 1, kSize));
  };
  gate.Hold(other);
  Launch(&refill, other);
  if (right) Order(other, load);
  Load(input, staging, load);
  gate.Open();
  Finish({other, load});
}

// Only a callback of the blocking kind holds its stream.
PROGRAM(callback_that_does_not_hold_its_stream, "RW-HOST-003") {
  const aclrtStream load = Stream();
  char *const input = Device(), *const staging = Pinned();
  uint64_t* const gate = Word();
  std::atomic<bool> refilled{false};
  std::function<void()> refill = [&] {
    MUST(aclrtSetDevice(0));
    MUST(aclrtMemset(staging, kSize, 1, kSize));
    refilled = true;
    refilled.notify_all();
  };
  const Server server(load);
  Hold(load, gate);
  MUST(aclrtLaunchCallback(&Call, &refill, right ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK, load));
  Load(input, staging, load);
  Open(gate);
  refilled.wait(false);
  Finish(load);
}

// Every replay has its own run of the function.
PROGRAM(function_of_a_graph_refills_for_the_next_replay, "RW-HOST-003") {
  const aclrtStream stem = Stream();
  char *const input = Device(), *const staging = Pinned();
  Gate gate;
  std::function<void()> refill = [&] {
    MUST(aclrtSetDevice(0));
    MUST(aclrtMemset(staging, kSize, 1, kSize));
  };
  MUST(aclmdlRICaptureBegin(stem, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  Load(input, staging, stem);
  if (right) Launch(&refill, stem);
  aclmdlRI graph = nullptr;
  MUST(aclmdlRICaptureEnd(stem, &graph));
  gate.Hold(stem);
  for (int round = 0; round < 3; ++round) MUST(aclmdlRIExecuteAsync(graph, stem));
  if (!right) refill();
  gate.Open();
  Finish(stem);
}

PROGRAM(threads_with_one_block, "RW-RACE-003") {
  char *const block = Device(2 * kSize), *const in = Pinned();
  aclrtStream streams[2] = {};
  for (int number : {0, 1})
    OnAThread([&] {
      streams[number] = Stream();
      Load(right ? block + number * kSize : block, in, streams[number]);
    });
  Finish({streams[0], streams[1]});
}

PROGRAM(thread_that_only_submitted, "RW-LIFE-001") {
  char *const block = Device(), *const in = Pinned();
  aclrtStream load = nullptr;
  OnAThread([&] {
    load = Stream();
    Load(block, in, load);
    if (right) Finish(load);
  });
  MUST(aclrtFreeHost(in));
  Finish(load);
}

PROGRAM(event_handed_to_another_thread, "RW-RACE-001") {
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtStream load = Stream(), work = Stream();
  const aclrtEvent loaded = Event();
  OnAThread([&] {
    if (!right) Record(loaded, load);
    Load(block, in, load);
    if (right) Record(loaded, load);
  });
  OnAThread([&] {
    Wait(work, loaded);
    Move(result, block, work);
  });
  Finish({load, work});
}

// Every thread has the same default stream, as long as it has the same context.
PROGRAM(default_streams_of_two_contexts, "RW-RACE-001") {
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  aclrtContext before = nullptr, context = nullptr;
  MUST(aclrtGetCurrentContext(&before));
  Load(block, in, nullptr);
  aclrtStream first = nullptr, second = nullptr;
  MUST(aclrtCtxGetCurrentDefaultStream(&first));
  if (!right) MUST(aclrtCreateContext(&context, 0));
  Move(result, block, nullptr);
  MUST(aclrtCtxGetCurrentDefaultStream(&second));
  Finish({first, second});
  MUST(aclrtSetCurrentContext(before));
}

}  // namespace corpus
