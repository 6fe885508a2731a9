// Traces as the library records them (src/watch/trace_format.h), put together to what the tools want to know.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "cli/trace_data.h"
#include "cli/trace_order.h"
#include "cli/trace_parts.h"
#include "src/base/symbols.h"
#include "src/watch/trace_format.h"

namespace ropeway::cli {
namespace {

using trace::FileHeader;
using trace::Record;
using trace::RecordType;
using trace::Side;

Record WholeRun(const Record& brief) {
  const uint64_t started = brief.words[0], took = brief.words[1] >> 32, sequence = static_cast<uint32_t>(brief.words[1]);
  Record record{brief.head, {started, started + took, sequence}};
  record.head.type = RecordType::kRun;
  return record;
}

// Calls visit(record, its bytes, how many) for each record.
template <typename Visit>
void ForEachRecord(const Part& part, Visit visit) {
  for (size_t chunk = 0; chunk + trace::kShortSize <= part.size; chunk += trace::kChunkSize) {
    const size_t end = std::min(chunk + trace::kChunkSize, part.size);
    size_t bytes = 0;
    for (size_t at = chunk; (bytes = RecordBytes(part.chunks + at, end - at)) != 0; at += bytes) {
      Record record{};
      std::memcpy(&record, part.chunks + at, std::min(bytes, sizeof(record)));
      if (record.head.type == RecordType::kShortRun) record = WholeRun(record);
      visit(record, part.chunks + at, bytes);
    }
  }
}

std::string TextAt(const std::byte* record, size_t bytes, size_t words) {
  const char* const text = reinterpret_cast<const char*>(record) + words * sizeof(uint64_t);
  return std::string(text, strnlen(text, bytes - words * sizeof(uint64_t)));
}

// From ticks to nanoseconds on the clock that all parts share.
class TraceClock {
 public:
  TraceClock(const FileHeader& header, bool same_kernel)
      : first_(header.first), shift_(same_kernel ? 0 : header.first.real_ns - header.first.monotonic_ns) {
    const trace::ClockPair& later = header.later[header.last & 1];
    const auto ticks = static_cast<double>(static_cast<int64_t>(later.ticks - first_.ticks));
    if (ticks > 0) rate_ = static_cast<double>(later.monotonic_ns - first_.monotonic_ns) / ticks;
  }
  int64_t begin() const { return first_.monotonic_ns + shift_; }
  int64_t At(uint64_t ticks) const {
    return begin() + static_cast<int64_t>(static_cast<double>(static_cast<int64_t>(ticks - first_.ticks)) * rate_);
  }

 private:
  const trace::ClockPair first_;
  const int64_t shift_;
  double rate_ = 1;
};

// Strings and places of all parts, each once.
class Tables {
 public:
  explicit Tables(TraceData* trace) : trace_(*trace) {
    trace_.names.emplace_back();
    names_[""] = 0;
  }
  uint16_t Name(const std::string& text) {
    if (trace_.names.size() > UINT16_MAX) return 0;
    const auto [found, added] = names_.try_emplace(text, static_cast<uint16_t>(trace_.names.size()));
    if (added) trace_.names.push_back(text);
    return found->second;
  }
  uint32_t Site(const symbols::Location& location) {
    const std::string function = location.function.empty() && location.file.empty() ? location.module : location.function;
    if (function.empty() && location.file.empty()) return kNone;
    const auto key = std::make_tuple(function, location.file, location.line);
    const auto [found, added] = sites_.try_emplace(key, static_cast<uint32_t>(trace_.sites.size()));
    if (added) trace_.sites.push_back({function, location.file, location.line});
    return found->second;
  }

