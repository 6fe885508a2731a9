// Makes random programs without races. Whatever a step uses is ordered behind what used it before, by an event, a notify, a value or a
// synchronise that the generator puts in front where there is no order yet (program_order.h); everything else is left to chance. Memory is
// freed while work that uses it is queued, and streams, contexts and graphs are ended by other threads.
#pragma once

#include <algorithm>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/stress/program_order.h"
#include "tests/stress/random_program.h"

namespace ropeway_test::programs {

class Generator {
 public:
  Generator(uint64_t seed, Features features)
      : random_(seed), features_(features), memory_fails_(features.failing_allocations && OneIn(2)), host_(order_.AddAgent()) {}

  Program Make() {
    contexts_.push_back({});
    MakeStream(0);
    for (size_t extra = Below(3); extra > 0; --extra) MakeStream(0);
    for (size_t i = 0; i < 4; ++i) MakeBlock(i % 2 == 1);
    const size_t length = 20 + Below(60);
    while (program_.size() < length) OneStep();
    End();
    return std::move(program_);
  }

 private:
  using Use = Order::Use;
  using Point = Order::Point;

  struct Context {
    bool alive = true;
  };
  struct Stream {
    int context = 0;
    size_t agent = 0;
    bool alive = true;    // may be used
    bool ending = false;  // another thread is destroying it
    size_t branch = 0;    // while it is being captured
  };
  struct Block {
    size_t size = 0;
    bool on_host = false;
    bool alive = true;
    bool data = true;  // bytes that the model knows; not addresses
    // Who must be done before it can be freed: host functions, which use memory as the program does, and copies that find it by an
    // address in memory, which fail when it is gone.
    std::vector<Point> users;
    std::vector<Point> replays;  // that use it
    std::vector<Point> cell_readers;
  };
  // Named: found by its address, or used by a host function.
  struct Needs {
    std::vector<Use> uses;
    std::vector<int> named;
    std::vector<int> cells;
  };
  struct Graph {
    int context = 0;
    bool alive = true;
    bool usable = true;  // all of its memory is there
    Needs needs;
  };
  size_t Below(size_t limit) { return random_() % limit; }
  bool OneIn(size_t n) { return Below(n) == 0; }

  Step Make(Op op, int stream = -1) {
    Step step;
    step.op = op;
    step.stream = stream;
    if (stream >= 0) step.context = streams_[static_cast<size_t>(stream)].context;
    return step;
  }
  void Emit(Step step) {
    const bool can_fail = !capturing_ && !step.elsewhere && step.op != Op::kJoin && step.op != Op::kEndCapture;
    if (memory_fails_ && can_fail && OneIn(6)) step.failing = 1 + static_cast<int>(Below(3));
    program_.push_back(std::move(step));
  }

  template <typename Object, typename Good>
  int Pick(const std::vector<Object>& all, Good&& good) {
    std::vector<int> found;
    for (size_t i = 0; i < all.size(); ++i) {
      if (good(all[i])) found.push_back(static_cast<int>(i));
    }
    return found.empty() ? -1 : found[Below(found.size())];
  }
  int AnyStream() {
    return Pick(streams_, [](const Stream& stream) { return stream.alive; });
  }
  int AnyBlock(bool on_host) {
    return Pick(blocks_, [&](const Block& block) { return block.alive && block.data && block.on_host == on_host; });
  }
  Stream& At(int stream) { return streams_[static_cast<size_t>(stream)]; }
  Block& BlockAt(int block) { return blocks_[static_cast<size_t>(block)]; }

  // --- Order ------------------------------------------------------------------------------------------------------------

  // The program's thread does this itself.
  void DoHere(Step step, const std::vector<Use>& uses) {
    for (std::vector<Point> missing; !(missing = order_.Unordered(host_, uses)).empty();) AwaitHere(missing[0]);
    order_.Note(order_.Act(host_), uses);
    Emit(std::move(step));
  }

