#include "watch/trace_chunks.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/futex.h"
#include "base/own_thread.h"
#include "watch/trace_clock.h"

namespace ropeway {
namespace {

using trace::kChunkSize;
using trace::kHeaderSize;

constexpr size_t kPage = 4096;

int64_t RealNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1000000000 + now.tv_nsec;
}

FileDescriptor OpenFile(const std::string& path, int flags) {
  return FileDescriptor::Make([&] { return open(path.c_str(), flags | O_CLOEXEC, 0666); });
}

// Who writes a file has it locked as long as he lives.
bool IsBeingWritten(const std::string& path) {
  const FileDescriptor file = OpenFile(path, O_RDONLY);
  return file && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::string WithPid(const std::string& path) {
  const size_t name = path.rfind('/') + 1;
  const size_t dot = path.rfind('.');
  const size_t at = dot == std::string::npos || dot <= name ? path.size() : dot;
  return path.substr(0, at) + "." + std::to_string(getpid()) + path.substr(at);
}

// Processes that start together make their files one after the other, by a lock on the folder. An old file is unlinked and not cut.
FileDescriptor MakeFile(std::string* path) {
  const size_t slash = path->rfind('/');
  const FileDescriptor folder = OpenFile(slash == std::string::npos ? "." : path->substr(0, slash + 1), O_RDONLY | O_DIRECTORY);
  if (folder) flock(folder.get(), LOCK_EX);
  if (IsBeingWritten(*path)) *path = WithPid(*path);
  struct stat old {};
  if (lstat(path->c_str(), &old) == 0 && S_ISREG(old.st_mode)) unlink(path->c_str());
  FileDescriptor file = OpenFile(*path, O_RDWR | O_CREAT | O_EXCL);
  if (file) flock(file.get(), LOCK_EX | LOCK_NB);
  return file;
}

}  // namespace

// Of a few tries the one that took least time: there nobody came between the clocks.
trace::ClockPair ReadClocks() {
  constexpr int kTries = 8;
  trace::ClockPair best{};
  uint64_t shortest = UINT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = TraceTicks();
    const int64_t monotonic = NowNs();
    const uint64_t after = TraceTicks();
    const int64_t real = RealNs();
    if (after - before >= shortest) continue;
    shortest = after - before;
    best = {before + (after - before) / 2, monotonic, real};
  }
  return best;
}

TraceChunks* TraceChunks::Open(std::string* path) {
  FileDescriptor file = MakeFile(path);
  if (!file) return nullptr;
  std::unique_ptr<TraceChunks> chunks(new TraceChunks(std::move(file)));
  if (!chunks->MapHeader()) return nullptr;
  chunks->StampClock();
  chunks->header_->first = chunks->header_->later[chunks->header_->last];
  if (!chunks->MakeReady(kReadyAtStart)) return nullptr;
  return chunks.release();
}

bool TraceChunks::MapHeader() {
  errno = posix_fallocate(file_.get(), 0, kHeaderSize);
  if (errno != 0) return false;
  void* page = mmap(nullptr, kHeaderSize, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (page == MAP_FAILED) return false;
  header_ = static_cast<trace::FileHeader*>(page);
  std::memcpy(header_->magic, trace::kMagic, sizeof(header_->magic));
  header_->version = trace::kVersion;
  header_->chunk_size = kChunkSize;
  header_->pid = getpid();
  header_->rank = -1;
  return true;
}

// The one that is not valid is written, and then becomes it.
void TraceChunks::StampClock() {
  const uint32_t other = 1 - header_->last;
  header_->later[other] = ReadClocks();
  std::atomic_ref(header_->last).store(other, std::memory_order_release);
}

// --- For threads that write ---------------------------------------------------------------------------------------------

TraceChunk* TraceChunks::Take() {
  if (ready_.load(std::memory_order_relaxed) <= 0) return nullptr;
  const uint32_t start = hint_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < kMostChunks; ++i) {
    TraceChunk& chunk = chunks_[(start + i) % kMostChunks];
    uint32_t ready = TraceChunk::kReady;
    if (chunk.state.load(std::memory_order_relaxed) != ready ||
        !chunk.state.compare_exchange_strong(ready, TraceChunk::kTaken, std::memory_order_acquire))
      continue;
    hint_.store((start + i) % kMostChunks, std::memory_order_relaxed);
    // One wake-up for many: the preparer is called when a quarter of what it keeps ready is gone, and again by each of the last.
    const int left = ready_.fetch_sub(1, std::memory_order_relaxed) - 1;
    if (left == static_cast<int>(kReadyAlways * 3 / 4) || left <= static_cast<int>(kReadyAtStart)) {
      calls_.fetch_add(1, std::memory_order_seq_cst);
      FutexWake(calls_, 1);
    }
    return &chunk;
  }
  return nullptr;
}

void TraceChunks::GiveBack(TraceChunk* chunk, size_t used) {
  // Who takes it says whose it is, and then has room for any record.
  if (used + trace::kSlotSize + trace::kMostRecordSize > kChunkSize) return HandInFull(chunk);
  chunk->used = used;
  ready_.fetch_add(1, std::memory_order_relaxed);
  chunk->state.store(TraceChunk::kReady, std::memory_order_release);
}

