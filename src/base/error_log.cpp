#include "base/error_log.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <list>
#include <memory>
#include <new>
#include <string>

#include "base/call_site.h"
#include "base/error_names.h"
#include "base/error_text.h"
#include "base/fork.h"
#include "base/no_destroy.h"

namespace ropeway {
namespace {

// A program that never asks for its error texts must not grow by them.
constexpr size_t kMaxTexts = 64;

struct Text {
  std::string words;
  const void* caller = nullptr;  // where the call returned to; looked up when the text is handed out
  std::string site = {};         // that place, where somebody knows it better
};

struct Texts {
  std::list<Text> newest_first;  // an empty one has no memory, so that there is always one
  void Add(const char* text, const void* caller) {
    newest_first.push_front({text, caller});
    if (newest_first.size() > kMaxTexts) newest_first.pop_back();
  }
  void TellSite(const void* caller, const char* site) {
    if (newest_first.empty()) return;
    Text& newest = newest_first.front();
    if (site == nullptr)
      newest.caller = caller;
    else if (newest.site.empty() && InSameModule(newest.caller, caller))
      newest.site = site;
  }
  std::string TakeNewest() {
    if (newest_first.empty()) return {};
    std::string newest = std::move(newest_first.front().words);
    newest_first.pop_front();
    return newest;
  }
};

// The last line of a text says where the call was made, as far as that is known and there is memory to say it.
void AppendSite(const Text& text, std::string* all) try {
  const std::string site = text.site.empty() ? CallSiteText(text.caller) : "called at " + text.site;
  if (!site.empty()) *all += "        " + site + "\n";
} catch (const std::bad_alloc&) {
}

std::string Join(const char* newest, const std::list<Text>& texts) {
  std::string all = newest;
  for (const Text& text : texts) {
    all += text.words;
    AppendSite(text, &all);
  }
  return all;
}

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

void LogFailure(const char* call, const Status& status, const void* caller) {
  if (status.sets_last_error()) Mine().last_error = status.code();
  char text[kErrorTextSize];
  ComposeErrorText(FamilyOf(status.code()), call, status, text);
  FileText(text, caller);
}

void FileText(const char* text, const void* caller) {
  Notebook* notebook = MyNotebook();
  if (notebook == nullptr) {
    Mine().lost = true;
    return;
  }
  try {
    WithTexts([&](Texts& texts) { texts.Add(text, caller); });
  } catch (const std::bad_alloc&) {
    snprintf(notebook->unkept, sizeof(notebook->unkept), "%s", text);
  }
}

void TellSite(const void* caller, const char* site) {
  if (MyNotebook() == nullptr) return;
  try {
    WithTexts([&](Texts& texts) { texts.TellSite(caller, site); });
  } catch (const std::bad_alloc&) {
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
  std::list<Text> taken;  // looked at without the lock: finding lines reads files
  WithTexts([&](Texts& texts) { taken.swap(texts.newest_first); });
  try {
    mine.handed_out = Join(mine.unkept_handed_out, taken);
  } catch (const std::bad_alloc&) {
    WithTexts([&](Texts& texts) { texts.newest_first.splice(texts.newest_first.end(), taken); });
    // One at a time, which needs no memory; the others are for the next call.
    if (mine.unkept_handed_out[0] != '\0') return mine.unkept_handed_out;
    WithTexts([&](Texts& texts) { mine.handed_out = texts.TakeNewest(); });
  }
  return mine.handed_out.empty() ? nullptr : mine.handed_out.c_str();
}

void ShareTextsAcrossThreads(bool shared_texts) { Shared().in_use.store(shared_texts, std::memory_order_release); }

}  // namespace ropeway