  // A stream does it: outside a capture behind everything that the program has done so far.
  Point Submit(Step step, const Needs& needs) {
    const int stream = step.stream;
    if (capturing_) {
      for (std::vector<Point> missing; !(missing = capture_.Unordered(At(stream).branch, needs.uses)).empty();)
        Cross(BranchAt(missing[0].agent), stream, EventKind::kEx);
      capture_.Note(capture_.Act(At(stream).branch), needs.uses);
      Keep(needs);
      Emit(std::move(step));
      return {};
    }
    OrderForUse(stream, needs.uses);
    const Point point = order_.Act(At(stream).agent);
    order_.Note(point, needs.uses);
    for (int block : needs.named) BlockAt(block).users.push_back(point);
    for (int block : needs.cells) BlockAt(block).cell_readers.push_back(point);
    Emit(std::move(step));
    return point;
  }
  void OrderForUse(int stream, const std::vector<Use>& uses) {
    order_.Learn(At(stream).agent, order_.ClockOf(host_));
    for (std::vector<Point> missing; !(missing = order_.Unordered(At(stream).agent, uses)).empty();) {
      OrderBehind(missing[0], stream);
      order_.Learn(At(stream).agent, order_.ClockOf(host_));
    }
  }
  // For what orders and uses nothing.
  void Submit(Step step) { Submit(std::move(step), {}); }

  int StreamAt(size_t agent) {
    return Pick(streams_, [&](const Stream& stream) { return stream.agent == agent; });
  }
  int BranchAt(size_t branch) {
    return Pick(streams_,
                [&](const Stream& stream) { return stream.alive && branches_.contains(stream.agent) && stream.branch == branch; });
  }

  void AwaitHere(Point point) {
    const int stream = StreamAt(point.agent);
    if (!At(stream).alive) return Join();
    switch (Below(4)) {
      case 0: return AwaitRecordHere(stream);
      case 1: return SynchronizeDevice(At(stream).context);
      default: return SynchronizeStream(stream);
    }
  }
  void SynchronizeStream(int stream) {
    Emit(Make(Op::kSynchronizeStream, stream));
    order_.Learn(host_, order_.ClockOf(At(stream).agent));
  }
  // Not beside another thread that ends a stream: which of the two gets to an error of it would be chance.
  void SynchronizeDevice(int context) {
    if (std::any_of(streams_.begin(), streams_.end(), [&](const Stream& stream) { return stream.ending && stream.context == context; }))
      Join();
    Step step = Make(Op::kSynchronizeDevice);
    step.context = context;
    Emit(step);
    for (const Stream& stream : streams_) {
      if (stream.alive && stream.context == context) order_.Learn(host_, order_.ClockOf(stream.agent));
    }
  }
  void AwaitRecordHere(int stream) {
    const int event = MakeEvent(OneIn(2) ? EventKind::kDefault : EventKind::kEx, stream);
    Record(event, stream);
    Step step = Make(Op::kSynchronizeEvent, -1);
    step.context = At(stream).context;
    step.object = event;
    Emit(step);
    order_.Learn(host_, order_.ClockOf(At(stream).agent));
    DestroyEvent(event, stream);
  }
  void Join() {
    Emit(Make(Op::kJoin));
    for (Stream& stream : streams_) {
      if (std::exchange(stream.ending, false)) order_.Learn(host_, order_.ClockOf(stream.agent));
    }
    errands_ = 0;
  }

  void OrderBehind(Point point, int stream) {
    const int from = StreamAt(point.agent);
    if (!At(from).alive) return Join();  // and the submit is behind the program
    switch (Below(8)) {
      case 0: return SynchronizeStream(from);
      case 1: return CrossByNotify(from, stream);
      case 2: return CrossByValue(from, stream);
      case 3: return Cross(from, stream, EventKind::kDefault);
      case 4: return Cross(from, stream, EventKind::kClassic);
      default: return Cross(from, stream, EventKind::kEx);
    }
  }

