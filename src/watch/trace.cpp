#include "watch/trace.h"

#include <link.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/call_site.h"
#include "engine/task_ranges.h"
#include "watch/audience.h"
#include "watch/trace_chunks.h"
#include "watch/trace_clock.h"

namespace ropeway {
namespace {

using trace::NameTable;
using trace::Record;
using trace::RecordHead;
using trace::RecordType;
using trace::Side;

TraceChunks* g_chunks = nullptr;  // set before the watcher is
Side (*g_side_of)(const void*) = nullptr;

// What a thread remembers of places that it has told of. A place that was pushed out is told of once more.
struct SiteCache {
  struct Entry {
    const void* caller;
    const char* call;
    uint32_t number;
  };
  static constexpr size_t kEntries = 256;
  Entry entries[kEntries];

  static size_t IndexOf(const CallSite& site) {
    const auto mixed = (reinterpret_cast<uintptr_t>(site.caller) ^ reinterpret_cast<uintptr_t>(site.call) << 7) * 0x9E3779B97F4A7C15ull;
    return mixed >> 56;
  }
};

// Where a thread writes, and the places that it knows. Empty before its first record, and when no chunk was ready.
struct Pen {
  std::byte* next = nullptr;
  std::byte* end = nullptr;
  std::byte* wait = nullptr;  // a record of this chunk: where the thread waits
  SiteCache* sites = nullptr;
};
constinit thread_local Pen t_pen RW_HOT_TLS;

// The rest of what a thread has; given back when it ends.
struct Desk {
  TraceChunk* chunk = nullptr;
  uint64_t own_copies = 0;  // numbers those in no stream
  bool ended = false;

  ~Desk() {
    ended = true;
    if (chunk != nullptr) g_chunks->GiveBack(chunk, static_cast<size_t>(t_pen.next - chunk->begin));
    chunk = nullptr;
    std::free(t_pen.sites);
    t_pen = Pen();
  }
};

// The main thread's is never given back: what is destroyed at exit may still have something to tell.
Desk& TheDesk() {
  static thread_local const bool main = gettid() == getpid();
  if (main) {
    static Desk* const desk = new Desk;
    return *desk;
  }
  static thread_local Desk desk;
  return desk;
}

inline void Store(std::byte* at, const RecordHead& head) {
  std::atomic_ref(*reinterpret_cast<uint64_t*>(at)).store(std::bit_cast<uint64_t>(head), std::memory_order_release);
}

void PutThread() {
  Record record{{RecordType::kThread, 0, 0, 0, static_cast<uint32_t>(gettid())}, {}};
  // The first thread has the name of the file, which says little when that is a link or a copy of itself.
  char name[sizeof(record.words)] = {};
  if (gettid() == getpid()) {
    std::snprintf(name, sizeof(name), "%s", program_invocation_short_name);
  } else {
    prctl(PR_GET_NAME, name);
  }
  record.head.a = std::strncmp(name, "rw-", 3) == 0;
  std::memcpy(record.words, name, sizeof(name));
  std::memcpy(t_pen.next + sizeof(RecordHead), record.words, sizeof(record.words));
  Store(t_pen.next, record.head);
  t_pen.next += trace::kSlotSize;
}

// Room for `bytes` of a record; null when it has to be dropped.
[[gnu::noinline, gnu::cold]] std::byte* NextChunk(size_t bytes) {
  Desk& desk = TheDesk();
  // A chunk that another thread began may have little room left: those are used up.
  while (!desk.ended && static_cast<size_t>(t_pen.end - t_pen.next) < bytes) {
    if (desk.chunk != nullptr) g_chunks->HandInFull(std::exchange(desk.chunk, nullptr));
    t_pen.next = t_pen.end = t_pen.wait = nullptr;
    desk.chunk = g_chunks->Take();
    if (desk.chunk == nullptr) break;
    t_pen.next = desk.chunk->begin + desk.chunk->used;
    t_pen.end = desk.chunk->begin + trace::kChunkSize;
    PutThread();
  }
  if (static_cast<size_t>(t_pen.end - t_pen.next) >= bytes) return t_pen.next;
  g_chunks->CountDropped();
  return nullptr;
}

inline std::byte* Room(size_t bytes) {
  if (static_cast<size_t>(t_pen.end - t_pen.next) >= bytes) [[likely]]
    return t_pen.next;
  return NextChunk(bytes);
}

template <typename... Words>
inline void Put(const RecordHead& head, Words... words) {
  constexpr size_t kBytes = sizeof(head) + sizeof...(words) * sizeof(uint64_t);
  static_assert(kBytes == trace::kSlotSize || kBytes == trace::kShortSize);
  std::byte* const at = Room(kBytes);
  if (at == nullptr) [[unlikely]]
    return;
  auto* word = reinterpret_cast<uint64_t*>(at);
  ((*++word = words), ...);
  Store(at, head);
  t_pen.next = at + kBytes;
}

// A record with a text behind its first words.
class TextRecord {
 public:
  TextRecord(RecordHead head, std::initializer_list<uint64_t> words, const char* text) {
    constexpr size_t kMostText = sizeof(bytes_) - 64;
    const size_t length = std::min(std::strlen(text), kMostText);
    const size_t at = sizeof(RecordHead) + words.size() * sizeof(uint64_t);
    slots_ = trace::SlotsFor(1 + words.size(), length);
    head.a = static_cast<uint8_t>(slots_);
    std::memcpy(bytes_, &head, sizeof(head));
    std::copy(words.begin(), words.end(), reinterpret_cast<uint64_t*>(bytes_ + sizeof(head)));
    std::memcpy(bytes_ + at, text, length);
  }
  const std::byte* data() const { return bytes_; }
  size_t size() const { return slots_ * trace::kSlotSize; }