 private:
  TraceData& trace_;
  std::unordered_map<std::string, uint16_t> names_;
  std::map<std::tuple<std::string, std::string, int>, uint32_t> sites_;
};

std::string DirectionOf(uint8_t look) {
  const auto letter = [](Side side) { return side == Side::kUnknown ? '\0' : side == Side::kDevice ? 'D' : 'H'; };
  const char from = letter(trace::Look::Src(look)), to = letter(trace::Look::Dst(look));
  return from == '\0' || to == '\0' ? std::string() : std::string({from, '2', to});
}

bool IsPageable(uint8_t look) { return trace::Look::Dst(look) == Side::kPageable || trace::Look::Src(look) == Side::kPageable; }

class PartReader {
 public:
  PartReader(const Part& part, const TraceClock& clock, Tables* tables, TraceOrder* order, TraceData* trace)
      : part_(part), clock_(clock), tables_(*tables), order_(*order), trace_(*trace),
        process_(static_cast<uint32_t>(trace->processes.size())) {}

  // `reached` is told of bytes of the part.
  template <typename Tell>
  void Read(Tell reached) {
    const FileHeader& header = part_.header;
    trace_.processes.push_back({header.pid, header.rank, Text(header.host), Text(header.program), Text(header.engine), header.dropped});
    ReadTables();
    ForEachRecord(part_, [&](const Record& record, const std::byte* at, size_t bytes) {
      if (static_cast<size_t>(at - part_.chunks) % trace::kChunkSize == 0) reached(static_cast<size_t>(at - part_.chunks));
      if (record.head.type == RecordType::kMark) return marks_.push_back({record, thread_, TextAt(at, bytes, 3)});
      Take(record);
    });
    // Who ran a task may come before who submitted it: the chunks of threads lie in any order.
    for (const Record& record : later_) TakeEnd(record);
    MatchBlocks();
    MatchMarks();
  }

 private:
  template <size_t size>
  static std::string Text(const char (&text)[size]) {
    return std::string(text, strnlen(text, size));
  }

  struct SiteRecord {
    uintptr_t caller;
    std::string call;
  };
  struct Place {
    uint16_t call = 0;
    uint32_t site = kNone;
  };

  void ReadTables() {
    std::unordered_map<uint32_t, SiteRecord> sites;
    std::map<uintptr_t, symbols::Module> modules;
    std::unordered_map<uint64_t, std::string> named_places;
    ForEachRecord(part_, [&](const Record& record, const std::byte* at, size_t bytes) {
      switch (record.head.type) {
        case RecordType::kSite: sites[record.head.d] = {record.words[0], TextAt(at, bytes, 2)}; break;
        case RecordType::kModule:
          modules[record.words[0]] = {TextAt(at, bytes, 4), record.words[0], record.words[1], record.words[2]};
          break;
        case RecordType::kPlace: named_places[record.words[0]] = TextAt(at, bytes, 2); break;
        case RecordType::kName: names_[{record.head.b, record.head.c}] = tables_.Name(TextAt(at, bytes, 1)); break;
        default: break;
      }
    });
    std::vector<symbols::Module> list;
    for (const auto& [begin, module] : modules) list.push_back(module);
    const symbols::Modules symbols(list);
    std::unordered_map<uintptr_t, uint32_t> known;
    for (const auto& [number, site] : sites) {
      const auto [found, added] = known.try_emplace(site.caller, kNone);
      if (added && (site.caller & trace::kNamedPlace) != 0) found->second = tables_.Site(LocationOf(named_places[site.caller]));
      if (added && found->second == kNone && site.caller != 0) found->second = tables_.Site(symbols.Locate(site.caller));
      places_[number] = {tables_.Name(site.call), found->second};
    }
  }

  // "step.py:12"
  static symbols::Location LocationOf(const std::string& text) {
    symbols::Location location;
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return location;
    location.file = text.substr(0, colon);
    location.line = std::atoi(text.c_str() + colon + 1);
    return location;
  }

  int64_t At(uint64_t ticks) { return clock_.At(ticks); }

  uint16_t NameOf(trace::NameTable table, uint8_t index) const {
    const auto found = names_.find({static_cast<uint8_t>(table), index});
    return found == names_.end() ? 0 : found->second;
  }
  Place PlaceOf(uint32_t number) const {
    const auto found = places_.find(number);
    return found == places_.end() ? Place() : found->second;
  }

