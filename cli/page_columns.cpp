// See page_columns.h.
#include "cli/page_columns.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "cli/report_index.h"

namespace ropeway::cli {
namespace {

class ColumnWriter {
 public:
  ColumnWriter(const char* name, bool differences) : column_{name, differences, 0, {}} {}

  void Put(int64_t value) {
    const int64_t change = value - last_;
    last_ = value;
    PutBits(column_.differences ? static_cast<uint64_t>(change) << 1 ^ static_cast<uint64_t>(change >> 63) : static_cast<uint64_t>(value));
  }
  // Of an index, or of a time that may not have come.
  void PutOrNone(int64_t value, bool none) { Put(none ? 0 : value + 1); }
  void PutIndex(uint32_t index) { PutOrNone(index, index == kNone); }

  PageColumn Take() { return std::move(column_); }

 private:
  void PutBits(uint64_t bits) {
    ++column_.count;
    for (; bits >= 0x80; bits >>= 7) column_.bytes += static_cast<char>(bits | 0x80);
    column_.bytes += static_cast<char>(bits);
  }

  PageColumn column_;
  int64_t last_ = 0;
};

class Columns {
 public:
  ColumnWriter& New(const char* name, bool differences = false) { return writers_.emplace_back(ColumnWriter(name, differences)); }
  std::vector<PageColumn> Take() {
    std::vector<PageColumn> columns;
    for (ColumnWriter& writer : writers_) columns.push_back(writer.Take());
    return columns;
  }

 private:
  std::deque<ColumnWriter> writers_;
};

// What tasks may have in common.
using TaskLook =
    std::tuple<uint32_t, uint16_t, uint16_t, uint16_t, uint16_t, uint16_t, uint32_t, uint64_t, uint32_t, uint32_t, int32_t, uint16_t, int>;

TaskLook LookOf(const TraceTask& task) {
  return {task.stream, task.kind,   task.call, task.direction, task.method, task.reason, task.items,
          task.bytes,  task.thread, task.site, task.code,      task.link,   task.rank};
}

struct LookHash {
  size_t operator()(const TaskLook& look) const {
    size_t hash = 0;
    std::apply([&](auto... fields) { ((hash = (hash ^ fields) * 0x9E3779B97F4A7C15u, hash ^= hash >> 29), ...); }, look);
    return hash;
  }
};

class Classes {
 public:
  uint32_t Of(const TraceTask& task) {
    const auto [at, fresh] = numbers_.try_emplace(LookOf(task), static_cast<uint32_t>(examples_.size()));
    if (fresh) examples_.push_back(&task);
    return at->second;
  }

  void Write(Columns& columns) const {
    Each(columns, "class.stream", [](const TraceTask& task, ColumnWriter& column) { column.PutIndex(task.stream); });
    Each(columns, "class.kind", [](const TraceTask& task, ColumnWriter& column) { column.Put(task.kind); });
    Each(columns, "class.call", [](const TraceTask& task, ColumnWriter& column) { column.Put(task.call); });
    Each(columns, "class.direction", [](const TraceTask& task, ColumnWriter& column) { column.Put(task.direction); });
    Each(columns, "class.method", [](const TraceTask& task, ColumnWriter& column) { column.Put(task.method); });
    Each(columns, "class.reason", [](const TraceTask& task, ColumnWriter& column) { column.Put(task.reason); });
    Each(columns, "class.items", [](const TraceTask& task, ColumnWriter& column) { column.Put(task.items); });
    Each(columns, "class.bytes", [](const TraceTask& task, ColumnWriter& column) { column.Put(static_cast<int64_t>(task.bytes)); });
    Each(columns, "class.thread", [](const TraceTask& task, ColumnWriter& column) { column.PutIndex(task.thread); });
    Each(columns, "class.link", [](const TraceTask& task, ColumnWriter& column) { column.Put(task.link); });
    Each(columns, "class.rank", [](const TraceTask& task, ColumnWriter& column) { column.PutOrNone(task.rank, task.rank < 0); });
    Each(columns, "class.site", [](const TraceTask& task, ColumnWriter& column) { column.PutIndex(task.site); });
    Each(
        columns, "class.code", [](const TraceTask& task, ColumnWriter& column) { column.Put(task.code); }, true);
  }

 private:
  template <typename Field>
  void Each(Columns& columns, const char* name, const Field& field, bool differences = false) const {
    ColumnWriter& column = columns.New(name, differences);
    for (const TraceTask* task : examples_) field(*task, column);
  }

