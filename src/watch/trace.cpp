#include "watch/trace.h"

#include <pthread.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "base/clock.h"
#include "engine/watcher.h"

namespace ropeway {
namespace {

// Lines are formatted on the thread that has something to say and handed to stdio's buffer under one lock.
class TraceWriter final : public Watcher {
 public:
  explicit TraceWriter(FILE* file) : file_(file), start_ns_(NowNs()) {
    Write("{\"trace\":\"ropeway\",\"version\":1,\"pid\":%d,\"unit\":\"ns\"}\n", getpid());
  }

  void Submitted(const TaskSight& sight) override { WriteTask("submit", sight, 0); }
  void Started(const TaskSight& sight) override { WriteTask("start", sight, 0); }
  void Finished(const TaskSight& sight, int code) override { WriteTask("finish", sight, code); }
  void Dropped(const TaskSight& sight) override { WriteTask("drop", sight, 0); }
  void Allocated(const BlockSight& sight) override { WriteBlock("alloc", sight); }
  void Freed(const BlockSight& sight) override { WriteBlock("free", sight); }

  void Ordered(const OrderSight& sight) override {
    Write("{\"t\":%lld,\"ev\":\"order\",\"from\":%u,\"from_seq\":%llu,\"to\":%u,\"to_seq\":%llu,\"call\":\"%s\",\"thread\":%d}\n", Now(),
          sight.from_stream, static_cast<unsigned long long>(sight.from_sequence), sight.to_stream,
          static_cast<unsigned long long>(sight.to_sequence), sight.call, gettid());
  }

  void Flush() override {
    std::lock_guard lock(mutex_);
    fflush(file_);
  }

 private:
  long long Now() const { return static_cast<long long>(NowNs() - start_ns_); }

  // dst, src and size of the tasks that have them; a 2-D copy shows its first row's start and its payload.
  struct Addresses {
    const void* dst;
    const void* src;
  };
  static Addresses AddressesOf(const Task& task) {
    switch (task.kind) {
      case TaskKind::kCopy: return {task.copy.dst, task.copy.src};
      case TaskKind::kCopy2d: return {task.copy_2d.dst, task.copy_2d.src};
      case TaskKind::kSet:
      case TaskKind::kSetWords: return {task.set.dst, nullptr};
      case TaskKind::kReduce: return {task.reduce.dst, task.reduce.src};
      default: return {nullptr, nullptr};
    }
  }

  void WriteTask(const char* event, const TaskSight& sight, int code) {
    const Addresses addresses = AddressesOf(*sight.task);
    Write("{\"t\":%lld,\"ev\":\"%s\",\"stream\":%u,\"device\":%d,\"seq\":%llu,\"kind\":\"%s\",\"call\":\"%s\",\"dst\":%llu,\"src\":%llu,"
          "\"bytes\":%zu,\"code\":%d,\"thread\":%d}\n",
          Now(), event, sight.stream_id, sight.device, static_cast<unsigned long long>(sight.sequence),
          TaskKindName(sight.task->kind), sight.task->call, static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(addresses.dst)),
          static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(addresses.src)), TaskBytes(*sight.task), code, gettid());
  }

  void WriteBlock(const char* event, const BlockSight& sight) {
    Write("{\"t\":%lld,\"ev\":\"%s\",\"address\":%llu,\"bytes\":%zu,\"device\":%d,\"call\":\"%s\",\"thread\":%d}\n", Now(), event,
          static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(sight.address)), sight.size, sight.device, sight.call, gettid());
  }

  [[gnu::format(printf, 2, 3)]] void Write(const char* format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    std::lock_guard lock(mutex_);
    fwrite(line, 1, static_cast<size_t>(length), file_);
  }

  std::mutex mutex_;
  FILE* const file_;
  const int64_t start_ns_;
};

}  // namespace

void StartTrace(const std::string& path) {
  FILE* file = fopen(path.c_str(), "we");
  if (file == nullptr) {
    fprintf(stderr, "ropeway: ROPEWAY_TRACE=%s cannot be written (%s); nothing is traced\n", path.c_str(), strerror(errno));
    return;
  }
  setvbuf(file, nullptr, _IOFBF, 1 << 20);
  // What waits in the buffer is the parent's to write, also when a child ends through exit.
  static FILE* traced;
  traced = file;
  pthread_atfork(nullptr, nullptr, [] { __fpurge(traced); });
  g_watcher.store(new TraceWriter(file), std::memory_order_release);
}

}  // namespace ropeway