  uint32_t ThreadOf(const Record& record) {
    const auto [found, added] = threads_.try_emplace(record.head.d, static_cast<uint32_t>(trace_.threads.size()));
    char name[sizeof(record.words) + 1] = {};
    std::memcpy(name, record.words, sizeof(record.words));
    if (added) trace_.threads.push_back({process_, static_cast<int>(record.head.d), name, record.head.a != 0});
    return found->second;
  }
  uint32_t StreamOf(uint32_t id, int device) {
    if (id == 0) return kNone;
    const auto [found, added] = streams_.try_emplace(id, static_cast<uint32_t>(trace_.streams.size()));
    if (added) trace_.streams.push_back({process_, id, device});
    return found->second;
  }
  static int DeviceOf(uint8_t device) { return device == trace::kHost ? -1 : device; }

  // What belongs together: by stream and number, or by thread and number where there is no stream.
  static uint64_t Key(uint32_t stream, uint32_t thread, uint32_t sequence) {
    return stream != 0 ? static_cast<uint64_t>(stream) << 32 | sequence
                       : (uint64_t{1} << 63 | static_cast<uint64_t>(thread) << 32 | sequence);
  }

  void Take(const Record& record) {
    switch (record.head.type) {
      case RecordType::kThread: thread_ = ThreadOf(record); break;
      case RecordType::kSubmit: TakeSubmit(record); break;
      case RecordType::kInsideGraph:
      case RecordType::kRun:
      case RecordType::kStart:
      case RecordType::kTransfer:
      case RecordType::kMessage:
      case RecordType::kDrop: Postpone(record); break;
      case RecordType::kWait:
      case RecordType::kWaited: TakeWait(record); break;
      case RecordType::kAllocate:
      case RecordType::kFree: blocks_.push_back(record); break;
      case RecordType::kOrder: TakeOrder(record); break;
      default: break;
    }
  }

  // What a submit says of a task.
  TraceTask TaskOf(const Record& record) {
    TraceTask task;
    const uint8_t look = record.head.b;
    const Place place = PlaceOf(static_cast<uint32_t>(record.words[1] >> 32));
    task.stream = StreamOf(record.head.d, DeviceOf(record.head.c));
    task.sequence = static_cast<uint32_t>(record.words[1]);
    task.kind = NameOf(trace::NameTable::kKind, record.head.a);
    task.call = place.call;
    task.site = place.site;
    task.direction = tables_.Name(DirectionOf(look));
    task.method = NameOf(trace::NameTable::kMethod, trace::Look::Method(look));
    task.reason = IsPageable(look) ? tables_.Name("pageable") : NameOf(trace::NameTable::kMethodReason, trace::Look::Method(look));
    if ((look & trace::Look::kSignal) == 0) TakeSizes(record.words[2], &task);
    return task;
  }
  static void TakeSizes(uint64_t word, TraceTask* task) {
    task->bytes = word & trace::kMostBytes;
    task->items = static_cast<uint32_t>(word >> trace::kItemsShift);
  }
  // A mark or a wait by which streams are in order; `index`: of its task.
  void NoteSignal(const Record& record, uint32_t index) {
    if ((record.head.b & trace::Look::kSignal) == 0) return;
    const std::string& kind = trace_.names[trace_.tasks[index].kind];
    order_.Signal(process_, index, record.words[2], kind == "signal" || kind == "wait_signal");
  }

  void TakeSubmit(const Record& record) {
    TraceTask task = TaskOf(record);
    task.thread = thread_;
    task.submit_ns = At(record.words[0]);
    const auto index = static_cast<uint32_t>(trace_.tasks.size());
    trace_.tasks.push_back(task);
    NoteSignal(record, index);
    tasks_[Key(record.head.d, thread_, static_cast<uint32_t>(task.sequence))] = index;
    if (record.head.d != 0) return;
    TraceWait wait;
    wait.thread = thread_;
    wait.call = task.call;
    wait.site = task.site;
    wait.begin_ns = task.submit_ns;
    wait.end_ns = -1;
    wait.task = index;
    wait.reason = tables_.Name("copy");
    own_waits_[index] = trace_.waits.size();
    trace_.waits.push_back(wait);
  }

