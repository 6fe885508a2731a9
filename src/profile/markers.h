// Marks of the program, by mstx and by aclprof: told to whoever watches, by the call and again when a stream has come to them.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/watcher.h"
#include "stream/stream.h"

namespace ropeway {

// Somebody collects marks now.
inline bool MarksAreWanted() {
  const Watcher* const watcher = ActiveWatcher();
  return watcher != nullptr && watcher->WantsMarks();
}

// The same text for as long as the process; equal texts are one. Null when there is no memory.
const char* LastingText(std::string_view text);

// Never 0, and never the same.
uint64_t NewMarkId();

struct Mark {
  MarkKind kind;
  uint64_t id;
  const char* text;  // lasting ones
  const char* domain = "";
};

// Of the calling thread alone.
void SetMark(const Mark& mark);
// Of the calling thread, and a task in the stream: captured and replayed as any other. Fails where the task cannot be queued.
Status SetMark(const Mark& mark, Stream& stream, uint32_t generation, const char* call);
// The stream's half of it.
Status SetStreamMark(const Mark& mark, Stream& stream, uint32_t generation, const char* call);

}  // namespace ropeway
