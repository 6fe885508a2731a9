// What decides by numbers in memory what runs next: conditions of captured graphs, and the switches, labels and started streams of models
// built by hand. The numbers are not known here. Every way that a program may take counts, but two that exclude each other never meet.
#include <algorithm>

#include "check/model/model.h"

namespace ropeway::check {

// Bodies one after the other: each may run, and none beside another. Signals must be given and taken as often as they really are; then only
// one body runs, by turns.
void Model::RunBodies(StreamIndex index, const Step& step) {
  std::vector<std::shared_ptr<Graph>>& bodies = step.control->bodies;
  const auto signals = [](const std::shared_ptr<Graph>& body) {
    return AnyStep(*body, [](const Step& inside) { return inside.flag != nullptr || inside.word != nullptr; });
  };
  const bool all = std::none_of(bodies.begin(), bodies.end(), signals);
  const size_t turn = bodies.empty() ? 0 : step.control->turns++ % bodies.size();
  for (size_t i = 0; i < bodies.size(); ++i) {
    if (!all && i != turn) continue;
    for (const StreamIndex branch : bodies[i]->branches) StartBranch(branch, RunnerOf(index), index);
    RunNodes(bodies[i].get());
    for (const StreamIndex branch : bodies[i]->branches) Wait(index, streams_[branch].clock, &streams_[branch]);
  }
}

// --- Models built by hand -----------------------------------------------------------------------------------------------

struct Model::LaneRun {
  Graph* tasks = nullptr;
  size_t next = 0;
  bool active = false;
};

// One execution, along one way: which, goes by turns. Two numbers that are compared twice compare alike, until the same switch is reached
// again, as in a loop.
class Model::LaneRuns {
 public:
  LaneRuns(Model& model, StreamIndex index, Graph* graph) : model_(model), index_(index), graph_(*graph), turn_(graph->turns++) {
    for (const Graph::Lane& lane : graph->lanes) {
      lanes_.push_back({lane.tasks.get(), 0, false});
      budget_ += 8 * (lane.tasks->nodes.size() + 1);
    }
  }

  void Run() {
    for (size_t i = 0; i < lanes_.size(); ++i)
      if (graph_.lanes[i].head) Start(i, 0, index_);
    while (budget_ > 0 && AnyActive())
      if (!RunWhatCan()) Force();
    if (mark_) return model_.Wait(index_, *mark_, &model_.streams_[mark_branch_]);
    for (const LaneRun& lane : lanes_) {  // nobody came to the mark on this way
      const Stream& branch = model_.streams_[BranchOf(lane)];
      model_.Wait(index_, branch.clock, &branch);
    }
  }

 private:
  static StreamIndex BranchOf(const LaneRun& lane) { return lane.tasks->branches.front(); }
  bool AnyActive() const {
    return std::any_of(lanes_.begin(), lanes_.end(), [](const LaneRun& lane) { return lane.active; });
  }

  void Start(size_t lane, size_t at, StreamIndex behind) {
    if (lanes_[lane].active) return;  // the task fails
    model_.StartBranch(BranchOf(lanes_[lane]), index_, behind);
    lanes_[lane].next = at;
    lanes_[lane].active = at < lanes_[lane].tasks->nodes.size();
  }

  bool RunWhatCan() {
    bool moved = false;
    for (LaneRun& lane : lanes_) {
      while (lane.active && budget_ > 0 && model_.CanPass(BranchOf(lane), lane.tasks->nodes[lane.next].step)) {
        RunOne(&lane);
        moved = true;
      }
    }
    return moved;
  }

  // All of them wait: for somebody outside.
  void Force() {
    LaneRun& lane = *std::find_if(lanes_.begin(), lanes_.end(), [](const LaneRun& one) { return one.active; });
    model_.WaitForAll(BranchOf(lane));
    RunOne(&lane);
  }

  void RunOne(LaneRun* lane) {
    --budget_;
    Graph::Node& node = lane->tasks->nodes[lane->next++];
    model_.RunNode(&node);
    switch (node.step.effect) {
      case Step::Effect::kFinish:
        mark_ = model_.streams_[node.branch].clock;
        mark_branch_ = node.branch;
        break;
      case Step::Effect::kActivate: StartStream(node.step.control->target, node.branch); break;
      case Step::Effect::kSwitch:
        if (!Taken(*node.step.control, visits_[&node]++)) break;
        lane->next = lane->tasks->nodes.size();
        StartStream(node.step.control->target, node.branch);
        break;
      case Step::Effect::kJump: Jump(lane, node); break;
      default: break;
    }
    lane->active = lane->next < lane->tasks->nodes.size();
  }

  void StartStream(StreamIndex stream, StreamIndex behind) {
    for (size_t i = 0; i < lanes_.size(); ++i)
      if (graph_.lanes[i].stream == stream) Start(i, 0, behind);
  }

  // As if the left number were the same, greater, or less.
  bool Taken(const Control& control, size_t visits) const {
    constexpr int kSigns[] = {0, 1, -1};
    const int sign = kSigns[(turn_ + visits) % 3];
    switch (control.comparison) {
      case 0: return sign == 0;
      case 1: return sign != 0;
      case 2: return sign > 0;
      case 3: return sign >= 0;
      case 4: return sign < 0;
      default: return sign <= 0;
    }
  }

  // Every label once, and from then on the last, which is behind the loop in most programs. One that is not set: the task fails.
  void Jump(LaneRun* lane, const Graph::Node& node) {
    const std::vector<const void*>& labels = node.step.control->labels;
    if (labels.empty()) return;
    const size_t visits = visits_[&node]++;
    const void* const label = labels[visits < labels.size() ? (turn_ + visits) % labels.size() : labels.size() - 1];
    for (size_t i = 0; i < lanes_.size(); ++i) {
      const std::vector<Graph::Node>& nodes = lanes_[i].tasks->nodes;
      const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const Graph::Node& one) {
        return one.step.effect == Step::Effect::kLabel && one.step.control->label == label;
      });
      if (at == nodes.end()) continue;
      const auto place = static_cast<size_t>(at - nodes.begin());
      if (&lanes_[i] == lane) {
        lane->next = place;
        return;
      }
      lane->next = lane->tasks->nodes.size();
      return Start(i, place, node.branch);
    }
  }

  Model& model_;
  const StreamIndex index_;
  Graph& graph_;
  const uint64_t turn_;
  std::vector<LaneRun> lanes_;
  size_t budget_ = 0;  // of steps: a loop need not have an end here
  std::map<const Graph::Node*, size_t> visits_;
  std::optional<Clock> mark_;
  StreamIndex mark_branch_ = 0;
};

void Model::RunLanes(StreamIndex index, Graph* graph) { LaneRuns(*this, index, graph).Run(); }

}  // namespace ropeway::check