  void Postpone(const Record& record) {
    later_.push_back(record);
    lanes_.push_back(thread_);
  }

  void TakeEnd(const Record& record) {
    const uint32_t lane = lanes_[static_cast<size_t>(&record - later_.data())];
    if (record.head.type == RecordType::kTransfer) return TakeTransfer(record);
    const auto sequence = static_cast<uint32_t>(record.words[2]);
    if (record.head.type == RecordType::kMessage) return TakeMessage(record);
    if (record.head.type == RecordType::kInsideGraph) {
      inside_graph_ = record;
      return;
    }
    const bool run = record.head.type == RecordType::kRun;
    if (run && (record.head.b & trace::kOfGraph) != 0) return TakeInsideGraph(record, lane);
    const auto found = tasks_.find(Key(record.head.d, lane, sequence));
    TraceTask& task = found == tasks_.end() ? AddUnsubmitted(record, lane) : trace_.tasks[found->second];
    task.lane = lane;
    if (record.head.type == RecordType::kDrop) {
      task.dropped = true;
      return;
    }
    task.start_ns = std::max(At(record.words[0]), task.submit_ns);
    if (!run) return;
    task.end_ns = std::max(At(record.words[1]), task.start_ns);
    task.code = static_cast<int32_t>(record.words[2] >> 32);
    if (record.head.d == 0 && found != tasks_.end()) trace_.waits[own_waits_[found->second]].end_ns = task.end_ns;
  }

  void TakeTransfer(const Record& record) {
    const auto found = tasks_.find(Key(record.head.d, 0, static_cast<uint32_t>(record.words[1])));
    if (found == tasks_.end()) return;
    TraceTask& task = trace_.tasks[found->second];
    task.link = NameOf(trace::NameTable::kLink, record.head.a);
    task.rank = RankOf(record.words[0]);
    TakeSizes(record.words[2], &task);
  }
  void TakeMessage(const Record& record) {
    const auto found = tasks_.find(Key(record.head.d, 0, static_cast<uint32_t>(record.words[1])));
    if (found != tasks_.end()) order_.Message(found->second, record.words[2], record.head.a != 0);
  }
  static int RankOf(uint64_t rank) { return rank >= INT32_MAX ? -1 : static_cast<int>(rank); }

  // A ring was full when it was submitted.
  TraceTask& AddUnsubmitted(const Record& record, uint32_t lane) {
    TraceTask task;
    task.stream = StreamOf(record.head.d, DeviceOf(record.head.c));
    task.sequence = static_cast<uint32_t>(record.words[2]);
    task.kind = NameOf(trace::NameTable::kKind, record.head.a);
    tasks_[Key(record.head.d, lane, static_cast<uint32_t>(task.sequence))] = static_cast<uint32_t>(trace_.tasks.size());
    trace_.tasks.push_back(task);
    return trace_.tasks.back();
  }

  void TakeInsideGraph(const Record& record, uint32_t lane) {
    TraceTask task = TaskOf(inside_graph_);
    task.branch = static_cast<uint32_t>(inside_graph_.words[0]);
    task.lane = lane;
    task.start_ns = At(record.words[0]);
    task.end_ns = std::max(At(record.words[1]), task.start_ns);
    task.code = static_cast<int32_t>(record.words[2] >> 32);
    trace_.tasks.push_back(task);
    NoteSignal(inside_graph_, static_cast<uint32_t>(trace_.tasks.size() - 1));
  }

