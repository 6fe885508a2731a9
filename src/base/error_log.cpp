#include "base/error_log.h"

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <deque>

#include <unistd.h>

#include "base/error_names.h"
#include "base/fork.h"
#include "base/no_destroy.h"
#include "base/status.h"

namespace ropeway {
namespace {

// A program that never asks for its error texts must not grow by them.
constexpr size_t kMaxTexts = 64;

struct Texts {
  std::deque<std::string> newest_first;
  void Add(std::string text) {
    newest_first.push_front(std::move(text));
    if (newest_first.size() > kMaxTexts) newest_first.pop_back();
  }
  std::string TakeAll() {
    std::string all;
    for (const std::string& text : newest_first) all += text;
    newest_first.clear();
    return all;
  }
};

struct ThreadErrors {
  std::string pending;
  std::string handed_out;
  Texts texts;
  int last_error = 0;
};

ThreadErrors& Mine() {
  thread_local ThreadErrors errors;
  return errors;
}

struct SharedTexts {
  std::atomic<bool> in_use{false};
  Texts texts;  // guarded by ForkLock::kRegistries
};

NoDestroy<SharedTexts> g_shared;
SharedTexts& Shared() { return g_shared.get(); }

std::string FormatV(const char* format, va_list arguments) {
  char buffer[1024];
  vsnprintf(buffer, sizeof(buffer), format, arguments);
  return buffer;
}

// The families that readers of such texts know: EH for the API layer, EE for the runtime.
std::string Compose(const char* call, int code, const std::string& what) {
  const ErrorName* name = FindErrorName(code);
  const bool api_layer = code / 1000 == 100 || code / 1000 == 200 || code / 1000 == 500;
  // Seconds since the epoch, not a calendar date: libc's time zone lock may have been left behind by a fork.
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char head[256];
  snprintf(head, sizeof(head), "%s: [PID: %d] %lld.%03ld %s (%d)\n", api_layer ? "EH0001" : "EE1001", getpid(),
           static_cast<long long>(now.tv_sec), now.tv_nsec / 1000000, name != nullptr ? name->symbol : "error", code);
  return std::string(head) + "        " + call + ": " + (what.empty() && name != nullptr ? name->meaning : what) + "\n";
}

Status Note(int code, bool sets_last_error, const char* format, va_list arguments) {
  Mine().pending = FormatV(format, arguments);
  return MakeFailure(code, sets_last_error);
}

}  // namespace

Status Reject(int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = Note(code, false, format, arguments);
  va_end(arguments);
  return status;
}

Status Fail(int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = Note(code, true, format, arguments);
  va_end(arguments);
  return status;
}

Status Decline(int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Status status = Note(code, false, format, arguments);
  va_end(arguments);
  return status;
}

void LogFailure(const char* call, int code, bool sets_last_error) {
  ThreadErrors& mine = Mine();
  if (sets_last_error) mine.last_error = code;
  std::string text = Compose(call, code, mine.pending);
  mine.pending.clear();
  FileText(std::move(text));
}

void FileText(std::string text) {
  SharedTexts& shared = Shared();
  if (!shared.in_use.load(std::memory_order_acquire)) return Mine().texts.Add(std::move(text));
  const HeldAcrossFork lock(ForkLock::kRegistries);
  shared.texts.Add(std::move(text));
}

void SetPendingText(std::string text) { Mine().pending = std::move(text); }

std::string TakePendingText() { return std::exchange(Mine().pending, std::string()); }

int PeekLastError() { return Mine().last_error; }

int TakeLastError() { return std::exchange(Mine().last_error, 0); }

const char* TakeRecentTexts() {
  ThreadErrors& mine = Mine();
  SharedTexts& shared = Shared();
  if (shared.in_use.load(std::memory_order_acquire)) {
    const HeldAcrossFork lock(ForkLock::kRegistries);
    mine.handed_out = shared.texts.TakeAll();
  } else {
    mine.handed_out = mine.texts.TakeAll();
  }
  return mine.handed_out.empty() ? nullptr : mine.handed_out.c_str();
}

void ShareTextsAcrossThreads(bool shared_texts) {
  Shared().in_use.store(shared_texts, std::memory_order_release);
}

}  // namespace ropeway