  int MakeEvent(EventKind kind, int stream) {
    Step step = Make(Op::kMakeEvent);
    step.context = At(stream).context;
    step.object = next_object_++;
    step.kind = kind;
    Emit(step);
    return step.object;
  }
  void DestroyEvent(int event, int stream) {
    Step step = Make(Op::kDestroyEvent);
    step.context = At(stream).context;
    step.object = event;
    Emit(step);
  }
  void Record(int event, int stream) {
    Step step = Make(Op::kRecord, stream);
    step.object = event;
    Submit(step);
  }
  void Pass(int from, int to) {
    if (capturing_) return capture_.Learn(At(to).branch, capture_.ClockOf(At(from).branch));
    order_.Learn(At(to).agent, order_.ClockOf(At(from).agent));
  }
  // The event goes at once: what is queued still works.
  void Cross(int from, int to, EventKind kind) {
    const int event = MakeEvent(kind, from);
    Record(event, from);
    Step step = Make(Op::kAwait, to);
    step.object = event;
    Pass(from, to);
    Submit(step);
    DestroyEvent(event, to);
  }
  void CrossByNotify(int from, int to) {
    Step made = Make(Op::kMakeNotify);
    made.context = At(from).context;
    made.object = next_object_++;
    Emit(made);
    for (auto [op, stream] : {std::pair(Op::kRecordNotify, from), std::pair(Op::kAwaitNotify, to)}) {
      Step step = Make(op, stream);
      step.object = made.object;
      if (op == Op::kAwaitNotify) Pass(from, to);
      Submit(step);
    }
    made.op = Op::kDestroyNotify;
    Emit(made);
  }
  // The values of a word only grow, in an order that the program has.
  void CrossByValue(int from, int to) {
    if (word_ < 0 || OneIn(4)) word_ = MakeBlock(false, sizeof(uint64_t), false);
    const int word = word_;
    const Needs needs = {{{word, 0, sizeof(uint64_t), true}}, {word}, {}};
    OrderForUse(from, needs.uses);  // which may take values itself
    Step store = Make(Op::kStore, from);
    store.to = {word, 0};
    store.value = ++last_value_;
    Submit(store, needs);
    Step wait = Make(Op::kAwaitValue, to);
    wait.from = {word, 0};
    wait.value = store.value;
    Pass(from, to);
    Submit(wait, {{}, {word}, {}});
  }

  // --- Memory -----------------------------------------------------------------------------------------------------------

  int MakeBlock(bool on_host) { return MakeBlock(on_host, 64 * (1 + Below(8)), true); }
  // Its first bytes are written at once. Had it been given out too early, work that is still queued would write over them, or read them.
  int MakeBlock(bool on_host, size_t size, bool data) {
    const int number = static_cast<int>(blocks_.size());
    Block block;
    block.size = size;
    block.on_host = on_host;
    block.data = data;
    blocks_.push_back(block);
    Step step = Make(Op::kAllocate);
    step.object = number;
    step.size = size;
    step.on_host = on_host;
    Emit(step);
    Step first = Make(Op::kWrite);
    first.to = {number, 0};
    first.size = size;
    first.value = data ? 1 + Below(1 << 20) : 0;
    DoHere(first, {{number, 0, size, true}});
    return number;
  }
  bool AllKnown(const std::vector<Point>& points) {
    return std::all_of(points.begin(), points.end(), [&](Point point) { return order_.Knows(host_, point); });
  }
  bool MayBeFreed(const Block& block) {
    if (!block.alive || !AllKnown(block.users)) return false;
    if (!features_.free_under_replay && !AllKnown(block.replays)) return false;
    return features_.free_cells || AllKnown(block.cell_readers);
  }
  void Free(int number) {
    BlockAt(number).alive = false;
    if (number == word_) word_ = -1;
    // Replays that are queued go on; there can be no more of them.
    for (Graph& graph : graphs_) {
      if (std::any_of(graph.needs.uses.begin(), graph.needs.uses.end(), [&](const Use& use) { return use.block == number; }))
        graph.usable = false;
    }
    Step step = Make(Op::kFree);
    step.object = number;
    Emit(step);
  }
  void FreeOne() {
    const int number = Pick(blocks_, [&](const Block& block) { return MayBeFreed(block); });
    if (number < 0) return;
    const bool on_host = BlockAt(number).on_host;
    const size_t size = BlockAt(number).size;
    const bool data = BlockAt(number).data;
    Free(number);
    if (data) MakeBlock(on_host, size, true);  // most likely at the same place, as soon as that may be
    if (!data && OneIn(2)) MakeBlock(false, size, true);
  }