  std::unordered_map<TaskLook, uint32_t, LookHash> numbers_;
  std::vector<const TraceTask*> examples_;
};

int64_t PlaceOf(const TraceTask& task) { return std::max<int64_t>(task.start_ns < 0 ? task.submit_ns : task.start_ns, 0); }

std::vector<uint32_t> OrderOfStarts(const TraceData& trace) {
  std::vector<uint32_t> order(trace.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return PlaceOf(trace.tasks[a]) < PlaceOf(trace.tasks[b]); });
  return order;
}

void WriteTasks(const TraceData& trace, const std::vector<uint32_t>& order, Columns& columns) {
  Classes classes;
  ColumnWriter& number = columns.New("task.class");
  ColumnWriter& lane = columns.New("task.lane");
  ColumnWriter& sequence = columns.New("task.sequence", true);  // to what is expected: the one behind the last of its stream
  ColumnWriter& place = columns.New("task.start", true);
  ColumnWriter& queued = columns.New("task.queued");  // from submit to start; 0: it did not start
  ColumnWriter& length = columns.New("task.length");  // 0: it did not end
  std::vector<uint64_t> expected(trace.streams.size() + 1);
  int64_t surprise = 0;
  for (const uint32_t i : order) {
    const TraceTask& task = trace.tasks[i];
    uint64_t& next = task.stream == kNone ? expected.back() : expected[task.stream];
    surprise += static_cast<int64_t>(task.sequence - ++next);
    next = task.sequence;
    number.Put(classes.Of(task));
    lane.PutIndex(task.lane);
    sequence.Put(surprise);
    place.Put(PlaceOf(task));
    queued.PutOrNone(task.submit_ns < 0 ? 0 : std::max<int64_t>(task.start_ns - task.submit_ns, 0), task.start_ns < 0);
    length.PutOrNone(std::max<int64_t>(task.end_ns - task.start_ns, 0), task.start_ns < 0 || task.end_ns < 0);
  }
  classes.Write(columns);
}

void WriteWaits(const TraceIndex& index, const std::vector<uint32_t>& place_of, Columns& columns) {
  const TraceData& trace = index.trace();
  ColumnWriter& thread = columns.New("wait.thread");
  ColumnWriter& call = columns.New("wait.call");
  ColumnWriter& site = columns.New("wait.site");
  ColumnWriter& begin = columns.New("wait.begin", true);
  ColumnWriter& length = columns.New("wait.length");  // 0: it was not over
  ColumnWriter& stream = columns.New("wait.stream");
  ColumnWriter& reason = columns.New("wait.reason");
  ColumnWriter& rank = columns.New("wait.rank");
  ColumnWriter& own = columns.New("wait.own");        // the copy that this call is
  ColumnWriter& behind = columns.New("wait.behind");  // the last task that it waited for
  for (const TraceWait& wait : trace.waits) {
    const uint32_t last = wait.stream == kNone ? kNone : index.WorkUpTo(wait.stream, wait.sequence);
    thread.PutIndex(wait.thread);
    call.Put(wait.call);
    site.PutIndex(wait.site);
    begin.Put(wait.begin_ns);
    length.PutOrNone(std::max<int64_t>(wait.end_ns - wait.begin_ns, 0), wait.end_ns < 0);
    stream.PutIndex(wait.stream);
    reason.Put(wait.reason);
    rank.PutOrNone(wait.rank, wait.rank < 0);
    own.PutIndex(wait.task == kNone ? kNone : place_of[wait.task]);
    behind.PutIndex(last == kNone ? kNone : place_of[last]);
  }
}

// Edges that begin or end at no work cannot be drawn.
void WriteEdges(const TraceIndex& index, const std::vector<uint32_t>& place_of, Columns& columns) {
  ColumnWriter& from = columns.New("edge.from", true);
  ColumnWriter& to = columns.New("edge.to", true);
  ColumnWriter& call = columns.New("edge.call");
  ColumnWriter& site = columns.New("edge.site");
  ColumnWriter& held = columns.New("edge.held");
  for (const TraceEdge& edge : index.trace().edges) {
    if (edge.from == kNone || edge.to == kNone) continue;
    const uint32_t before = index.WorkBefore(edge), after = index.WorkAfter(edge);
    if (before == kNone || after == kNone) continue;
    from.Put(place_of[before]);
    to.Put(place_of[after]);
    call.Put(edge.call);
    site.PutIndex(edge.site);
    const Span stood = index.HeldBy(edge);
    held.Put(stood.second - stood.first);
  }
}

void WriteMarks(const TraceData& trace, Columns& columns) {
  ColumnWriter& thread = columns.New("mark.thread");
  ColumnWriter& stream = columns.New("mark.stream");
  ColumnWriter& name = columns.New("mark.name");
  ColumnWriter& begin = columns.New("mark.begin", true);
  ColumnWriter& length = columns.New("mark.length");  // 0: it was not ended
  for (const TraceMark& mark : trace.marks) {
    thread.PutIndex(mark.thread);
    stream.PutIndex(mark.stream);
    name.Put(mark.name);
    begin.Put(mark.begin_ns);
    length.PutOrNone(std::max<int64_t>(mark.end_ns - mark.begin_ns, 0), mark.end_ns < 0);
  }
}

}  // namespace

std::vector<PageColumn> PageColumns(const TraceData& trace) {
  const TraceIndex index(trace);
  const std::vector<uint32_t> order = OrderOfStarts(trace);
  std::vector<uint32_t> place_of(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) place_of[order[i]] = i;
  Columns columns;
  WriteTasks(trace, order, columns);
  WriteWaits(index, place_of, columns);
  WriteEdges(index, place_of, columns);
  WriteMarks(trace, columns);
  return columns.Take();
}

std::string Base64(const std::vector<PageColumn>& columns) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  uint32_t bits = 0;
  int held = 0;
  for (const PageColumn& column : columns) {
    for (const char byte : column.bytes) {
      bits = bits << 8 | static_cast<unsigned char>(byte);
      for (held += 8; held >= 6;) text += kDigits[bits >> (held -= 6) & 63];
    }
  }
  if (held > 0) text += kDigits[bits << (6 - held) & 63];
  text.resize((text.size() + 3) / 4 * 4, '=');
  return text;
}

}  // namespace ropeway::cli
