#include "watch/trace.h"

#include <pthread.h>
#include <stdio_ext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "base/mutex.h"
#include "engine/task_ranges.h"
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
    LockGuard lock(mutex_);
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
    Addresses found{nullptr, nullptr};
    if (task.kind == TaskKind::kBatch) return found;  // it has many
    ForEachRange(task, [&](const TaskRange& range) {
      if (range.name == "dst") found.dst = range.address;
      if (range.name == "src") found.src = range.address;
      return true;
    });
    return found;
  }

  void WriteTask(const char* event, const TaskSight& sight, int code) {
    const Addresses addresses = AddressesOf(*sight.task);
    Write(
        "{\"t\":%lld,\"ev\":\"%s\",\"stream\":%u,\"device\":%d,\"seq\":%llu,\"kind\":\"%s\",\"call\":\"%s\",\"dst\":%llu,\"src\":%llu,"
        "\"bytes\":%zu,\"code\":%d,\"thread\":%d}\n",
        Now(), event, sight.stream_id, sight.device, static_cast<unsigned long long>(sight.sequence), TaskKindName(sight.task->kind),
        sight.task->call, static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(addresses.dst)),
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
    LockGuard lock(mutex_);
    fwrite(line, 1, static_cast<size_t>(length), file_);
  }

  Mutex mutex_{LockRank::kTrace};
  FILE* const file_ RW_PT_GUARDED_BY(mutex_);
  const int64_t start_ns_;
};

}  // namespace

void StartTrace(const std::string& path) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "we"), &fclose);
  if (file == nullptr) {
    fprintf(stderr, "ropeway: ROPEWAY_TRACE=%s cannot be written (%s); nothing is traced\n", path.c_str(), strerror(errno));
    return;
  }
  setvbuf(file.get(), nullptr, _IOFBF, 1 << 20);
  auto writer = std::make_unique<TraceWriter>(file.get());
  // What waits in the buffer is the parent's to write, also when a child ends through exit.
  static FILE* traced;
  traced = file.release();
  pthread_atfork(nullptr, nullptr, [] { __fpurge(traced); });
  g_watcher.store(writer.release(), std::memory_order_release);
}

}  // namespace ropeway