 private:
  alignas(8) std::byte bytes_[trace::kMostRecordSize] = {};
  size_t slots_;
};

bool PutText(const TextRecord& record) {
  std::byte* const at = Room(record.size());
  if (at == nullptr) return false;
  std::memcpy(at + sizeof(RecordHead), record.data() + sizeof(RecordHead), record.size() - sizeof(RecordHead));
  RecordHead head;
  std::memcpy(&head, record.data(), sizeof(head));
  Store(at, head);
  t_pen.next = at + record.size();
  return true;
}

std::atomic<uint32_t> g_next_site{1};

[[gnu::noinline, gnu::cold]] uint32_t NewSite(const CallSite& site) {
  if (t_pen.sites == nullptr && !TheDesk().ended) t_pen.sites = static_cast<SiteCache*>(std::calloc(1, sizeof(SiteCache)));
  const uint32_t number = g_next_site.fetch_add(1, std::memory_order_relaxed);
  const TextRecord record({RecordType::kSite, 0, 0, 0, number}, {reinterpret_cast<uintptr_t>(site.caller)}, site.call);
  if (PutText(record) && t_pen.sites != nullptr) t_pen.sites->entries[SiteCache::IndexOf(site)] = {site.caller, site.call, number};
  return number;
}

inline uint32_t SiteNumber(const char* call) {
  const CallSite& outer = t_outer_call;
  if (outer.call != nullptr) call = outer.call;
  const CallSite site{outer.caller != nullptr ? outer.caller : t_call_site.caller, call != nullptr ? call : "?"};
  if (t_pen.sites != nullptr) [[likely]] {
    const SiteCache::Entry& known = t_pen.sites->entries[SiteCache::IndexOf(site)];
    if (known.caller == site.caller && known.call == site.call) [[likely]]
      return known.number;
  }
  return NewSite(site);
}

// Of a wait or a block nobody but the entry of the API knows the call.
uint32_t CurrentSite() { return SiteNumber(t_call_site.call); }

struct Sides {
  Side dst, src;
};

Sides SidesOf(const Task& task) {
  Sides sides{Side::kUnknown, Side::kUnknown};
  if (g_side_of == nullptr) return sides;
  ForEachRange(task, [&](const TaskRange& range) {
    if (range.name == "dst") sides.dst = g_side_of(range.address);
    if (range.name == "src") sides.src = g_side_of(range.address);
    return range.name != "src";  // of a batch, its first piece
  });
  return sides;
}

// Edges of a graph are numbered in it.
bool IsEdge(const Task& task) { return task.kind == TaskKind::kSignal || task.kind == TaskKind::kAwaitSignal; }

const Signal* SignalOf(const Task& task) {
  const bool mark = task.kind == TaskKind::kMark, await = task.kind == TaskKind::kAwait;
  const Signal* const signal = mark ? &task.mark.signal : await ? &task.await.signal : nullptr;
  return signal == nullptr || signal->object == nullptr ? nullptr : signal;
}

uint8_t LookOf(const Task& task) {
  if (SignalOf(task) != nullptr || IsEdge(task)) return trace::Look::kSignal | trace::Look::kNoMethod << 4;
  const bool planned = task.kind <= TaskKind::kSetWords;
  const Sides sides = SidesOf(task);
  return trace::Look::Of(sides.dst, sides.src, planned ? static_cast<uint8_t>(task.method) : trace::Look::kNoMethod);
}

// The same of what most submits are, in fewer steps.
uint8_t LookOfCopy(const Task& task) {
  const auto [to, from] =
      g_side_of == nullptr ? Sides{Side::kUnknown, Side::kUnknown} : Sides{g_side_of(task.copy.dst), g_side_of(task.copy.src)};
  return trace::Look::Of(to, from, static_cast<uint8_t>(task.method));
}

uint64_t ItemsOf(const Task& task) {
  if (task.kind == TaskKind::kCopy2d) return task.copy_2d.height;
  return task.kind == TaskKind::kBatch ? task.batch.list->pieces().size() : 1;
}

uint64_t Sizes(uint64_t bytes, uint64_t items) {
  return std::min(bytes, trace::kMostBytes) | std::min(items, trace::kMostItems) << trace::kItemsShift;
}

// The third word of a submit. The numbers of roles are those of the format.
uint64_t ContentOf(const Task& task) {
  if (const Signal* const signal = SignalOf(task))
    return trace::SignalWord::Of(reinterpret_cast<uintptr_t>(signal->object) >> 4, signal->number,
                                 static_cast<trace::SignalWord::Role>(signal->role), signal->one_each, signal->shared);
  using Role = trace::SignalWord::Role;
  if (IsEdge(task)) return trace::SignalWord::Of(task.edge.index, 0, task.kind == TaskKind::kSignal ? Role::kSets : Role::kAwaits);
  return Sizes(TaskBytes(task), ItemsOf(task));
}

uint8_t DeviceByte(int device) { return device < 0 || device >= trace::kHost ? trace::kHost : static_cast<uint8_t>(device); }

bool MayStandStill(TaskKind kind) { return kind >= TaskKind::kAwait && kind <= TaskKind::kReplay; }

class TraceRecorder final : public Watcher {
 public:
  void Submitted(const TaskSight& sight) override {
    const Task& task = *sight.task;
    const uint64_t sequence = sight.stream_id == 0 ? ++TheDesk().own_copies : sight.sequence;
    const uint64_t numbers = static_cast<uint32_t>(sequence) | static_cast<uint64_t>(SiteNumber(task.call)) << 32;
    if (task.kind == TaskKind::kCopy) [[likely]]
      Put(HeadOf(RecordType::kSubmit, sight, LookOfCopy(task)), TraceTicks(), numbers, Sizes(task.copy.size, 1));
    else
      Put(HeadOf(RecordType::kSubmit, sight, LookOf(task)), TraceTicks(), numbers, ContentOf(task));
    if (t_transfer != nullptr) [[unlikely]]
      Transferred(sight.stream_id, sequence, *t_transfer);
  }

