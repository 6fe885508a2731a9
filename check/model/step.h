// An operation that was put into a stream, as the model sees it: which bytes it uses, and what it does to the order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "check/model/range_map.h"

namespace ropeway::check {

struct Access {
  Range range;
  bool write = false;
  bool of_view = false;  // the bytes are judged at their original; this is kept for the end of the view
};

// A point that others can wait for, once the stream has come to it: the record of an event.
struct Point {
  bool passed = false;
  Clock clock;  // what is in front of whoever waits, when passed
  Place place;
  uint32_t operation = 0;
  bool waited_for = false;  // by a stream or by the host
  bool in_capture = false;
};

// What a stream can wait for, and another releases. A release takes effect before the call that submits it returns, so others may see that
// somebody has passed before the release is known here: those who pass meanwhile are kept, and get its order when it is.
struct Signal {
  struct Early {
    Place place;
    bool takes;
  };
  unsigned coming = 0;  // calls that release it and have not returned
  std::vector<Early> early;
};

// A bit that records set and waits look at: a classic event (a wait leaves it, a reset clears it) or a notify (a wait takes it).
struct Flag : Signal {
  bool set = false;
  Clock clock;
  bool latest = false;  // it stands for the latest record, and not for the first since it was taken back
};

// A word of device memory that streams wait for. What a plain copy put there is not known.
struct Word : Signal {
  struct Store {
    bool known = false;
    uint64_t value = 0;
    Clock clock;
    Place place;
  };
  std::vector<Store> stores;  // since the host wrote it, or the last one that it saw finished
};

// A function of the program, each time that a stream comes to it: replays run theirs one after the other.
struct Function {
  struct Run {
    Place place;
    Clock front;                             // what is over when it begins
    std::map<StreamIndex, uint64_t> behind;  // the first number of each stream that waits until it returns
    bool begun = false;

    bool InFrontOf(const Place& other) const {
      const auto at = behind.find(other.stream);
      return at != behind.end() && other.number >= at->second;
    }
  };
  bool holds_its_stream = true;
  std::deque<std::shared_ptr<Run>> runs;  // that have not begun
};

struct Graph;

// What decides by numbers in device memory, which nobody knows here, what runs next.
struct Control {
  std::vector<std::shared_ptr<Graph>> bodies;  // of kChoose
  const void* label = nullptr;                 // of kLabel
  std::vector<const void*> labels;             // of kJump: one by its index
  StreamIndex target = 0;                      // of kActivate and kSwitch: the stream as the program has it
  uint8_t comparison = 0;                      // of kSwitch, as aclrtSwitchStream has them
  uint64_t turns = 0;
};

struct Step {
  enum class Effect : uint8_t {
    kNone,
    kPass,
    kWaitPoint,
    kClearFlag,
    kWaitFlag,
    kTakeFlag,
    kStore,
    kWaitWord,
    kCall,
    kReplay,
    kChoose,
    kLabel,
    kJump,
    kActivate,
    kSwitch,
    kFinish,
  };
  Effect effect = Effect::kNone;
  uint8_t condition = 0;  // of a word, as aclrtValueWait has them
  uint32_t operation = 0;
  uint64_t number = 0;
  uint64_t value = 0;
  std::shared_ptr<Point> point;
  std::shared_ptr<Flag> flag;  // of kPass, too: set when the point is passed
  std::shared_ptr<Word> word;
  std::shared_ptr<Function> function;
  std::shared_ptr<Graph> graph;
  std::shared_ptr<Control> control;
  std::vector<Access> accesses;
};

// What was captured: steps of one or several branches, in the order of the calls. Every branch is a stream of its own in the model.
struct Graph {
  struct Node {
    StreamIndex branch;
    Step step;
  };
  // Of a model built by hand: a stream that is bound to it, with its tasks. Heads start by themselves, others are started by tasks.
  struct Lane {
    StreamIndex stream;
    bool head;
    std::shared_ptr<Graph> tasks;  // which has one branch
  };
  std::vector<Node> nodes;
  std::vector<StreamIndex> branches;
  std::vector<Lane> lanes;
  bool kept = false;       // what a stream keeps, until a model runs it
  uint64_t turns = 0;      // of executions: each takes another way where nobody knows it
  Clock end;               // of the replays so far: they run one after the other
  Place last;              // the latest replay
  uint32_t operation = 0;  // what captured it
};

// Tells every step that a replay may come to.
template <typename Tell>
void ForEachStep(const Graph& graph, Tell tell) {
  for (const Graph::Node& node : graph.nodes) {
    tell(node.step);
    if (node.step.control == nullptr) continue;
    for (const std::shared_ptr<Graph>& body : node.step.control->bodies) ForEachStep(*body, tell);
  }
  for (const Graph::Lane& lane : graph.lanes) ForEachStep(*lane.tasks, tell);
}

template <typename Predicate>
bool AnyStep(const Graph& graph, Predicate is_it) {
  bool found = false;
  ForEachStep(graph, [&](const Step& step) { found = found || is_it(step); });
  return found;
}

}  // namespace ropeway::check