  // --- Work -------------------------------------------------------------------------------------------------------------

  Place PlaceIn(int block, size_t size, size_t unit = 1) { return {block, Below((BlockAt(block).size - size) / unit + 1) * unit}; }
  Use UseOf(const Place& place, size_t size, bool writes) { return {place.block, place.offset, size, writes}; }
  // Two different blocks, at least one of them on the device.
  bool TwoBlocks(int* to, int* from, bool both_on_device) {
    *to = AnyBlock(!both_on_device && OneIn(3));
    if (*to < 0) return false;
    *from = AnyBlock(!both_on_device && !BlockAt(*to).on_host && OneIn(2));
    return *from >= 0 && *from != *to;
  }
  size_t SizeFor(int to, int from, size_t unit = 1) { return unit * (1 + Below(std::min(BlockAt(to).size, BlockAt(from).size) / unit)); }

  void Work(int stream) {
    switch (Below(12)) {
      case 0: return Fill(stream);
      case 1: return Xor(stream);
      case 2: return Rows(stream);
      case 3: return Batch(stream);
      case 4: return Add(stream);
      case 5: return Indirect(stream, Op::kDescribe);
      case 6: return Indirect(stream, Op::kPointCells);
      case 7: return Fail(stream);
      default: return Copy(stream);
    }
  }
  void Copy(int stream) {
    int to, from;
    if (!TwoBlocks(&to, &from, false)) return;
    Step step = Make(Op::kCopy, stream);
    step.size = SizeFor(to, from);
    step.to = PlaceIn(to, step.size);
    step.from = PlaceIn(from, step.size);
    step.named_kind = OneIn(2);
    Submit(step, {{UseOf(step.to, step.size, true), UseOf(step.from, step.size, false)}, {}, {}});
  }
  void Fill(int stream) {
    const int to = AnyBlock(false);
    if (to < 0) return;
    Step step = Make(Op::kFill, stream);
    step.size = 1 + Below(BlockAt(to).size);
    step.to = PlaceIn(to, step.size);
    step.value = Below(256);
    Submit(step, {{UseOf(step.to, step.size, true)}, {}, {}});
  }
  void Xor(int stream) {
    const int to = AnyBlock(true);
    if (to < 0 || memory_fails_) return;
    Step step = Make(Op::kXor, stream);
    step.size = 1 + Below(BlockAt(to).size);
    step.to = PlaceIn(to, step.size);
    step.value = 1 + Below(255);
    Submit(step, {{UseOf(step.to, step.size, true)}, {to}, {}});
  }
  void Rows(int stream) {
    int to, from;
    if (!TwoBlocks(&to, &from, false)) return;
    Step step = Make(Op::kCopyRows, stream);
    step.rows = 1 + Below(4);
    const size_t share = std::min(BlockAt(to).size, BlockAt(from).size) / step.rows;
    step.size = 1 + Below(share);
    step.to_pitch = step.size + Below(share - step.size + 1);
    step.from_pitch = step.size + Below(share - step.size + 1);
    step.to = {to, 0};
    step.from = {from, 0};
    Needs needs;
    for (size_t row = 0; row < step.rows; ++row) {
      needs.uses.push_back({to, row * step.to_pitch, step.size, true});
      needs.uses.push_back({from, row * step.from_pitch, step.size, false});
    }
    Submit(step, needs);
  }
  // Pieces side by side, so that their order does not matter.
  void Batch(int stream) {
    const bool to_host = OneIn(2);
    const int to = AnyBlock(to_host), from = AnyBlock(!to_host);
    if (to < 0 || from < 0) return;
    Step step = Make(Op::kCopyBatch, stream);
    Needs needs;
    const size_t count = 1 + Below(3);
    const size_t share = std::min(BlockAt(to).size, BlockAt(from).size) / count;
    for (size_t i = 0; i < count; ++i) {
      const Piece piece = {{to, i * share}, PlaceIn(from, share), 1 + Below(share)};
      step.pieces.push_back(piece);
      needs.uses.push_back(UseOf(piece.to, piece.size, true));
      needs.uses.push_back(UseOf(piece.from, piece.size, false));
    }
    Submit(step, needs);
  }
  void Add(int stream) {
    int to, from;
    if (!TwoBlocks(&to, &from, true)) return;
    Step step = Make(Op::kAdd, stream);
    step.size = SizeFor(to, from, sizeof(uint32_t));
    step.to = PlaceIn(to, step.size, sizeof(uint32_t));
    step.from = PlaceIn(from, step.size, sizeof(uint32_t));
    Submit(step, {{UseOf(step.to, step.size, true), UseOf(step.from, step.size, false)}, {}, {}});
  }
  void Fail(int stream) {
    const int to = AnyBlock(false);
    if (to < 0 || !OneIn(3)) return;
    Step step = Make(Op::kFail, stream);
    step.to = {to, 0};
    step.size = 8;
    Submit(step);
  }
  // A copy whose addresses lie in device memory. In a capture, one that was prepared before.
  struct Prepared {
    Step step;
    Needs needs;
  };
  bool Prepare(Op how, Prepared* prepared) {
    int to, from;
    if (!TwoBlocks(&to, &from, true)) return false;
    Step step = Make(how);
    step.size = SizeFor(to, from);
    step.to = PlaceIn(to, step.size);
    step.from = PlaceIn(from, step.size);
    const int through = MakeBlock(false, 64, false);
    step.through = {through, 0};
    DoHere(step, {{through, 0, 64, true}});
    const bool cells = how == Op::kPointCells;
    prepared->needs = {{UseOf(step.to, step.size, true), UseOf(step.from, step.size, false), {through, 0, 64, false}}, {to, from}, {}};
    if (cells) prepared->needs.cells.push_back(through);
    step.op = cells ? Op::kCopyByCells : Op::kCopyByDescriptor;
    prepared->step = step;
    return true;
  }
  void Indirect(int stream, Op how) {
    Prepared prepared;
    if (capturing_) {
      if (prepared_.empty()) return;
      prepared = prepared_.back();
      prepared_.pop_back();
    } else if (!Prepare(how, &prepared)) {
      return;
    }
    prepared.step.stream = stream;
    prepared.step.context = At(stream).context;
    Submit(prepared.step, prepared.needs);
    const int through = prepared.step.through.block;
    if (!capturing_ && OneIn(2) && MayBeFreed(BlockAt(through))) {
      Free(through);
      if (OneIn(2)) MakeBlock(false, 64, true);
    }
  }

