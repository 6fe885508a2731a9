#include "cli/trace_export.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>

#include "cli/protobuf.h"
#include "cli/timeline.h"

namespace ropeway::cli {
namespace {

using Kind = TimelineTrack::Kind;

std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return quoted + "\"";
}

std::string SiteText(const TraceData& trace, const TraceTask& task) {
  const TraceSite& site = trace.sites[task.site];
  return site.file.empty() ? site.function : site.file + ":" + std::to_string(site.line);
}

// What a viewer tells of a task that was chosen: a text, or a number.
struct Fact {
  const char* name;
  std::string text;
  uint64_t number = 0;
};
std::vector<Fact> FactsOf(const TraceData& trace, const TraceTask& task) {
  std::vector<Fact> facts{{"call", trace.names[task.call]}, {"task", "", task.sequence}, {"bytes", "", task.bytes}};
  if (task.site != kNone) facts.push_back({"site", SiteText(trace, task)});
  if (task.items != 1) facts.push_back({"items", "", task.items});
  if (task.method != 0) facts.push_back({"method", trace.names[task.method]});
  if (task.reason != 0) facts.push_back({"reason", trace.names[task.reason]});
  if (task.link != 0) facts.push_back({"link", trace.names[task.link]});
  if (task.rank >= 0) facts.push_back({"rank", "", static_cast<uint64_t>(task.rank)});
  if (task.code != 0) facts.push_back({"code", "", static_cast<uint64_t>(task.code)});
  return facts;
}

// --- Chrome's JSON ------------------------------------------------------------------------------------------------------

class JsonSink final : public TimelineSink {
 public:
  JsonSink(const TraceData& trace, FILE* file) : trace_(trace), file_(file) { std::fputs("{\"traceEvents\":[", file_); }
  ~JsonSink() override { std::fputs("\n]}\n", file_); }

  void Track(uint32_t, const TimelineTrack& track) override {
    tracks_.push_back(track);
    if (track.kind == Kind::kCounter) return;
    const char* const what = track.kind == Kind::kProcess ? "process_name" : "thread_name";
    Begin("M", track);
    std::fprintf(file_, ",\"name\":\"%s\",\"args\":{\"name\":%s}}", what, Quoted(track.name).c_str());
  }

  void Slice(const TimelineSlice& slice) override {
    const TimelineTrack& track = tracks_[slice.track];
    Begin("X", track);
    std::fprintf(file_, ",\"ts\":%.3f,\"dur\":%.3f,\"name\":%s", Us(slice.begin_ns), Us(slice.end_ns - slice.begin_ns),
                 Quoted(slice.name).c_str());
    if (slice.task != kNone) {
      const char* comma = ",\"args\":{";
      for (const Fact& fact : FactsOf(trace_, trace_.tasks[slice.task])) {
        std::fprintf(file_, "%s\"%s\":%s", comma, fact.name,
                     fact.text.empty() ? std::to_string(fact.number).c_str() : Quoted(fact.text).c_str());
        comma = ",";
      }
      std::fputs("}", file_);
    }
    std::fputs("}", file_);
    for (const uint64_t arrow : slice.begins) Arrow("s", track, slice.begin_ns, arrow);
    for (const uint64_t arrow : slice.ends) Arrow("f", track, slice.begin_ns, arrow);
  }

  void Value(const TimelineValue& value) override {
    const TimelineTrack& track = tracks_[value.track];
    Begin("C", track);
    std::fprintf(file_, ",\"ts\":%.3f,\"name\":%s,\"args\":{\"value\":%lld}}", Us(value.at_ns), Quoted(track.name).c_str(),
                 static_cast<long long>(value.value));
  }

 private:
  static double Us(int64_t ns) { return static_cast<double>(ns) / 1000; }
  // Processes of different hosts may have the same number: those of the viewer count from 1.
  void Begin(const char* kind, const TimelineTrack& track) {
    std::fprintf(file_, "%s\n{\"ph\":\"%s\",\"pid\":%u", first_ ? "" : ",", kind, track.process + 1);
    if (track.kind == Kind::kThread || track.kind == Kind::kStream) std::fprintf(file_, ",\"tid\":%d", track.tid);
    first_ = false;
  }
  void Arrow(const char* kind, const TimelineTrack& track, int64_t at_ns, uint64_t arrow) {
    Begin(kind, track);
    std::fprintf(file_, ",\"ts\":%.3f,\"id\":%llu,\"name\":\"order\",\"cat\":\"order\"%s}", Us(at_ns),
                 static_cast<unsigned long long>(arrow), *kind == 'f' ? ",\"bp\":\"e\"" : "");
  }

  const TraceData& trace_;
  FILE* const file_;
  bool first_ = true;
  std::vector<TimelineTrack> tracks_;
};

// --- Perfetto's protobuf (field numbers as in its trace_packet.proto, track_event.proto, track_descriptor.proto) -----------

class PerfettoSink final : public TimelineSink {
 public:
  PerfettoSink(const TraceData& trace, FILE* file) : trace_(trace), file_(file) { Interned(kEventNames, ""); }
  // Slices of a track are written when all are known: viewers want each end behind what began inside.
  ~PerfettoSink() override {
    for (auto& [track, slices] : slices_) WriteSlices(track, &slices);
  }

