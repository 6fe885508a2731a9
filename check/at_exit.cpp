// The last words: what came more than once, and, if asked for, what was left behind.
#include "check/call.h"
#include "check/options.h"

namespace ropeway::check {
namespace {

template <typename Handles>
void TellLeft(Books& books, const Handles& handles, const char* what) {
  for (const auto& [handle, state] : handles)
    if (state.operation != 0) books.Tell(Rule::kLeak, state.operation, std::string("made ") + what + " that is left at exit");
}

__attribute__((destructor)) void LastWords() {
  const std::lock_guard lock(Call::Mutex());
  Books& books = Books::Get();
  HostAccess::Settle(books);
  if (GetOptions().leaks) {
    TellLeft(books, books.blocks(), "a block");
    TellLeft(books, books.streams(), "a stream");
    TellLeft(books, books.events, "an event");
    TellLeft(books, books.notifies, "a notify");
  }
  books.findings.TellCounts();
}

}  // namespace
}  // namespace ropeway::check
