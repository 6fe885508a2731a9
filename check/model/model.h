// The order that a program asked for, and the bytes that its operations use. It knows no API: hooks/ tell it what was called, and it tells
// a judge what is not ordered.
//
// - The host is one timeline. What one thread saw finished, every later call may rely on.
// - Steps of a stream are worked off at once, in order. A step that waits for what has not been submitted yet holds its stream up, and
//   what is behind it is judged when the other side is known, or when the host saw the stream finished without it.
// - Not thread-safe: the caller holds one lock.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "check/model/step.h"
#include "check/model/views.h"
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
  // A stream that is over: its index comes back for another one, which goes on with its numbers, so that what is known of them stays true.
  void Retire(StreamIndex stream);
  // The number of a place as its stream's user counts.
  uint64_t NumberOf(const Place& place) const { return place.number - streams_[place.stream].before; }
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
  // A function that runs is nobody's pending work.
  bool Pending(StreamIndex stream) const {
    return streams_[stream].submitted > std::max(streams_[stream].finished, streams_[stream].begun);
  }
  // The replays so far are over, and not what is behind them.
  void FinishReplays(const Graph& graph);
  const Clock& ClockOf(StreamIndex stream) const { return streams_[stream].clock; }

  // A launch that was refused, right behind its Submit. Where another thread came in between, a step that does nothing stays.
  void Withdraw(StreamIndex stream, const Function& function);
  // A function of the program begins, and the host with it knows what is over; and it has returned. Null when it is not known which run.
  std::shared_ptr<Function::Run> Begin(Function& function);
  void End(const std::shared_ptr<Function::Run>& run);

  // What the host does itself, at once: calls `meet` with every unfinished use that it passes. `by` is the function that does it, which
  // what is behind the function waits for.
  using OnUse = std::function<void(const Use&, bool written, const Range& part)>;
  void PassUses(const Range& range, bool write, const Function::Run* by, const OnUse& meet);
  // The same for the end of these addresses, whatever else leads to the bytes.
  void PassEnd(const Range& range, const OnUse& meet);
  void Forget(const Range& range);
  void HostWrote(const Range& range);
  // These bytes are the stream's from here on: others have to wait for what it has so far. That is no work of the stream.
  void Own(StreamIndex stream, const Range& range, uint32_t operation);
  // Nor are they from here on: whoever used them has to be in front.
  void GiveBack(StreamIndex stream, const Range& range, uint32_t operation);
  // `range` shows the bytes at `original`, until one of the two is forgotten.
  void AddView(const Range& range, uintptr_t original) { views_.Add(range, original); }
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
  // Whether any stream is held up. Without the lock it is a hint.
  bool AnyHeld() const { return any_held_.load(std::memory_order_relaxed); }
  // The stream that has what `step` waits for, behind what it waits for itself.
  std::optional<StreamIndex> HolderOf(const Step& step) const;
  // The point that the stream waited for last, for hints.
  std::shared_ptr<const Point> LastWait(StreamIndex stream) const { return streams_[stream].last_wait; }
  size_t ranges() const { return ranges_.size(); }

 private:
  struct Stream {
    Clock clock;
    uint64_t before = 0;  // numbers of the stream that had the index before
    uint64_t submitted = 0;
    uint64_t finished = 0;  // the host's knowledge
    uint64_t begun = 0;     // the last function that has
    std::deque<Step> held;
    std::shared_ptr<Graph> capture;
    StreamIndex capture_branch = 0;
    bool branch = false;
    StreamIndex runner = 0;
    std::shared_ptr<const Point> last_wait;
  };

  bool CanPass(StreamIndex index, const Step& step) const;
  bool CanReplay(StreamIndex index, const Graph& graph) const;
  const Word::Store* Satisfying(StreamIndex index, const Step& step) const;
  void Pass(const Range& range, bool write, const Function::Run* by, const OnUse& meet) const;
  void PassHeld(StreamIndex index, const Range& range, bool write, const Function::Run* by, const OnUse& meet) const;
  std::vector<Access> Folded(std::span<const Access> accesses) const;
  static void PassEarly(Signal* signal, const Place& place, bool takes);
  bool SettleEarly(Signal* signal, const Clock& clock);
  void AddStore(Word* word, Word::Store store);
  void AddRun(StreamIndex index, const Step& step);
  void DrainTo(const Function& function);
  void Perform(StreamIndex index, const Step& step);
  void Use(StreamIndex index, uint64_t number, uint32_t operation, std::span<const Access> accesses);
  void Wait(StreamIndex index, const Clock& clock, const void* token);
  void Release(StreamIndex index, const void* token);
  void Replay(StreamIndex index, const Step& step);
  void RunNodes(Graph* graph);
  void RunNode(Graph::Node* node);
  void WaitForAll(StreamIndex index);
  void ResetPoints(const Graph& graph);
  void StartBranch(StreamIndex branch, StreamIndex runner, StreamIndex behind);
  // control.cpp
  void RunBodies(StreamIndex index, const Step& step);
  struct LaneRun;
  class LaneRuns;
  void RunLanes(StreamIndex index, Graph* graph);
  void TellWords(const Place& place, const Range& range);
  void TellWatcher(const Place& place, const Access& access);
  void Drain(StreamIndex index, bool by_force, uint64_t up_to);
  void DrainOthers();
  bool Ordered(const Place& earlier, const Stream& later, StreamIndex later_index) const;

  OnConflict on_conflict_;
  Watcher* watcher_ = nullptr;
  std::deque<Stream> streams_;
  std::vector<StreamIndex> retired_;
  RangeMap ranges_;
  std::map<uintptr_t, std::shared_ptr<Word>> words_;
  Views views_;
  std::vector<StreamIndex> held_up_;
  std::atomic<bool> any_held_{false};
  std::vector<std::shared_ptr<Function::Run>> runs_;  // of functions that have not returned
  size_t runs_kept_ = 0;                              // when those that were dropped were taken out last
};

}  // namespace ropeway::check