  void TakeWait(const Record& record) {
    const auto [found, added] = waits_.try_emplace({thread_, record.words[0]}, trace_.waits.size());
    if (added) {
      const Place place = PlaceOf(static_cast<uint32_t>(record.words[2] >> 32));
      TraceWait wait;
      wait.thread = thread_;
      wait.call = place.call;
      wait.site = place.site;
      wait.begin_ns = At(record.words[0]);
      wait.end_ns = -1;
      wait.stream = StreamOf(record.head.d, 0);
      const auto number = static_cast<uint32_t>(record.words[2]);
      const bool for_rank = record.head.a == trace::kRankWait;
      wait.sequence = for_rank ? 0 : number;
      wait.rank = for_rank ? RankOf(number) : -1;
      wait.reason = NameOf(trace::NameTable::kWaitReason, record.head.a);
      trace_.waits.push_back(wait);
    }
    if (record.head.type == RecordType::kWaited) trace_.waits[found->second].end_ns = At(record.words[1]);
  }

  void TakeOrder(const Record& record) {
    const Place place = PlaceOf(record.head.d);
    TraceEdge edge;
    edge.from = StreamOf(static_cast<uint32_t>(record.words[1]), 0);
    edge.to = StreamOf(static_cast<uint32_t>(record.words[1] >> 32), 0);
    edge.from_sequence = static_cast<uint32_t>(record.words[2]);
    edge.to_sequence = record.words[2] >> 32;
    edge.call = place.call;
    edge.site = place.site;
    edge.event = record.head.a | static_cast<uint32_t>(record.head.b) << 8 | static_cast<uint32_t>(record.head.c) << 16;
    edge.at_ns = At(record.words[0]);
    trace_.edges.push_back(edge);
  }

  void MatchBlocks() {
    std::stable_sort(blocks_.begin(), blocks_.end(), [](const Record& a, const Record& b) { return a.words[0] < b.words[0]; });
    std::unordered_map<uint64_t, size_t> live;
    for (const Record& record : blocks_) {
      if (record.head.type == RecordType::kFree) {
        const auto found = live.find(record.words[1]);
        if (found != live.end()) trace_.blocks[found->second].freed_ns = At(record.words[0]);
        live.erase(record.words[1]);
        continue;
      }
      const Place place = PlaceOf(record.head.d);
      live[record.words[1]] = trace_.blocks.size();
      trace_.blocks.push_back(
          {record.words[1], record.words[2], DeviceOf(record.head.c), process_, place.call, place.site, At(record.words[0]), -1});
    }
  }

  // The end of a range may be another thread's, and a range of a stream comes back with every replay.
  void MatchMarks() {
    enum Kind : uint8_t { kInstant, kBegin, kEnd };
    std::stable_sort(marks_.begin(), marks_.end(),
                     [](const MarkRecord& a, const MarkRecord& b) { return a.record.words[0] < b.record.words[0]; });
    std::map<std::pair<uint32_t, uint64_t>, size_t> open;
    for (const MarkRecord& mark : marks_) {
      const bool in_stream = (mark.record.head.b & trace::kMarkInStream) != 0;
      const auto kind = static_cast<Kind>(mark.record.head.b & ~trace::kMarkInStream);
      const int64_t at = At(mark.record.words[0]);
      const std::pair<uint32_t, uint64_t> key(mark.record.head.d, mark.record.words[1]);
      if (kind == kEnd) {
        if (const auto found = open.find(key); found != open.end()) trace_.marks[found->second].end_ns = at;
        open.erase(key);
        continue;
      }
      if (kind == kBegin) open[key] = trace_.marks.size();
      const uint32_t stream = in_stream ? StreamOf(mark.record.head.d, DeviceOf(mark.record.head.c)) : kNone;
      trace_.marks.push_back({in_stream ? kNone : mark.thread, stream, tables_.Name(mark.text), at, kind == kBegin ? -1 : at});
    }
  }

  struct MarkRecord {
    Record record;
    uint32_t thread;
    std::string text;
  };