  Moment Started(const TaskSight& sight) override {
    const uint64_t now = TraceTicks();
    if (MayStandStill(sight.task->kind) && !sight.inside_graph)
      Put(HeadOf(RecordType::kStart, sight, 0), now, 0, static_cast<uint32_t>(sight.sequence));
    return {.ticks = now};
  }

  void Finished(const TaskSight& sight, const RunSight& run) override {
    const uint64_t sequence = sight.stream_id == 0 ? TheDesk().own_copies : sight.sequence;
    const auto flags = static_cast<uint8_t>((run.side_by_side ? trace::kSideBySide : 0) | (sight.inside_graph ? trace::kOfGraph : 0));
    if (sight.inside_graph) PutInsideGraph(sight);
    PutRun(HeadOf(RecordType::kRun, sight, flags), run.started.ticks, static_cast<uint32_t>(sequence), run.code);
  }

  void Dropped(const TaskSight& sight) override {
    Put(HeadOf(RecordType::kDrop, sight, 0), TraceTicks(), 0, static_cast<uint32_t>(sight.sequence));
  }

  uint64_t WaitBegins(const WaitSight& sight) override {
    const uint64_t now = TraceTicks();
    const uint64_t site = CurrentSite();
    if (Room(trace::kSlotSize) != nullptr) t_pen.wait = t_pen.next;
    PutWait(RecordType::kWait, sight, now, 0, site);
    return now;
  }
  // In the record of its begin, unless that is in a chunk that was handed in, or another wait came between.
  void WaitEnds(const WaitSight& sight, uint64_t begun) override {
    const uint64_t now = TraceTicks();
    std::byte* const at = std::exchange(t_pen.wait, nullptr);
    if (at == nullptr || reinterpret_cast<uint64_t*>(at)[1] != begun) return PutWait(RecordType::kWaited, sight, begun, now, CurrentSite());
    reinterpret_cast<uint64_t*>(at)[2] = now;
    Store(at, WaitHead(RecordType::kWaited, sight));
  }