void TraceChunks::HandInFull(TraceChunk* chunk) {
  full_.fetch_add(1, std::memory_order_relaxed);
  chunk->state.store(TraceChunk::kFull, std::memory_order_release);
}

bool TraceChunks::Append(const void* slots, size_t bytes) {
  if (own_ != nullptr && own_->used + bytes > kChunkSize) HandInFull(std::exchange(own_, nullptr));
  if (own_ == nullptr) own_ = Take();
  if (own_ == nullptr) return false;
  std::byte* at = own_->begin + own_->used;
  constexpr size_t kHead = sizeof(trace::RecordHead);
  std::memcpy(at + kHead, static_cast<const std::byte*>(slots) + kHead, bytes - kHead);
  uint64_t head;
  std::memcpy(&head, slots, kHead);
  std::atomic_ref(*reinterpret_cast<uint64_t*>(at)).store(head, std::memory_order_release);
  own_->used += bytes;
  return true;
}

// --- The preparer -------------------------------------------------------------------------------------------------------

void TraceChunks::Start() {
  preparer_ = std::thread([this] { Prepare(); });
}

void TraceChunks::Prepare() {
  const OwnThread self("rw-trace");
  int64_t next_look = 0;
  while (!ending_.load(std::memory_order_acquire)) {
    const uint32_t calls = calls_.load(std::memory_order_seq_cst);
    UnmapFull();
    MakeReady(kReadyAlways);
    if (const int64_t now = NowNs(); now >= next_look) {
      next_look = now + int64_t{kLookAroundMs} * 1000000;
      StampClock();
      if (look_around != nullptr) look_around(*this);
    }
    FutexWait(calls_, calls, Deadline::AfterMs(kLookAroundMs));
  }
}

bool TraceChunks::MakeReady(size_t wanted) {
  while (ready_.load(std::memory_order_relaxed) < static_cast<int>(wanted)) {
    if (!MapExtent()) return false;
  }
  return true;
}

bool TraceChunks::MapExtent() {
  std::array<TraceChunk*, kExtent> absent;
  size_t found = 0;
  for (size_t i = 0; i < kMostChunks && found < kExtent; ++i) {
    if (chunks_[i].state.load(std::memory_order_acquire) == TraceChunk::kAbsent) absent[found++] = &chunks_[i];
  }
  if (found == 0) return false;
  const size_t bytes = found * kChunkSize;
  errno = posix_fallocate(file_.get(), static_cast<off_t>(end_), static_cast<off_t>(bytes));
  if (errno != 0) return false;  // the disk is full: perhaps not for ever
  void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), static_cast<off_t>(end_));
  if (pages == MAP_FAILED) return false;
  // The first store into a page is the costly one, and MAP_POPULATE does not make it where pages are shared.
  for (size_t at = 0; at < bytes; at += kPage) static_cast<volatile char*>(pages)[at] = 0;
  for (size_t i = 0; i < found; ++i) {
    TraceChunk& chunk = *absent[i];
    chunk.begin = static_cast<std::byte*>(pages) + i * kChunkSize;
    chunk.offset = end_ + i * kChunkSize;
    chunk.used = 0;
    ready_.fetch_add(1, std::memory_order_relaxed);
    chunk.state.store(TraceChunk::kReady, std::memory_order_release);
  }
  end_ += bytes;
  return true;
}

void TraceChunks::UnmapFull() {
  if (full_.load(std::memory_order_relaxed) == 0) return;
  for (TraceChunk& chunk : chunks_) {
    if (chunk.state.load(std::memory_order_acquire) != TraceChunk::kFull) continue;
    munmap(chunk.begin, kChunkSize);
    full_.fetch_sub(1, std::memory_order_relaxed);
    chunk.state.store(TraceChunk::kAbsent, std::memory_order_release);
  }
}

void TraceChunks::End() {
  if (ending_.exchange(true, std::memory_order_acq_rel)) return;
  calls_.fetch_add(1, std::memory_order_seq_cst);
  FutexWakeAll(calls_);
  if (preparer_.joinable()) preparer_.join();
  if (look_around != nullptr) look_around(*this);
  StampClock();
  uint64_t end = end_;
  std::vector<uint64_t> unused;
  for (TraceChunk& chunk : chunks_) {
    uint32_t ready = TraceChunk::kReady;
    if (!chunk.state.compare_exchange_strong(ready, TraceChunk::kTaken, std::memory_order_acquire)) continue;
    ready_.fetch_sub(1, std::memory_order_relaxed);
    if (chunk.used == 0) unused.push_back(chunk.offset);
  }
  // From the end the file gets shorter; in the middle it gets holes.
  std::sort(unused.rbegin(), unused.rend());
  for (const uint64_t offset : unused) {
    if (offset + kChunkSize == end) {
      end = offset;
    } else {
      static_cast<void>(fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), kChunkSize));
    }
  }
  if (ftruncate(file_.get(), static_cast<off_t>(end)) != 0) return;  // a file that stays longer is as good
}

}  // namespace ropeway