  const Part& part_;
  const TraceClock& clock_;
  Tables& tables_;
  TraceOrder& order_;
  TraceData& trace_;
  const uint32_t process_;
  uint32_t thread_ = kNone;
  std::map<std::pair<uint8_t, uint8_t>, uint16_t> names_;
  std::unordered_map<uint32_t, Place> places_;
  std::unordered_map<uint32_t, uint32_t> threads_;
  std::unordered_map<uint32_t, uint32_t> streams_;
  std::unordered_map<uint64_t, uint32_t> tasks_;
  std::unordered_map<uint32_t, size_t> own_waits_;
  std::map<std::pair<uint32_t, uint64_t>, size_t> waits_;
  std::vector<Record> later_;
  Record inside_graph_{};        // whose run comes next
  std::vector<uint32_t> lanes_;  // of each of those
  std::vector<Record> blocks_;
  std::vector<MarkRecord> marks_;
};

int64_t BeginOf(const TraceTask& task) { return task.submit_ns >= 0 ? task.submit_ns : task.start_ns; }

void SortTasks(TraceData* trace) {
  std::vector<uint32_t> order(trace->tasks.size()), place(trace->tasks.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return BeginOf(trace->tasks[a]) < BeginOf(trace->tasks[b]); });
  std::vector<TraceTask> sorted;
  sorted.reserve(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    sorted.push_back(trace->tasks[order[i]]);
  }
  trace->tasks = std::move(sorted);
  for (TraceWait& wait : trace->waits) {
    if (wait.task != kNone) wait.task = place[wait.task];
  }
  for (TraceEdge& edge : trace->edges) {
    for (uint32_t* task : {&edge.from_task, &edge.to_task}) {
      if (*task != kNone) *task = place[*task];
    }
  }
  std::stable_sort(trace->waits.begin(), trace->waits.end(),
                   [](const TraceWait& a, const TraceWait& b) { return a.begin_ns < b.begin_ns; });
}

// Every time becomes one since `begin`; the end is the last that anybody saw.
void CountFrom(int64_t begin, TraceData* trace) {
  const auto shift = [&](int64_t* time) {
    if (*time < 0) return;
    *time = std::max<int64_t>(*time - begin, 0);
    trace->end_ns = std::max(trace->end_ns, *time);
  };
  for (TraceTask& task : trace->tasks) {
    shift(&task.submit_ns);
    shift(&task.start_ns);
    shift(&task.end_ns);
  }
  for (TraceWait& wait : trace->waits) {
    shift(&wait.begin_ns);
    shift(&wait.end_ns);
  }
  for (TraceEdge& edge : trace->edges) shift(&edge.at_ns);
  for (TraceBlock& block : trace->blocks) {
    shift(&block.allocated_ns);
    shift(&block.freed_ns);
  }
  for (TraceMark& mark : trace->marks) {
    shift(&mark.begin_ns);
    shift(&mark.end_ns);
  }
  std::stable_sort(trace->marks.begin(), trace->marks.end(),
                   [](const TraceMark& a, const TraceMark& b) { return a.begin_ns < b.begin_ns; });
}

}  // namespace

bool ReadTraces(const std::vector<std::string>& paths, TraceData* trace, std::string* why, const Reached& reached) {
  *trace = TraceData();
  std::deque<MappedFile> files;
  std::vector<Part> parts;
  if (!OpenParts(paths, &files, &parts, why)) return false;
  const auto same_boot = [&](const Part& part) {
    return part.header.boot[0] != '\0' && std::memcmp(part.header.boot, parts[0].header.boot, sizeof(part.header.boot)) == 0;
  };
  const bool same_kernel = std::all_of(parts.begin(), parts.end(), same_boot);
  Tables tables(trace);
  TraceOrder order(trace);
  int64_t begin = INT64_MAX;
  size_t done = 0, all = 0;
  for (const Part& part : parts) all += part.size;
  for (const Part& part : parts) {
    const TraceClock clock(part.header, same_kernel);
    begin = std::min(begin, clock.begin());
    PartReader(part, clock, &tables, &order, trace).Read([&](size_t bytes) {
      if (reached) reached(done + bytes, all);
    });
    done += part.size;
  }
  order.Match();
  SortTasks(trace);
  CountFrom(begin, trace);
  return true;
}

}  // namespace ropeway::cli