  // --- Graphs -----------------------------------------------------------------------------------------------------------

  void Keep(const Needs& needs) {
    Needs& all = graphs_.back().needs;
    all.uses.insert(all.uses.end(), needs.uses.begin(), needs.uses.end());
    all.named.insert(all.named.end(), needs.named.begin(), needs.named.end());
    all.cells.insert(all.cells.end(), needs.cells.begin(), needs.cells.end());
  }
  void MakeGraph() {
    const int origin = AnyStream();
    if (origin < 0) return;
    for (size_t i = Below(3); i > 0; --i) {
      Prepared prepared;
      if (Prepare(OneIn(2) ? Op::kDescribe : Op::kPointCells, &prepared)) prepared_.push_back(prepared);
    }
    std::vector<int> members = {origin};
    for (size_t i = 0; i < streams_.size() && members.size() < 3; ++i) {
      const auto number = static_cast<int>(i);
      if (number != origin && streams_[i].alive && streams_[i].context == At(origin).context && OneIn(2)) members.push_back(number);
    }
    const auto graph = static_cast<int>(graphs_.size());
    Graph made;
    made.context = At(origin).context;
    graphs_.push_back(made);
    capture_ = Order();
    branches_.clear();
    for (int member : members) {
      At(member).branch = capture_.AddAgent();
      branches_.insert(At(member).agent);
    }
    Step begin = Make(Op::kBeginCapture, origin);
    begin.object = graph;
    Emit(begin);
    capturing_ = true;
    for (size_t i = 1; i < members.size(); ++i) Cross(origin, members[i], EventKind::kEx);
    for (size_t work = 1 + Below(6); work > 0; --work) Work(members[Below(members.size())]);
    if (OneIn(4)) Emit(Make(Op::kSynchronizeStream, origin));  // refused, and harmless
    for (size_t i = 1; i < members.size(); ++i) Cross(members[i], origin, EventKind::kEx);
    capturing_ = false;
    Step end = Make(Op::kEndCapture, origin);
    end.object = graph;
    Emit(end);
    prepared_.clear();
  }
  void Execute() {
    const int number = Pick(graphs_, [](const Graph& graph) { return graph.alive && graph.usable; });
    if (number < 0 || memory_fails_) return;
    const Graph& graph = graphs_[static_cast<size_t>(number)];
    const int stream = Pick(streams_, [&](const Stream& candidate) { return candidate.alive && candidate.context == graph.context; });
    if (stream < 0) return;
    Step step = Make(Op::kExecute, stream);
    step.object = number;
    const Point point = Submit(step, graph.needs);
    for (const Use& use : graph.needs.uses) BlockAt(use.block).replays.push_back(point);
  }
  void DestroyGraph() {
    const int number = Pick(graphs_, [](const Graph& graph) { return graph.alive; });
    if (number >= 0) DestroyGraph(number, OneIn(2));
  }
  void DestroyGraph(int number, bool elsewhere) {
    Graph& graph = graphs_[static_cast<size_t>(number)];
    graph.alive = false;
    Step step = Make(Op::kDestroyGraph);
    step.context = graph.context;
    step.object = number;
    step.elsewhere = elsewhere;
    errands_ += elsewhere;
    Emit(step);
  }

