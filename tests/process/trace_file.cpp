// ROPEWAY_TRACE=file: what a process did is in the file, however the process ends.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "acl/acl.h"
#include "cli/trace_data.h"
#include "tests/process/process_test.h"

namespace {

using ropeway::cli::kNone;
using ropeway::cli::TraceData;
using ropeway::cli::TraceTask;

constexpr size_t kSize = 4096;
constexpr size_t kRounds = 100, kTasksARound = 5;

struct Scene {
  Scene() {
    RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMallocHost(&host, kSize), ACL_SUCCESS);
  }
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent event = nullptr;
  void *device = nullptr, *host = nullptr;
};

Scene Work() {
  const Scene scene;
  auto nothing = [](void*) {};
  for (size_t i = 0; i < kRounds; ++i) {
    RW_CHECK_EQ(aclrtMemcpyAsync(scene.device, kSize, scene.host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, scene.stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMemsetAsync(scene.device, kSize, 1, kSize, scene.stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtRecordEvent(scene.event, scene.stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtLaunchHostFunc(scene.stream, nothing, nullptr), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMemcpyAsync(scene.host, kSize, scene.device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, scene.stream), ACL_SUCCESS);
  }
  return scene;
}

Scene DoneWork() {
  const Scene scene = Work();
  RW_CHECK_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  return scene;
}

void Tidy() {
  const Scene scene = DoneWork();
  RW_CHECK_EQ(aclrtDestroyStream(scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtFree(scene.device), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
}

void WithWorkQueued() { Work(); }

// The child has the pages of its parent's trace, and leaves them alone.
void WithChild() {
  DoneWork();
  RW_CHECK(process_test::InChild([] { aclrtSetDevice(0); }));
}

void Aborts() {
  DoneWork();
  signal(SIGABRT, SIG_DFL);
  abort();
}
void Faults() {
  DoneWork();
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}
void Terminates() {
  DoneWork();
  raise(SIGTERM);
}
void LeavesAtOnce() {
  DoneWork();
  _exit(0);
}
void IsKilled() {
  DoneWork();
  raise(SIGKILL);
}
// Something else than work in streams: what a thread does by itself, waits, edges, batches.
void OtherWork() {
  const Scene scene;
  char page[kSize] = {};
  RW_CHECK_EQ(aclrtMemcpy(scene.device, kSize, page, kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsync(page, kSize, scene.device, kSize, ACL_MEMCPY_DEVICE_TO_HOST, scene.stream), ACL_SUCCESS);
  aclrtEvent held = nullptr;
  RW_CHECK_EQ(aclrtCreateEventExWithFlag(&held, ACL_EVENT_SYNC), ACL_SUCCESS);
  static std::atomic<bool> go{false};
  RW_CHECK_EQ(aclrtLaunchHostFunc(
                  scene.stream,
                  [](void*) {
                    while (!go) sched_yield();
                  },
                  nullptr),
              ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(held, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEvent(scene.other, held), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemsetAsync(scene.device, kSize, 1, kSize, scene.other), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStreamWithTimeout(scene.other, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  go = true;
  RW_CHECK_EQ(aclrtSynchronizeEvent(held), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.other), ACL_SUCCESS);
}

// `other` is behind `stream` by all means but a plain event: a classic event, a notify that is waited for first (twice), an event that
// processes share, and a graph that waits for the outside.
void InOrder() {
  const Scene scene;
  aclrtEvent classic = nullptr, shared = nullptr, outside = nullptr;
  aclrtNotify notify = nullptr;
  RW_CHECK_EQ(aclrtCreateEventWithFlag(&classic, ACL_EVENT_SYNC), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateEventExWithFlag(&shared, ACL_EVENT_IPC), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateEventExWithFlag(&outside, ACL_EVENT_SYNC), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  const auto copy = [&](aclrtStream stream) {
    return aclrtMemcpyAsync(scene.device, kSize, scene.host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream);
  };
  aclmdlRI graph = nullptr;
  RW_CHECK_EQ(aclmdlRICaptureBegin(scene.other, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEventWithFlag(scene.other, outside, 0, ACL_EVENT_WAIT_EXTERNAL), ACL_SUCCESS);
  RW_CHECK_EQ(copy(scene.other), ACL_SUCCESS);
  RW_CHECK_EQ(aclmdlRICaptureEnd(scene.other, &graph), ACL_SUCCESS);
  static std::atomic<bool> go{false};
  const auto hold = [](void*) {
    while (!go) sched_yield();
  };
  RW_CHECK_EQ(aclrtLaunchHostFunc(scene.stream, hold, nullptr), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(classic, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEvent(scene.other, classic), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) {
    RW_CHECK_EQ(aclrtWaitAndResetNotify(notify, scene.other, 0), ACL_SUCCESS);
    RW_CHECK_EQ(copy(scene.stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtRecordNotify(notify, scene.stream), ACL_SUCCESS);
    RW_CHECK_EQ(copy(scene.other), ACL_SUCCESS);
    if (i != 0) break;
    go = true;  // or the second record finds the flag set
    RW_CHECK_EQ(aclrtSynchronizeStream(scene.other), ACL_SUCCESS);
    go = false;
    RW_CHECK_EQ(aclrtLaunchHostFunc(scene.stream, hold, nullptr), ACL_SUCCESS);
  }
  RW_CHECK_EQ(aclrtRecordEvent(shared, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEvent(scene.other, shared), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtRecordEvent(outside, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclmdlRIExecuteAsync(graph, scene.other), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeEventWithTimeout(shared, 1), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  go = true;
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.other), ACL_SUCCESS);
}

// Nothing comes, and nobody helps.
void AwaitReport() {
  const Scene scene;
  RW_CHECK_EQ(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
  RW_CHECK_EQ(aclrtUnSubscribeReport(static_cast<uint64_t>(pthread_self()), scene.stream), ACL_SUCCESS);
}

// Killed in the middle of its work, by a thread of its own. How many submits had returned by then is in a file.
constexpr const char* kCounter = "RW_TEST_COUNTER";
std::atomic<uint64_t>* Counter(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  RW_CHECK_EQ(ftruncate(file, sizeof(uint64_t)), 0);
  void* const page = mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return static_cast<std::atomic<uint64_t>*>(page);
}
void IsKilledAtWork() {
  constexpr uint64_t kEnough = 20000;
  const Scene scene;
  std::atomic<uint64_t>& submitted = *Counter(std::getenv(kCounter));
  std::thread([&submitted] {
    while (submitted < kEnough) sched_yield();
    kill(getpid(), SIGKILL);
  }).detach();
  for (;; ++submitted)
    RW_CHECK_EQ(aclrtMemcpyAsync(scene.device, kSize, scene.host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, scene.stream), ACL_SUCCESS);
}

// A graph of two copies and a function, which is replayed twice.
void Graph() {
  const Scene scene;
  aclmdlRI graph = nullptr;
  RW_CHECK_EQ(aclmdlRICaptureBegin(scene.stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsync(scene.device, kSize, scene.host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsync(scene.host, kSize / 2, scene.device, kSize / 2, ACL_MEMCPY_DEVICE_TO_HOST, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtLaunchHostFunc(
                  scene.stream, [](void*) {}, nullptr),
              ACL_SUCCESS);
  RW_CHECK_EQ(aclmdlRICaptureEnd(scene.stream, &graph), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) RW_CHECK_EQ(aclmdlRIExecuteAsync(graph, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_SUCCESS);
}

// A graph of two branches: the second stream's copy is between two of the first.
void ForkedGraph() {
  const Scene scene;
  aclrtStream other = nullptr;
  aclrtEvent fork = nullptr, join = nullptr;
  aclmdlRI graph = nullptr;
  RW_CHECK_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  for (aclrtEvent* event : {&fork, &join}) RW_CHECK_EQ(aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC), ACL_SUCCESS);
  const auto copy = [&](size_t bytes, aclrtStream stream) {
    RW_CHECK_EQ(aclrtMemcpyAsync(scene.device, bytes, scene.host, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
  };
  RW_CHECK_EQ(aclmdlRICaptureBegin(scene.stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  copy(1, scene.stream);
  RW_CHECK_EQ(aclrtRecordEvent(fork, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEvent(other, fork), ACL_SUCCESS);
  copy(2, other);
  RW_CHECK_EQ(aclrtRecordEvent(join, other), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtStreamWaitEvent(scene.stream, join), ACL_SUCCESS);
  copy(3, scene.stream);
  RW_CHECK_EQ(aclmdlRICaptureEnd(scene.stream, &graph), ACL_SUCCESS);
  for (int i = 0; i < 2; ++i) RW_CHECK_EQ(aclmdlRIExecuteAsync(graph, scene.stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_SUCCESS);
}

// One copy that the driver refuses, between good ones.
void RefusedByDriver() {
  const Scene scene;
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  RW_CHECK(library != nullptr);
  const auto fail = reinterpret_cast<void (*)(const char*, int, int, int)>(dlsym(library, "fake_cuda_fail"));
  const auto copy = [&] { return aclrtMemcpyAsync(scene.device, kSize, scene.host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, scene.stream); };
  constexpr int kIllegalAddress = 700;
  RW_CHECK_EQ(copy(), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_SUCCESS);
  fail("cuMemcpyAsync", kIllegalAddress, 0, 1);
  RW_CHECK_EQ(copy(), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_ERROR_RT_SYS_DMA);
  RW_CHECK_EQ(copy(), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSynchronizeStream(scene.stream), ACL_SUCCESS);
}

std::string TracePath(const char* suffix = ".rwt") { return "/tmp/ropeway_trace_" + std::to_string(getpid()) + suffix; }

TraceData Read(const std::string& path) {
  TraceData trace;
  std::string why;
  if (!ropeway::cli::ReadTraces({path}, &trace, &why)) process_test::Fail(__FILE__, __LINE__, why);
  return trace;
}

// The trace that a mode leaves behind.
TraceData TraceOf(const char* mode, process_test::Child* child, process_test::Env env = {}) {
  const std::string path = TracePath();
  env.push_back({"ROPEWAY_TRACE", path.c_str()});
  *child = process_test::RunSelf(mode, env);
  const TraceData trace = Read(path);
  std::remove(path.c_str());
  return trace;
}

size_t Whole(const TraceData& trace) {
  size_t count = 0;
  for (const TraceTask& task : trace.tasks)
    count += task.stream != kNone && task.submit_ns >= 0 && task.start_ns >= task.submit_ns && task.end_ns >= task.start_ns;
  return count;
}

// Every task of Work() from its submit to its end, with its call and where that is.
void ExpectAll(const char* mode, const TraceData& trace) {
  const size_t whole = Whole(trace);
  if (whole != kRounds * kTasksARound)
    process_test::Fail(__FILE__, __LINE__,
                       std::string(mode) + ": " + std::to_string(whole) + " tasks of " + std::to_string(trace.tasks.size()));
  for (const auto& process : trace.processes) RW_CHECK_EQ(process.dropped, 0u);
  size_t up = 0, down = 0;
  for (const TraceTask& task : trace.tasks) {
    if (trace.names[task.kind] != "copy") continue;
    RW_CHECK_EQ(trace.names[task.call], std::string("aclrtMemcpyAsync"));
    RW_CHECK_EQ(task.bytes, kSize);
    RW_CHECK(task.site != kNone);
    up += trace.names[task.direction] == "H2D";
    down += trace.names[task.direction] == "D2H";
  }
  RW_CHECK_EQ(up, kRounds);
  RW_CHECK_EQ(down, kRounds);
  RW_CHECK(trace.blocks.size() >= 2);
}

void Ends() {
  struct End {
    const char* mode;
    int signal;  // 0: it exits by itself
  };
  for (const End end : {End{"tidy", 0},
                        {"with_child", 0},
                        {"aborts", SIGABRT},
                        {"faults", SIGSEGV},
                        {"terminates", SIGTERM},
                        {"leaves", 0},
                        {"killed", SIGKILL}}) {
    process_test::Child child;
    const TraceData trace = TraceOf(end.mode, &child);
    if (end.signal == 0 ? !child.ExitedWith(0) : !child.KilledBy(end.signal))
      process_test::Fail(__FILE__, __LINE__, std::string(end.mode) + ": " + child.Describe());
    ExpectAll(end.mode, trace);
  }
  process_test::Child child;
  const TraceData queued = TraceOf("queued", &child);
  RW_CHECK(child.ExitedWith(0));
  RW_CHECK_EQ(queued.tasks.size(), kRounds * kTasksARound);
}

void WaitsAndEdges(const process_test::Env& env) {
  process_test::Child child;
  const TraceData trace = TraceOf("other_work", &child, env);
  if (!child.ExitedWith(0)) process_test::Fail(__FILE__, __LINE__, child.Describe());
  size_t now = 0, pageable = 0, of_event = 0, of_work = 0;
  for (const auto& wait : trace.waits) {
    RW_CHECK(wait.end_ns >= wait.begin_ns);
    RW_CHECK(wait.site != kNone);
    const std::string call = trace.names[wait.call], reason = trace.names[wait.reason];
    now += wait.task != kNone && call == "aclrtMemcpy";
    pageable += wait.task != kNone && call == "aclrtMemcpyAsync" && trace.names[trace.tasks[wait.task].reason] == "pageable";
    of_event += reason == "event" && call == "aclrtSynchronizeEvent";
    of_work += reason == "work" && call == "aclrtSynchronizeStreamWithTimeout" && wait.stream != kNone && wait.sequence > 0;
  }
  RW_CHECK_EQ(now, 1u);
  RW_CHECK_EQ(pageable, 1u);
  RW_CHECK(of_event <= 1);  // it may be done by then
  RW_CHECK_EQ(of_work, 1u);
  RW_CHECK_EQ(trace.edges.size(), 1u);
  if (trace.edges.size() != 1) return;
  RW_CHECK(trace.edges[0].from != trace.edges[0].to);
  RW_CHECK(trace.edges[0].event != 0);
  RW_CHECK_EQ(trace.names[trace.edges[0].call], std::string("aclrtStreamWaitEvent"));
}

void Edges(const process_test::Env& env) {
  process_test::Child child;
  const TraceData trace = TraceOf("in_order", &child, env);
  if (!child.ExitedWith(0)) process_test::Fail(__FILE__, __LINE__, child.Describe());
  std::map<std::string, size_t> calls;
  const auto kind_of = [&](uint32_t stream, uint64_t sequence) {
    for (const TraceTask& task : trace.tasks) {
      if (task.stream == stream && task.sequence == sequence && task.submit_ns >= 0) return trace.names[task.kind];
    }
    return std::string();
  };
  for (const auto& edge : trace.edges) {
    const std::string& call = trace.names[edge.call];
    ++calls[call];
    RW_CHECK(edge.from != edge.to && edge.site != kNone);
    const std::string from = kind_of(edge.from, edge.from_sequence), to = kind_of(edge.to, edge.to_sequence);
    RW_CHECK(from == "record" || from == "wait");  // that of an event of other processes waits for its home
    RW_CHECK_EQ(to, std::string(call == "aclmdlRIExecuteAsync" ? "replay" : "wait"));
  }
  RW_CHECK_EQ(calls["aclrtStreamWaitEvent"], 2u);
  RW_CHECK_EQ(calls["aclrtWaitAndResetNotify"], 2u);
  RW_CHECK_EQ(calls["aclmdlRIExecuteAsync"], 1u);
  RW_CHECK_EQ(trace.edges.size(), 5u);
  size_t of_process = 0;
  for (const auto& wait : trace.waits)
    of_process += trace.names[wait.reason] == "process" && trace.names[wait.call] == "aclrtSynchronizeEventWithTimeout";
  RW_CHECK_EQ(of_process, 1u);
}

void Reports() {
  process_test::Child child;
  const TraceData trace = TraceOf("await_report", &child);
  if (!child.ExitedWith(0)) process_test::Fail(__FILE__, __LINE__, child.Describe());
  RW_CHECK_EQ(trace.waits.size(), 1u);
  if (trace.waits.size() != 1) return;
  RW_CHECK_EQ(trace.names[trace.waits[0].reason], std::string("report"));
  RW_CHECK_EQ(trace.names[trace.waits[0].call], std::string("aclrtProcessReport"));
  RW_CHECK(trace.waits[0].end_ns - trace.waits[0].begin_ns >= 1000000);
  RW_CHECK_EQ(trace.threads[trace.waits[0].thread].name, std::string("process_test"));  // and not "exe"
}

// What had been submitted is there, to the last call that had returned.
void KilledAtWork() {
  const std::string path = TracePath("_counter");
  const std::atomic<uint64_t>& submitted = *Counter(path.c_str());
  process_test::Child child;
  const TraceData trace = TraceOf("killed_at_work", &child, {{kCounter, path.c_str()}});
  RW_CHECK(child.KilledBy(SIGKILL));
  std::remove(path.c_str());
  uint64_t seen = 0;
  for (const TraceTask& task : trace.tasks) seen += task.submit_ns >= 0 && trace.names[task.kind] == "copy";
  RW_CHECK(submitted >= 20000);
  RW_CHECK(seen >= submitted);
  RW_CHECK_EQ(trace.processes.at(0).dropped, 0u);
}

void Graphs(const process_test::Env& env) {
  process_test::Child child;
  const TraceData trace = TraceOf("graph", &child, env);
  if (!child.ExitedWith(0)) process_test::Fail(__FILE__, __LINE__, child.Describe());
  size_t replays = 0, up = 0, down = 0, calls = 0;
  for (const TraceTask& task : trace.tasks) {
    replays += trace.names[task.kind] == "replay" && task.end_ns >= 0;
    calls += trace.names[task.kind] == "call" && task.submit_ns == -1 && task.end_ns >= task.start_ns;
    if (trace.names[task.kind] != "copy") continue;
    RW_CHECK_EQ(task.submit_ns, int64_t{-1});
    RW_CHECK(task.end_ns >= task.start_ns && task.start_ns >= 0);
    up += task.bytes == kSize && trace.names[task.direction] == "H2D";
    down += task.bytes == kSize / 2 && trace.names[task.direction] == "D2H";
  }
  RW_CHECK_EQ(replays, 2u);
  RW_CHECK_EQ(calls, 2u);
  RW_CHECK_EQ(up, 2u);
  RW_CHECK_EQ(down, 2u);
}

// Each replay has an edge from branch to branch, and one back, between a signal and its wait.
void GraphEdges(const process_test::Env& env) {
  process_test::Child child;
  const TraceData trace = TraceOf("forked_graph", &child, env);
  if (!child.ExitedWith(0)) process_test::Fail(__FILE__, __LINE__, child.Describe());
  std::map<uint64_t, std::vector<std::pair<uint32_t, uint32_t>>> branches;  // by replay
  for (const auto& edge : trace.edges) {
    RW_CHECK(edge.from_task != kNone && edge.to_task != kNone);
    if (edge.from_task == kNone || edge.to_task == kNone) continue;
    const TraceTask &from = trace.tasks[edge.from_task], &to = trace.tasks[edge.to_task];
    RW_CHECK_EQ(trace.names[from.kind], std::string("signal"));
    RW_CHECK_EQ(trace.names[to.kind], std::string("wait_signal"));
    RW_CHECK_EQ(trace.names[to.call], std::string("aclrtStreamWaitEvent"));
    RW_CHECK_EQ(from.sequence, to.sequence);
    RW_CHECK(from.start_ns <= to.end_ns);
    branches[from.sequence].push_back({from.branch, to.branch});
  }
  RW_CHECK_EQ(branches.size(), 2u);
  for (auto& [replay, edges] : branches) {
    std::sort(edges.begin(), edges.end());
    RW_CHECK(edges == (std::vector<std::pair<uint32_t, uint32_t>>{{0, 1}, {1, 0}}));
  }
  std::map<uint64_t, uint32_t> branch_of_size;
  for (const TraceTask& task : trace.tasks) {
    if (trace.names[task.kind] == "copy") branch_of_size[task.bytes] = task.branch;
  }
  RW_CHECK(branch_of_size == (std::map<uint64_t, uint32_t>{{1, 0}, {2, 1}, {3, 0}}));
}

// The same on the CUDA engine, with a stand-in for the driver: numbers and codes of finished tasks are their own.
void OnCuda() {
  const std::string libraries = std::filesystem::read_symlink("/proc/self/exe").parent_path().string() + "/../fake_cuda";
  if (!std::filesystem::exists(libraries + "/libcuda.so.1")) return;  // not part of this build
  const process_test::Env env{{"LD_LIBRARY_PATH", libraries.c_str()}, {"ROPEWAY_ENGINE", "cuda"}, {"ROPEWAY_SCHEDULE", nullptr}};
  process_test::Child child;
  const TraceData tidy = TraceOf("tidy", &child, env);
  if (!child.ExitedWith(0)) process_test::Fail(__FILE__, __LINE__, child.Describe());
  RW_CHECK_EQ(tidy.processes.at(0).engine, std::string("cuda"));
  ExpectAll("tidy on cuda", tidy);
  WaitsAndEdges(env);
  Edges(env);
  Graphs(env);
  GraphEdges(env);
  const TraceData refused = TraceOf("refused", &child, env);
  if (!child.ExitedWith(0)) process_test::Fail(__FILE__, __LINE__, child.Describe());
  std::vector<int> codes;
  for (const TraceTask& task : refused.tasks) codes.push_back(task.code);
  RW_CHECK(codes == std::vector<int>({0, ACL_ERROR_RT_SYS_DMA, 0}));
  RW_CHECK_EQ(Whole(refused), 3u);
}

// What stands for something in the name, and a name that two processes have.
void Names() {
  namespace fs = std::filesystem;
  const fs::path folder = TracePath("_names");
  fs::create_directory(folder);
  const std::string pattern = folder / "r%r-%h-%p%%.rwt";
  process_test::ExpectClean("tidy", {{"ROPEWAY_TRACE", pattern.c_str()}, {"RANK_ID", "5"}});
  char host[64] = {};
  gethostname(host, sizeof(host) - 1);
  size_t files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    ++files;
    const TraceData trace = Read(entry.path());
    RW_CHECK_EQ(trace.processes.at(0).rank, 5);
    RW_CHECK_EQ(entry.path().filename().string(), "r5-" + std::string(host) + "-" + std::to_string(trace.processes[0].pid) + "%.rwt");
  }
  RW_CHECK_EQ(files, 1u);
  fs::remove_all(folder);
}

void All() {
  Ends();
  KilledAtWork();
  WaitsAndEdges({});
  Edges({});
  Reports();
  Graphs({});
  GraphEdges({});
  OnCuda();
  Names();
  process_test::ExpectClean("tidy", {{"ROPEWAY_TRACE", ""}});
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All,
                            {{"tidy", &Tidy},
                             {"queued", &WithWorkQueued},
                             {"with_child", &WithChild},
                             {"aborts", &Aborts},
                             {"faults", &Faults},
                             {"terminates", &Terminates},
                             {"leaves", &LeavesAtOnce},
                             {"killed", &IsKilled},
                             {"killed_at_work", &IsKilledAtWork},
                             {"in_order", &InOrder},
                             {"await_report", &AwaitReport},
                             {"graph", &Graph},
                             {"forked_graph", &ForkedGraph},
                             {"refused", &RefusedByDriver},
                             {"other_work", &OtherWork}});
}
