// The file of a trace as threads write into it: chunks that are pages of the file itself, so that what a thread has stored is in the file,
// however the process ends. One thread of ours, the preparer, maps chunks ahead and unmaps full ones; whoever writes takes a chunk that is
// ready, or none at all. Nobody ever waits for it.
//
// Invariants:
//  1. A chunk's state says whose it is. kAbsent and kFull: the preparer's; kTaken: one thread's; kReady: anybody's, who takes it by a
//     compare-and-swap to kTaken. Whoever has it writes its fields, and hands it on by a store with release.
//  2. A taken chunk stays mapped until it was handed in full, so its writer needs no lock and no look at the state.
//  3. At most kMostChunks are mapped. Pages are allocated on disk before they are mapped: writing to them cannot fail for want of room.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "watch/trace_format.h"

namespace ropeway {

struct TraceChunk {
  enum State : uint32_t { kAbsent, kReady, kTaken, kFull };
  std::atomic<uint32_t> state{kAbsent};
  std::byte* begin = nullptr;
  size_t used = 0;  // bytes of records; a thread that ended leaves the rest to others
  uint64_t offset = 0;
};

class TraceChunks {
 public:
  // Null, with errno, when the file cannot be made. A file that a living process writes is left alone: then the name gets this process's
  // number. `path` is what became of it.
  static TraceChunks* Open(std::string* path);

  TraceChunks(const TraceChunks&) = delete;
  TraceChunks& operator=(const TraceChunks&) = delete;

  // Null: none is ready.
  TraceChunk* Take();
  // Behind `used` others may go on.
  void GiveBack(TraceChunk* chunk, size_t used);
  void HandInFull(TraceChunk* chunk);

  // Puts a whole record (several slots) of the process itself into the file, as the preparer's. False: no chunk was ready.
  bool Append(const void* slots, size_t bytes);
  trace::FileHeader& header() { return *header_; }
  void CountDropped() { std::atomic_ref(header_->dropped).fetch_add(1, std::memory_order_relaxed); }

  // Called by the preparer now and then, on its thread.
  void (*look_around)(TraceChunks&) = nullptr;
  void Start();
  // The process ends: gives back what nobody used, and ends the preparer. What has been taken can still be filled.
  void End();

 private:
  static constexpr size_t kMostChunks = 4096;  // 256 MiB
  static constexpr size_t kExtent = 16;        // chunks that are made at once
  static constexpr size_t kReadyAtStart = 64;  // before the first record
  static constexpr size_t kReadyAlways = 512;  // 32 MiB: about half a million tasks while the preparer has no core
  static constexpr int kLookAroundMs = 100;

  explicit TraceChunks(FileDescriptor file) : file_(std::move(file)) {}
  bool MapHeader();
  void Prepare();
  bool MakeReady(size_t wanted);
  bool MapExtent();
  void UnmapFull();
  void StampClock();

  FileDescriptor file_;
  trace::FileHeader* header_ = nullptr;
  std::array<TraceChunk, kMostChunks> chunks_;
  std::atomic<uint32_t> hint_{0};  // where the next ready one may be
  std::atomic<int> ready_{0};      // never less than there are for long; 0: looking is in vain
  std::atomic<int> full_{0};
  std::atomic<uint32_t> calls_{0};  // futex word: the preparer is wanted
  std::atomic<bool> ending_{false};
  uint64_t end_ = trace::kHeaderSize;  // of what is allocated; the preparer's
  TraceChunk* own_ = nullptr;          // for Append
  std::thread preparer_;
};

// A moment on all clocks; ticks are Ticks() where they run evenly, else nanoseconds.
trace::ClockPair ReadClocks();

}  // namespace ropeway