  void Track(uint32_t number, const TimelineTrack& track) override {
    if (track.kind == Kind::kProcess) processes_.push_back(number);
    Message descriptor;
    descriptor.Number(1, UuidOf(number)).Text(2, track.name);
    if (track.kind == Kind::kProcess) {
      Message process;
      process.Number(1, track.process + 1).Text(6, track.name);
      descriptor.Inner(3, process);
    } else {
      descriptor.Number(5, UuidOf(processes_[track.process]));
    }
    if (track.kind == Kind::kThread) {
      Message thread;
      thread.Number(1, track.process + 1).Number(2, static_cast<uint64_t>(track.tid)).Text(5, track.name);
      descriptor.Inner(4, thread);
    }
    if (track.kind == Kind::kCounter) {
      Message counter;
      counter.Number(3, kSizeInBytes);
      descriptor.Inner(8, counter);
    }
    Message packet;
    packet.Inner(60, descriptor);
    WritePacket(packet);
  }

  void Slice(const TimelineSlice& slice) override { slices_[slice.track].push_back(slice); }

  void Value(const TimelineValue& value) override {
    Message event;
    event.Number(9, kCounter).Number(11, UuidOf(value.track)).Number(30, static_cast<uint64_t>(value.value));
    WriteEvent(value.at_ns, event);
  }

 private:
  enum EventType : uint64_t { kBegin = 1, kEnd = 2, kInstant = 3, kCounter = 4 };
  static constexpr uint64_t kSizeInBytes = 3, kSequence = 1, kStateCleared = 1, kNeedsState = 2;
  static uint64_t UuidOf(uint32_t track) { return track + 1; }

  void WriteSlices(uint32_t track, std::vector<TimelineSlice>* slices) {
    std::stable_sort(slices->begin(), slices->end(), [](const TimelineSlice& a, const TimelineSlice& b) {
      return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns > b.end_ns;
    });
    std::vector<int64_t> open;
    const auto close = [&](int64_t up_to) {
      for (; !open.empty() && open.back() <= up_to; open.pop_back()) {
        Message event;
        event.Number(9, kEnd).Number(11, UuidOf(track));
        WriteEvent(open.back(), event);
      }
    };
    for (const TimelineSlice& slice : *slices) {
      close(slice.begin_ns);
      const bool instant = slice.end_ns == slice.begin_ns;
      WriteEvent(slice.begin_ns, EventOf(track, slice, instant ? kInstant : kBegin));
      if (!instant) open.push_back(open.empty() ? slice.end_ns : std::min(slice.end_ns, open.back()));
    }
    close(INT64_MAX);
  }

  Message EventOf(uint32_t track, const TimelineSlice& slice, EventType type) {
    Message event;
    event.Number(9, type).Number(11, UuidOf(track)).Number(10, Interned(kEventNames, slice.name));
    if (slice.task != kNone) {
      for (const Fact& fact : FactsOf(trace_, trace_.tasks[slice.task])) {
        Message annotation;
        annotation.Number(1, Interned(kAnnotationNames, fact.name));
        if (fact.text.empty())
          annotation.Number(3, fact.number);
        else
          annotation.Number(17, Interned(kAnnotationTexts, fact.text));
        event.Inner(4, annotation);
      }
    }
    for (const uint64_t arrow : slice.begins) event.Fixed(47, arrow);
    for (const uint64_t arrow : slice.ends) event.Fixed(48, arrow);
    return event;
  }

  // A text is written once, in front of what first has it; tables have the numbers of their fields in the packet's interned data.
  enum Table : uint32_t { kEventNames = 2, kAnnotationNames = 3, kAnnotationTexts = 29 };
  uint64_t Interned(Table table, const std::string& text) {
    const auto [found, added] = interned_.try_emplace({table, text}, interned_.size() + 1);
    if (!added) return found->second;
    Message entry, data, packet;
    entry.Number(1, found->second).Text(2, text);
    data.Inner(table, entry);
    packet.Number(10, kSequence).Number(13, interned_.size() == 1 ? kStateCleared : kNeedsState).Inner(12, data);
    WritePacket(packet);
    return found->second;
  }

  void WriteEvent(int64_t at_ns, const Message& event) {
    Message packet;
    packet.Number(8, static_cast<uint64_t>(at_ns)).Number(10, kSequence).Number(13, kNeedsState).Inner(11, event);
    WritePacket(packet);
  }
  void WritePacket(const Message& packet) {
    Message trace;
    trace.Inner(1, packet);
    std::fwrite(trace.bytes().data(), 1, trace.bytes().size(), file_);
  }

  const TraceData& trace_;
  FILE* const file_;
  std::vector<uint32_t> processes_;  // tracks
  std::map<uint32_t, std::vector<TimelineSlice>> slices_;
  std::map<std::pair<Table, std::string>, uint64_t> interned_;
};

bool EndsWith(const std::string& text, const char* end) {
  const size_t length = std::strlen(end);
  return text.size() >= length && text.compare(text.size() - length, length, end) == 0;
}

}  // namespace

bool ExportTrace(const TraceData& trace, const std::string& path, std::string* why, const Reached& reached) {
  const bool json = EndsWith(path, ".json");
  if (!json && !EndsWith(path, ".pftrace")) {
    *why = path + ": a name that ends in .json or .pftrace is wanted, which says the format";
    return false;
  }
  FILE* const file = fopen(path.c_str(), "we");
  if (file == nullptr) {
    *why = path + ": " + std::strerror(errno);
    return false;
  }
  {
    std::unique_ptr<TimelineSink> sink;
    if (json)
      sink = std::make_unique<JsonSink>(trace, file);
    else
      sink = std::make_unique<PerfettoSink>(trace, file);
    DrawTimeline(trace, sink.get(), reached);
  }
  const bool failed = ferror(file) != 0;
  if (fclose(file) == 0 && !failed) return true;
  *why = path + ": " + std::strerror(errno);
  return false;
}

}  // namespace ropeway::cli
