#include "profile/markers.h"

#include <atomic>
#include <new>
#include <set>
#include <string>

#include "acl/error_codes/rt_error_codes.h"
#include "base/mutex.h"

namespace ropeway {
namespace {

void TellMark(const MarkSight& sight) {
  if (Watcher* const watcher = ActiveWatcher()) watcher->Marked(sight);
}

// Lives as long as a task names it, in a queue or in a graph.
class StreamMark final : public Marker {
 public:
  explicit StreamMark(const MarkSight& sight) : sight_(sight) {}
  void Reached() override {
    TellMark(sight_);
    Dropped();
  }
  void Dropped() override {
    if (tasks_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  void Repeat() override { tasks_.fetch_add(1, std::memory_order_relaxed); }

 private:
  ~StreamMark() = default;
  const MarkSight sight_;
  std::atomic<int> tasks_{1};
};

MarkSight SightOf(const Mark& mark, const Stream* stream, bool in_stream) {
  return {mark.kind,
          in_stream,
          stream == nullptr ? 0 : static_cast<uint32_t>(stream->id()),
          stream == nullptr ? -1 : stream->device(),
          mark.id,
          mark.text,
          mark.domain};
}

struct LastingTexts {
  Mutex mutex{LockRank::kMarkTexts};
  std::set<std::string, std::less<>> texts RW_GUARDED_BY(mutex);  // whose nodes stay where they are
};

}  // namespace

const char* LastingText(std::string_view text) try {
  static auto* const all = new LastingTexts;
  LockGuard lock(all->mutex);
  auto found = all->texts.find(text);
  if (found == all->texts.end()) found = all->texts.emplace(text).first;
  return found->c_str();
} catch (const std::bad_alloc&) {
  return nullptr;
}

uint64_t NewMarkId() {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void SetMark(const Mark& mark) { TellMark(SightOf(mark, nullptr, false)); }

Status SetMark(const Mark& mark, Stream& stream, uint32_t generation, const char* call) {
  TellMark(SightOf(mark, &stream, false));
  return SetStreamMark(mark, stream, generation, call);
}

Status SetStreamMark(const Mark& mark, Stream& stream, uint32_t generation, const char* call) {
  auto* const marker = new (std::nothrow) StreamMark(SightOf(mark, &stream, true));
  if (marker == nullptr) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "host memory is exhausted");
  Task task = MarkTask(marker, {}, call);
  Status status = stream.Enqueue(generation, &stream.failure_scope(), task);
  if (!status.ok()) marker->Dropped();
  return status;
}

}  // namespace ropeway