  // --- Streams and contexts ---------------------------------------------------------------------------------------------

  int MakeStream(int context) {
    const auto number = static_cast<int>(streams_.size());
    Stream stream;
    stream.context = context;
    stream.agent = order_.AddAgent();
    streams_.push_back(stream);
    Emit(Make(Op::kMakeStream, number));
    return number;
  }
  void MakeContext() {
    if (std::count_if(contexts_.begin(), contexts_.end(), [](const Context& context) { return context.alive; }) > 2) return;
    const auto number = static_cast<int>(contexts_.size());
    contexts_.push_back({});
    Step step = Make(Op::kMakeContext);
    step.context = number;
    Emit(step);
    for (size_t i = 1 + Below(2); i > 0; --i) MakeStream(number);
  }
  void DestroyStream(int number, bool elsewhere) {
    Stream& stream = At(number);
    Step step = Make(Op::kDestroyStream, number);
    step.elsewhere = elsewhere;
    Emit(step);
    Ended(stream, elsewhere);
  }
  void Ended(Stream& stream, bool elsewhere) {
    stream.alive = false;
    stream.ending = elsewhere;
    errands_ += elsewhere;
    if (!elsewhere) order_.Learn(host_, order_.ClockOf(stream.agent));
  }
  void DestroyContext(int number, bool elsewhere) {
    if (errands_ > 0) Join();  // one of them may be at work in this context
    contexts_[static_cast<size_t>(number)].alive = false;
    Step step = Make(Op::kDestroyContext);
    step.context = number;
    step.elsewhere = elsewhere;
    Emit(step);
    for (Stream& stream : streams_) {
      if (stream.alive && stream.context == number) Ended(stream, elsewhere);
    }
    for (Graph& graph : graphs_) {
      if (graph.context == number) graph.alive = false;
    }
    // The thread that ended it has no context; the next step brings one.
  }
  void EndSomething() {
    const int context = 1 + Pick(std::vector<Context>(contexts_.begin() + 1, contexts_.end()), [](const Context& c) { return c.alive; });
    if (context > 0 && OneIn(2)) return DestroyContext(context, OneIn(2));
    const int stream = AnyStream();
    if (stream < 0) return;
    const int its_context = At(stream).context;
    DestroyStream(stream, OneIn(2));
    if (!OneIn(4)) MakeStream(its_context);
  }