  void Allocated(const BlockSight& sight) override { PutBlock(RecordType::kAllocate, sight); }
  void Freed(const BlockSight& sight) override { PutBlock(RecordType::kFree, sight); }

  // What the host was behind is in the wait.
  void Ordered(const OrderSight& sight) override {
    if (sight.to_stream == 0) return;
    const uint32_t site = SiteNumber(sight.call);
    RecordHead head{RecordType::kOrder, static_cast<uint8_t>(sight.event), static_cast<uint8_t>(sight.event >> 8),
                    static_cast<uint8_t>(sight.event >> 16), site};
    Put(head, TraceTicks(), sight.from_stream | static_cast<uint64_t>(sight.to_stream) << 32,
        static_cast<uint32_t>(sight.from_sequence) | sight.to_sequence << 32);
  }

  void Transferred(uint32_t stream_id, uint64_t sequence, const TransferSight& sight) override {
    Put({RecordType::kTransfer, static_cast<uint8_t>(sight.link), 0, 0, stream_id}, sight.rank, static_cast<uint32_t>(sequence),
        Sizes(sight.bytes, sight.items));
  }

  void Messaged(uint32_t stream_id, uint64_t sequence, uint64_t message, bool sends) override {
    Put({RecordType::kMessage, sends, 0, 0, stream_id}, uint64_t{0}, sequence, message);
  }

  bool WantsMarks() const override { return true; }
  void Marked(const MarkSight& sight) override {
    const std::string text = *sight.domain == '\0' ? sight.text : std::string(sight.domain) + ": " + sight.text;
    const auto kind = static_cast<uint8_t>(static_cast<uint8_t>(sight.kind) | (sight.in_stream ? trace::kMarkInStream : 0));
    PutText(TextRecord({RecordType::kMark, 0, kind, DeviceByte(sight.device), sight.in_stream ? sight.stream_id : 0},
                       {TraceTicks(), sight.id}, text.c_str()));
  }

  void Flush() override { g_chunks->End(); }

