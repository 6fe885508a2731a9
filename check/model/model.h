// The order that a program asked for, and the bytes that its operations use. It knows no API: hooks/ tell it what was called, and it tells
// a judge what is not ordered.
//
// - The host is one timeline. What one thread saw finished, every later call may rely on.
// - Steps of a stream are worked off at once, in order. A step that waits for what has not been submitted yet holds its stream up, and
//   what is behind it is judged when the other side is known, or when the host saw the stream finished without it.
// - Not thread-safe: the caller holds one lock.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <span>
#include <string>

#include "check/model/step.h"
#include "check/model/watcher.h"

namespace ropeway::check {

// Two uses of the same bytes that nothing orders.
struct Conflict {
  Use earlier;
  bool earlier_writes;
  Use later;
  bool later_writes;
  Range part;
};

class Model {
 public:
  using OnConflict = std::function<void(const Conflict&)>;
  explicit Model(OnConflict on_conflict) : on_conflict_(std::move(on_conflict)) {}

  void SetWatcher(Watcher* watcher) { watcher_ = watcher; }

  StreamIndex AddStream();
  // Puts a step behind all others of the stream, or into the graph that it is captured into.
  Place Submit(StreamIndex stream, Step step);
  // The same for the many that only use bytes.
  Place SubmitUse(StreamIndex stream, uint32_t operation, std::span<const Access> accesses);

  // The host saw this finished, and with it all that is in front of it.
  void Finish(const Place& place);
  void Finish(const Point& point);
  void Finish(const Clock& clock);
  Place LastOf(StreamIndex stream) const { return {stream, streams_[stream].submitted}; }
  bool Finished(const Place& place) const { return place.number <= streams_[place.stream].finished; }
  bool Pending(StreamIndex stream) const { return !Finished(LastOf(stream)); }

  // What the host does itself, at once: calls `meet` with every unfinished use that it passes.
  using OnUse = std::function<void(const Use&, bool written, const Range& part)>;
  void PassUses(const Range& range, bool write, const OnUse& meet);
  void Forget(const Range& range);
  void HostWrote(const Range& range);
  std::shared_ptr<Word> WordAt(uintptr_t address);

  // Capturing: steps of this stream go into a branch of the graph instead.
  void Capture(StreamIndex stream, std::shared_ptr<Graph> graph);
  void EndCapture(const Graph& graph);
  std::shared_ptr<Graph> CaptureOf(StreamIndex stream) const { return streams_[stream].capture; }
  bool IsBranch(StreamIndex stream) const { return streams_[stream].branch; }
  // A branch is called by the stream that runs it.
  StreamIndex RunnerOf(StreamIndex stream) const { return streams_[stream].branch ? streams_[stream].runner : stream; }

  // What the head of the stream waits for, for a report of a hang; null when it waits for nothing.
  const Step* HeldAt(StreamIndex stream) const;
  // The point that the stream waited for last, for hints.
  std::shared_ptr<const Point> LastWait(StreamIndex stream) const { return streams_[stream].last_wait; }
  size_t ranges() const { return ranges_.size(); }

 private:
  struct Stream {
    Clock clock;
    uint64_t submitted = 0;
    uint64_t finished = 0;  // the host's knowledge
    std::deque<Step> held;
    std::shared_ptr<Graph> capture;
    StreamIndex capture_branch = 0;
    bool branch = false;
    StreamIndex runner = 0;
    std::shared_ptr<const Point> last_wait;
  };

  bool CanPass(const Step& step) const;
  void PassHeld(const Place& place, const Step& step, const Range& range, bool write, const OnUse& meet) const;
  void Perform(StreamIndex index, const Step& step);
  void Use(StreamIndex index, uint64_t number, uint32_t operation, std::span<const Access> accesses);
  void Wait(StreamIndex index, const Clock& clock, const void* token);
  void Release(StreamIndex index, const void* token);
  void Replay(StreamIndex index, const Step& step);
  void RunNodes(Graph* graph);
  void RunNode(Graph::Node* node);
  void TellWords(StreamIndex index, const Range& range);
  void Drain(StreamIndex index, bool by_force, uint64_t up_to);
  void DrainOthers();
  bool Ordered(const Place& earlier, const Stream& later, StreamIndex later_index) const;

  OnConflict on_conflict_;
  Watcher* watcher_ = nullptr;
  std::deque<Stream> streams_;
  RangeMap ranges_;
  std::map<uintptr_t, std::shared_ptr<Word>> words_;
  std::vector<StreamIndex> held_up_;
};

}  // namespace ropeway::check