  // --- The program ------------------------------------------------------------------------------------------------------

  void OneStep() {
    const int stream = AnyStream();
    if (stream < 0) {
      MakeStream(0);
      return;
    }
    switch (Below(24)) {
      case 0: return FreeOne();
      case 1: return FreeOne();
      case 2: return MakeGraph();
      case 3: return Execute();
      case 4: return Execute();
      case 5: return DestroyGraph();
      case 6: return EndSomething();
      case 7: return MakeContext();
      case 8: return Read();
      case 9: return Pageable(stream);
      case 10: return SynchronizeStream(stream);
      case 11: return Emit(Make(Op::kQuery, stream));
      case 12: return errands_ > 0 && OneIn(3) ? Join() : Work(stream);
      default: return Work(stream);
    }
  }
  void Read() {
    const int block = AnyBlock(OneIn(2));
    if (block >= 0) Read(block);
  }
  void Read(int block) {
    Step step = Make(Op::kRead);
    step.size = BlockAt(block).size;
    step.from = {block, 0};
    DoHere(step, {{block, 0, step.size, false}});
  }
  // Pageable memory: the call drains the stream and copies by itself.
  void Pageable(int stream) {
    const int block = AnyBlock(false);
    if (block < 0) return;
    const bool reads = OneIn(2);
    Step step = Make(reads ? Op::kReadPageable : Op::kWritePageable, stream);
    step.size = 1 + Below(BlockAt(block).size);
    (reads ? step.from : step.to) = PlaceIn(block, step.size);
    step.value = reads ? 0 : 1 + Below(1 << 20);
    Submit(step, {{UseOf(reads ? step.from : step.to, step.size, !reads)}, {}, {}});
    order_.Learn(host_, order_.ClockOf(At(stream).agent));
  }
  void End() {
    if (errands_ > 0) Join();
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].alive && blocks_[i].data) Read(static_cast<int>(i));
    }
    for (size_t i = 0; i < graphs_.size(); ++i) {
      if (graphs_[i].alive) DestroyGraph(static_cast<int>(i), false);
    }
    for (size_t i = 0; i < streams_.size(); ++i) {
      if (streams_[i].alive && streams_[i].context == 0) DestroyStream(static_cast<int>(i), false);
    }
    for (size_t i = 1; i < contexts_.size(); ++i) {
      if (contexts_[i].alive) DestroyContext(static_cast<int>(i), false);
    }
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (blocks_[i].alive) Free(static_cast<int>(i));
    }
  }

  std::mt19937_64 random_;
  const Features features_;
  // In half of the programs, and those have no host functions and no replays: handing a function over and beginning a replay take memory,
  // on the thread of whichever call helps, and where there is none it is that task that fails.
  const bool memory_fails_;
  Program program_;
  Order order_;
  const size_t host_;
  std::vector<Context> contexts_;
  std::vector<Stream> streams_;
  std::vector<Block> blocks_;
  std::vector<Graph> graphs_;
  int next_object_ = 0;
  int errands_ = 0;  // of other threads, not joined yet
  int word_ = -1;    // the block whose value orders streams
  uint64_t last_value_ = 0;
  // While a graph is being made:
  bool capturing_ = false;
  Order capture_;
  std::set<size_t> branches_;  // agents
  std::vector<Prepared> prepared_;
};

}  // namespace ropeway_test::programs