 private:
  static RecordHead HeadOf(RecordType type, const TaskSight& sight, uint8_t flags) {
    return {type, static_cast<uint8_t>(sight.task->kind), flags, DeviceByte(sight.device), sight.stream_id};
  }
  static void PutRun(RecordHead head, uint64_t started, uint64_t sequence, int code) {
    const uint64_t ended = TraceTicks(), took = ended - started;
    if (code != 0 || took > UINT32_MAX) [[unlikely]]
      return Put(head, started, ended, sequence | static_cast<uint64_t>(static_cast<uint32_t>(code)) << 32);
    head.type = RecordType::kShortRun;
    Put(head, started, sequence | took << 32);
  }
  // What a submit would have said of a task that has none; its run is the next record, and in the same chunk.
  static void PutInsideGraph(const TaskSight& sight) {
    const uint64_t site = SiteNumber(sight.task->call);
    static_cast<void>(Room(2 * trace::kSlotSize));
    Put(HeadOf(RecordType::kInsideGraph, sight, LookOf(*sight.task)), uint64_t{sight.branch},
        static_cast<uint32_t>(sight.sequence) | site << 32, ContentOf(*sight.task));
  }
  static RecordHead WaitHead(RecordType type, const WaitSight& sight) {
    return {type, static_cast<uint8_t>(sight.reason), 0, 0, sight.stream_id};
  }
  static void PutWait(RecordType type, const WaitSight& sight, uint64_t begin, uint64_t end, uint64_t site) {
    Put(WaitHead(type, sight), begin, end, static_cast<uint32_t>(sight.sequence) | site << 32);
  }
  static void PutBlock(RecordType type, const BlockSight& sight) {
    const uint32_t site = SiteNumber(sight.call);
    Put({type, 0, 0, DeviceByte(sight.device), site}, TraceTicks(), reinterpret_cast<uintptr_t>(sight.address), sight.size);
  }
};

// --- What the preparer adds ---------------------------------------------------------------------------------------------

unsigned long long g_modules_told = 0;  // how many the loader had added by then

void PutName(TraceChunks& chunks, NameTable table, size_t index, const char* text) {
  const TextRecord record({RecordType::kName, 0, static_cast<uint8_t>(table), static_cast<uint8_t>(index), 0}, {}, text);
  chunks.Append(record.data(), record.size());
}

// The loader has allocated the name and has its own lock, of which ThreadSanitizer knows nothing: copied by hand, unseen by it.
[[gnu::no_sanitize_thread]] void CopyPath(const char* from, char (&to)[512]) {
  size_t length = 0;
  for (; from[length] != '\0' && length + 1 < sizeof(to); ++length) const_cast<volatile char*>(to)[length] = from[length];
  to[length] = '\0';
}

[[gnu::no_sanitize_thread]] int TellModule(dl_phdr_info* info, size_t, void* seen) {
  const bool main = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
  if (main && static_cast<size_t*>(seen)[0]++ != 0) return 0;  // the kernel's page has no name either
  uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    begin = std::min<uintptr_t>(begin, info->dlpi_addr + segment.p_vaddr);
    end = std::max<uintptr_t>(end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
  }
  if (end == 0) return 0;
  char path[512];
  CopyPath(main ? g_chunks->header().program : info->dlpi_name, path);
  const TextRecord record({RecordType::kModule, 0, 0, 0, 0}, {begin, end, info->dlpi_addr}, path);
  g_chunks->Append(record.data(), record.size());
  return 0;
}

// Modules are told of again, all of them, when one has come: seldom, and nobody has to keep a list.
void LookAround(TraceChunks&) {
  unsigned long long added = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;
      },
      &added);
  if (std::exchange(g_modules_told, added) == added) return;
  size_t nameless = 0;
  dl_iterate_phdr(&TellModule, &nameless);
}

void DescribeProcess(TraceChunks& chunks, const TraceOptions& options) {
  trace::FileHeader& header = chunks.header();
  gethostname(header.host, sizeof(header.host) - 1);
  if (FILE* boot = fopen("/proc/sys/kernel/random/boot_id", "re")) {
    if (fgets(header.boot, sizeof(header.boot), boot) == nullptr) header.boot[0] = '\0';
    header.boot[std::strcspn(header.boot, "\n")] = '\0';
    fclose(boot);
  }
  std::snprintf(header.engine, sizeof(header.engine), "%s", options.engine.c_str());
  static_cast<void>(readlink("/proc/self/exe", header.program, sizeof(header.program) - 1) < 0);
  if (!options.rank.empty()) header.rank = std::atoi(options.rank.c_str());
}

