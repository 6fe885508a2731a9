// How a trace lies on disk: one page about the process, then chunks of records. The recorder in the library and the reader in the command
// share this file and nothing else; docs/trace.md has the same in words.
//
// A record is 32 bytes, several times that with a text, or 24 for most runs. Its first word is stored last, so a record whose type is not 0
// is whole, also in the file of a process that was killed. Behind the last record of a chunk the type is 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ropeway::trace {

inline constexpr char kMagic[8] = "RWTRACE";
inline constexpr uint32_t kVersion = 4;
inline constexpr size_t kHeaderSize = 4096;
inline constexpr size_t kChunkSize = size_t{64} << 10;
inline constexpr size_t kSlotSize = 32;
inline constexpr size_t kShortSize = 24;
inline constexpr size_t kMostRecordSize = 1024;

// One moment on three clocks.
struct ClockPair {
  uint64_t ticks;
  int64_t monotonic_ns;
  int64_t real_ns;
};

struct FileHeader {
  char magic[8];
  uint32_t version;
  uint32_t chunk_size;
  int32_t pid;
  int32_t rank;  // -1: none
  uint32_t ranks;
  uint32_t last;  // which of `later` is whole
  ClockPair first;
  ClockPair later[2];
  uint64_t dropped;  // records that no chunk was ready for
  char host[64];
  char boot[40];  // files with the same one share the monotonic clock
  char engine[16];
  char program[512];
  uint64_t size;  // of this process's part of a merged file, this page included; 0: all that follows
};
static_assert(sizeof(FileHeader) <= kHeaderSize);

enum class RecordType : uint8_t {
  kNone = 0,
  kThread,  // whose records follow
  kSubmit,
  kRun,       // from start to end
  kShortRun,  // the same in 24 bytes, of a task that went well in less than 2^32 ticks
  kStart,     // of a task that may stand still; its run follows when it is over
  kDrop,
  kWait,    // a host thread begins to wait
  kWaited,  // the same wait, over
  kAllocate,
  kFree,
  kOrder,
  kInsideGraph,  // as kSubmit, of a task that has none; its run is the next record
  kTransfer,     // what a task of HCCL carries, and by which link; the last one counts
  kMessage,      // a part of it, under the number that both ends have
  // With a text; `a` is how many slots they take.
  kSite,
  kModule,
  kName,
  kPlace,
  kMark,  // of the program
};

// The first word of every record.
struct RecordHead {
  RecordType type;
  uint8_t a;
  uint8_t b;
  uint8_t c;
  uint32_t d;
};

// What the words of a record are, by type:
//            a            b                 c             d        word 1   word 2               word 3
// kThread    1: a lane    -                 -             tid      name: all that is left
// kSubmit    task kind    Look              device        stream   when     sequence, site << 32  bytes, items << 44; or a SignalWord
// kInsideGraph: as kSubmit; word 1 is the branch of the graph
// kRun       task kind    RunFlag           device        stream   start    end                  sequence, code << 32
// kShortRun  task kind    RunFlag           device        stream   start    sequence, ticks it took << 32; there is no word 3
// kStart     task kind    RunFlag           device        stream   start    -                    sequence
// kDrop      task kind    -                 device        stream   when     -                    sequence
// kWait      WaitReason   -                 -             stream   begin    0                    sequence or rank, site << 32
// kWaited    WaitReason   -                 -             stream   begin    end                  sequence or rank, site << 32
// kTransfer  index of its link's name       -             stream   rank     sequence             bytes, items << 44
// kMessage   1: sends     -                 -             stream   -        sequence             message
// kAllocate  -            -                 device        site     when     address              bytes
// kFree      -            -                 device        site     when     address              bytes
// kOrder     the event's number, 24 bits                  site     when     from, to << 32       sequences of both
// kSite      slots        -                 -             site     caller   name of the call: all that is left
// kModule    slots        -                 -             -        begin    end                  distance to its file's addresses, then
//                                                                  the path
// kName      slots        NameTable         index         -        the text: all that is left
// kPlace     slots        -                 -             -        number   "file:line": all that is left
// kMark      slots        MarkKind, flag    device        stream   when     id                   the text: all that is left
// Device 255 is the host. Stream 0 is no stream: a copy that the calling thread made by itself, numbered by its thread; a mark of a thread.
struct Record {
  RecordHead head;
  uint64_t words[3];
};
static_assert(sizeof(Record) == kSlotSize);

inline constexpr uint8_t kHost = 255;
inline constexpr int kItemsShift = 44;
inline constexpr uint64_t kMostBytes = (uint64_t{1} << kItemsShift) - 1, kMostItems = (uint64_t{1} << (64 - kItemsShift)) - 1;

enum class NameTable : uint8_t { kKind, kMethod, kMethodReason, kWaitReason, kLink };

// A wait for a rank has its number in the place of a task's.
constexpr uint8_t kRankWait = 5;

// What a mark or a wait has to do with an event, a notify or a counter, by which its stream is behind another. Inside a graph the object of
// a signal and its wait is the number of their edge in it. A shared object has the same name in all processes.
struct SignalWord {
  enum class Role : uint8_t { kAwaits, kSets, kTakesBack };
  static constexpr uint64_t Of(uint64_t object, uint32_t number, Role role, bool one_each = false, bool shared = false) {
    return (object & kObjects) | (number & kNumbers) << kItemsShift | static_cast<uint64_t>(role) << 60 |
           static_cast<uint64_t>(one_each) << 62 | static_cast<uint64_t>(shared) << 63;
  }
  static constexpr uint64_t Object(uint64_t word) { return word & kObjects; }
  static constexpr uint32_t Number(uint64_t word) { return static_cast<uint32_t>(word >> kItemsShift & kNumbers); }
  static constexpr Role RoleOf(uint64_t word) { return static_cast<Role>(word >> 60 & 3); }
  static constexpr bool OneEach(uint64_t word) { return (word >> 62 & 1) != 0; }
  static constexpr bool Shared(uint64_t word) { return word >> 63 != 0; }

 private:
  static constexpr uint64_t kObjects = kMostBytes, kNumbers = 0xFFFF;
};

// A caller that is no address but the number of a place that was told by its name: of a program in another language.
constexpr uint64_t kNamedPlace = uint64_t{1} << 63;

// Where memory is, as the record of a submit has it.
enum class Side : uint8_t { kUnknown, kDevice, kPinned, kPageable };

// Of a submit: both sides and the method, in one byte.
struct Look {
  static constexpr uint8_t kNoMethod = 7;
  static constexpr uint8_t kSignal = 1 << 7;  // the third word of the record is a SignalWord
  static constexpr uint8_t Of(Side dst, Side src, uint8_t method) {
    return static_cast<uint8_t>(static_cast<uint8_t>(dst) | static_cast<uint8_t>(src) << 2 | method << 4);
  }
  static constexpr Side Dst(uint8_t look) { return static_cast<Side>(look & 3); }
  static constexpr Side Src(uint8_t look) { return static_cast<Side>(look >> 2 & 3); }
  static constexpr uint8_t Method(uint8_t look) { return look >> 4 & 7; }
};

enum RunFlag : uint8_t { kSideBySide = 1, kOfGraph = 2 };

// Of a mark: the kind is in the lower bits.
inline constexpr uint8_t kMarkInStream = 4;  // a stream has come to it; else a thread has set it

// A text that stands behind the first `words` words of a record, with as many slots as it takes.
constexpr size_t SlotsFor(size_t words, size_t text) { return (words * sizeof(uint64_t) + text + 1 + kSlotSize - 1) / kSlotSize; }

}  // namespace ropeway::trace
