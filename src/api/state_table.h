// Where the state of this process lies, for those who look at it from outside: `ropeway ps`, and a debugger, also over a core file. The
// library exports one such table as `ropewayStateTable`; who finds it follows addresses and distances, and needs neither debug information
// nor anything that the process would have to do. The library that fills it and the command that follows it share this file and nothing
// else.
//
// All that a reader follows from here stays where it is while the process lives (slabs are never given back, and rings, heaps and devices
// neither), so a look at a process that runs on finds old values at worst. See docs/look_inside.md.
#pragma once

#include <cstdint>

namespace ropeway::state {

inline constexpr char kMagic[8] = "RWSTATE";
inline constexpr uint32_t kVersion = 1;

using Distance = uint32_t;  // from the begin of an object, in bytes

// Objects behind handles: a list of their addresses, ended by null.
struct SlabShape {
  uint64_t objects;
  uint32_t capacity;
  Distance generation, references, index;  // 32 bits each; the generation is odd while the handle is good
};

struct StreamShape {
  uint32_t size;
  Distance id, device, is_default;  // int, int, bool
  Distance obstacles;               // 64 bits
  Distance error;                   // int
  Distance queue;                   // address
  uint64_t capturing, aborting;     // bits of obstacles
};

struct QueueShape {
  uint32_t size;
  Distance submitted, completed;  // 64 bits: how many tasks
  Distance base;                  // 64 bits: the task behind this one is in slot 0
  Distance halted;                // bool
  Distance state;                 // 32 bits; one of States
  Distance ring;                  // address
  uint32_t slots;
};
enum class QueueState : uint32_t { kIdle, kQueued, kOwned, kBlocked };

enum class WaitsFor : uint8_t { kNothing, kGate, kValue, kFunction, kGraph };

struct KindShape {
  char name[16];
  WaitsFor waits_for;
  uint8_t bytes;     // how many a task has: the 64 bits at this distance,
  uint8_t times;     // times those at this one, unless it is 0,
  uint8_t multiple;  // times this
};

struct TaskShape {
  uint32_t size;
  Distance kind;            // 8 bits
  Distance call;            // address of a text
  Distance gate;            // address
  Distance address;         // of a word that is waited for
  Distance value, test;     // 64 bits, 8 bits
  Distance function, sink;  // addresses
  uint32_t kinds;
  KindShape shapes[32];
};

// What a gate lies in.
struct RecordShape {
  Distance gate, event, stream, sequence;  // addresses, and 64 bits
};
struct NamedGateShape {
  Distance gate, id;  // int
};

struct HeapShape {
  uint32_t size;
  Distance blocks, bytes, peak, capacity;  // 64 bits each
};

struct MemoryShape {
  Distance device_heaps;  // addresses of the first and behind the last of a list of addresses
  Distance host_heap;     // address
};

struct DeviceShape {
  Distance users;  // int
};

struct RuntimeShape {
  uint64_t instance;  // address of its address, which is null until the first device is used
  Distance memory;    // address
  Distance devices;   // as device_heaps
};

struct Table {
  char magic[8];
  uint32_t version;
  uint32_t size;
  char release[24];
  SlabShape streams, records, events, notifies;
  StreamShape stream;
  QueueShape queue;
  TaskShape task;
  RecordShape record;
  NamedGateShape event, notify;
  HeapShape heap;
  MemoryShape memory;
  DeviceShape device;
  RuntimeShape runtime;
};

}  // namespace ropeway::state