void DescribeNames(TraceChunks& chunks) {
  for (size_t kind = 0; kind <= static_cast<size_t>(kLastTaskKind); ++kind)
    PutName(chunks, NameTable::kKind, kind, TaskKindName(static_cast<TaskKind>(kind)));
  for (const CopyMethod method : {CopyMethod::kCached, CopyMethod::kStreaming, CopyMethod::kShared}) {
    PutName(chunks, NameTable::kMethod, static_cast<size_t>(method), CopyMethodName(method));
    PutName(chunks, NameTable::kMethodReason, static_cast<size_t>(method), CopyMethodReason(method));
  }
  constexpr const char* kWaits[] = {"work", "event", "room", "report", "process", "rank"};
  static_assert(trace::kRankWait == static_cast<uint8_t>(WaitReason::kRank) && std::size(kWaits) == trace::kRankWait + 1);
  for (size_t i = 0; i < std::size(kWaits); ++i) PutName(chunks, NameTable::kWaitReason, i, kWaits[i]);
  constexpr const char* kLinks[] = {"",     "local", "shared memory", "tcp", "ucx",     "several",       "ONCHIP",
                                    "HCCS", "PCIE",  "ROCE",          "SIO", "HCCS_SW", "STANDARD_ROCE", "UB"};
  static_assert(static_cast<size_t>(Link::kNamed) == 6);
  for (size_t i = 0; i < std::size(kLinks); ++i) PutName(chunks, NameTable::kLink, i, kLinks[i]);
}

TextRecord PlaceRecord(const void* place, const char* text) {
  return TextRecord({RecordType::kPlace, 0, 0, 0, 0}, {reinterpret_cast<uintptr_t>(place)}, text);
}

// Those that were named before the trace began.
void DescribePlaces(TraceChunks& chunks) {
  for (size_t i = 0; i < NamedPlaces(); ++i) {
    const void* const place = NamedPlaceAt(i);
    const char* const text = NameOfPlace(place);
    if (text == nullptr) continue;
    const TextRecord record = PlaceRecord(place, text);
    chunks.Append(record.data(), record.size());
  }
}

// As it was asked for, and as it is called.
struct NamedFile {
  TraceOptions options;
  std::string path;
};
NamedFile& TheFile() {
  static auto* const file = new NamedFile;  // what ends at exit may still ask
  return *file;
}

std::string Expanded(const TraceOptions& options) {
  char host[64] = {};
  gethostname(host, sizeof(host) - 1);
  std::string path;
  for (size_t i = 0; i < options.file.size(); ++i) {
    const char sign = options.file[i] == '%' && i + 1 < options.file.size() ? options.file[i + 1] : '\0';
    switch (sign) {
      case 'p': path += std::to_string(getpid()); break;
      case 'r': path += options.rank.empty() ? "none" : options.rank; break;
      case 'h': path += host; break;
      case '%': path += '%'; break;
      default: path += options.file[i]; continue;
    }
    ++i;
  }
  return path;
}

}  // namespace

const void* TellTracePlace(const char* text) {
  const void* const place = NamePlace(text);
  if (g_chunks != nullptr && place != nullptr) PutText(PlaceRecord(place, text));
  return place;
}

void TellTraceRank(uint32_t rank, uint32_t ranks) {
  static std::atomic<bool> told{false};
  if (g_chunks == nullptr || told.exchange(true)) return;
  g_chunks->header().rank = static_cast<int32_t>(rank);
  g_chunks->header().ranks = ranks;
  if (!TheFile().options.rank.empty()) return;
  TraceOptions options = TheFile().options;
  options.rank = std::to_string(rank);
  const std::string path = Expanded(options);
  if (path == Expanded(TheFile().options) || access(path.c_str(), F_OK) == 0) return;
  static_cast<void>(std::rename(TheFile().path.c_str(), path.c_str()));
}

void StartTrace(const TraceOptions& options) {
  std::string path = Expanded(options);
  TraceChunks* chunks = TraceChunks::Open(&path);
  if (chunks == nullptr) {
    fprintf(stderr, "ropeway: ROPEWAY_TRACE=%s cannot be written (%s); nothing is traced\n", path.c_str(), strerror(errno));
    return;
  }
  g_chunks = chunks;
  TheFile() = {options, path};
  g_side_of = options.side_of;
  g_modules_told = 0;
  DescribeProcess(*chunks, options);
  DescribeNames(*chunks);
  DescribePlaces(*chunks);
  LookAround(*chunks);
  chunks->look_around = &LookAround;
  chunks->Start();
  // The pages are the parent's, and so is the thread that prepares them.
  static const int at_fork = pthread_atfork(nullptr, nullptr, [] { t_pen = Pen(); });
  static_cast<void>(at_fork);
  TakeSeat(Seat::kTrace, new TraceRecorder);
}

}  // namespace ropeway
