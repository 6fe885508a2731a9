#include "base/error_log.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory>
#include <new>
#include <string>

#include "base/error_names.h"
#include "base/error_text.h"
#include "base/fork.h"
#include "base/no_destroy.h"

namespace ropeway {
namespace {

// A program that never asks for its error texts must not grow by them.
constexpr size_t kMaxTexts = 64;

struct Texts {
  std::list<std::string> newest_first;  // an empty one has no memory, so that there is always one
  void Add(const char* text) {
    newest_first.emplace_front(text);
    if (newest_first.size() > kMaxTexts) newest_first.pop_back();
  }
  std::string TakeAll(const char* newest) {
    size_t length = std::strlen(newest);
    for (const std::string& text : newest_first) length += text.size();
    std::string all;
    all.reserve(length);
    all = newest;
    for (const std::string& text : newest_first) all += text;
    newest_first.clear();
    return all;
  }
  std::string TakeNewest() {
    if (newest_first.empty()) return {};
    std::string newest = std::move(newest_first.front());
    newest_first.pop_front();
    return newest;
  }
};

// Made by the first failure of a thread: memory that each thread has from the start is scarce in a library that is opened at run time.
struct Notebook {
  std::string handed_out;
  Texts texts;
  char unkept[kErrorTextSize] = {};  // the latest that there was no memory for
  char unkept_handed_out[kErrorTextSize];
};

struct ThreadErrors {
  std::unique_ptr<Notebook> notebook;
  bool lost = false;  // there was none for a text
  int last_error = 0;
};

constexpr const char* kLost = "EE1001: host memory is exhausted, and the text of a failure could not be kept; its code says what it was\n";

ThreadErrors& Mine() {
  thread_local ThreadErrors errors;
  return errors;
}

// Null without memory for it.
Notebook* MyNotebook() {
  ThreadErrors& mine = Mine();
  if (mine.notebook == nullptr) mine.notebook.reset(new (std::nothrow) Notebook);
  return mine.notebook.get();
}

struct SharedTexts {
  std::atomic<bool> in_use{false};
  Texts texts RW_GUARDED_BY(fork_lock::registries);
};

NoDestroy<SharedTexts> g_shared;
SharedTexts& Shared() { return g_shared.get(); }

// Calls with the texts of this thread or of the process, locked where that is needed.
template <typename Use>
void WithTexts(Use use) {
  SharedTexts& shared = Shared();
  if (!shared.in_use.load(std::memory_order_acquire)) return use(MyNotebook()->texts);
  const LockGuard lock(fork_lock::registries);
  use(shared.texts);
}

// EH for the API layer, EE for the runtime.
ErrorFamily FamilyOf(int code) {
  const ErrorName* name = FindErrorName(code);
  const bool api_layer = code / 1000 == 100 || code / 1000 == 200 || code / 1000 == 500;
  return {api_layer ? "EH0001" : "EE1001", name != nullptr ? name->symbol : "error", name != nullptr ? name->meaning : ""};
}

}  // namespace

void LogFailure(const char* call, const Status& status) {
  if (status.sets_last_error()) Mine().last_error = status.code();
  char text[kErrorTextSize];
  ComposeErrorText(FamilyOf(status.code()), call, status, text);
  FileText(text);
}

void FileText(const char* text) {
  Notebook* notebook = MyNotebook();
  if (notebook == nullptr) {
    Mine().lost = true;
    return;
  }
  try {
    WithTexts([text](Texts& texts) { texts.Add(text); });
  } catch (const std::bad_alloc&) {
    snprintf(notebook->unkept, sizeof(notebook->unkept), "%s", text);
  }
}

int PeekLastError() { return Mine().last_error; }

int TakeLastError() { return std::exchange(Mine().last_error, 0); }

const char* TakeRecentTexts() {
  Notebook* notebook = MyNotebook();
  if (std::exchange(Mine().lost, false)) return kLost;  // the others are for the next call
  if (notebook == nullptr) return nullptr;
  Notebook& mine = *notebook;
  std::strcpy(mine.unkept_handed_out, mine.unkept);
  mine.unkept[0] = '\0';
  try {
    WithTexts([&](Texts& texts) { mine.handed_out = texts.TakeAll(mine.unkept_handed_out); });
  } catch (const std::bad_alloc&) {
    // One at a time, which needs no memory; the others are for the next call.
    if (mine.unkept_handed_out[0] != '\0') return mine.unkept_handed_out;
    WithTexts([&](Texts& texts) { mine.handed_out = texts.TakeNewest(); });
  }
  return mine.handed_out.empty() ? nullptr : mine.handed_out.c_str();
}

void ShareTextsAcrossThreads(bool shared_texts) { Shared().in_use.store(shared_texts, std::memory_order_release); }

}  // namespace ropeway
