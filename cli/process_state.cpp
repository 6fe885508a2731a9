#include "cli/process_state.h"

#include <cinttypes>
#include <cstring>

#include "cli/exit_codes.h"
#include "cli/table.h"
#include "ropeway/ropeway.h"
#include "src/api/state_table.h"

namespace ropeway::cli {
namespace {

using state::Distance;

// One object, as it was at one moment.
class Image {
 public:
  bool Take(OtherMemory& memory, uint64_t address, size_t size) {
    bytes_.resize(size);
    return address != 0 && memory.Read(address, bytes_.data(), size);
  }
  template <typename T>
  T At(size_t distance) const {
    T value{};
    if (distance + sizeof value <= bytes_.size()) std::memcpy(&value, &bytes_[distance], sizeof value);
    return value;
  }

 private:
  std::vector<char> bytes_;
};

// The tasks of a queue that are not done.
struct Pending {
  uint64_t submitted = 0, completed = 0;
  bool halted = false;
  state::QueueState doing = state::QueueState::kIdle;
  Image ring;
  uint64_t first_slot = 0;
};

class Reader {
 public:
  Reader(OtherMemory& memory, const state::Table& table) : memory_(memory), table_(table) {}

  ProcessState Read() {
    ProcessState process;
    process.release = table_.release;
    const uint64_t runtime = memory_.Get<uint64_t>(table_.runtime.instance).value_or(0);
    process.started = runtime != 0;
    if (!process.started) return process;
    ReadMemory(runtime, &process);
    ForEachObject(table_.streams, [&](uint64_t stream) { ReadStream(stream, &process); });
    return process;
  }

 private:
  template <typename Visit>
  void ForEachObject(const state::SlabShape& slab, Visit visit) {
    constexpr uint32_t kAtOnce = 64;  // as they are made
    for (uint32_t i = 0; i < slab.capacity; i += kAtOnce) {
      uint64_t objects[kAtOnce];
      if (!memory_.Read(slab.objects + i * sizeof(uint64_t), objects, sizeof objects)) return;
      for (const uint64_t object : objects) {
        if (object == 0) return;
        visit(object);
      }
    }
  }

  std::vector<uint64_t> List(uint64_t at) {
    constexpr uint64_t kMost = 4096;
    const uint64_t begin = memory_.Get<uint64_t>(at).value_or(0), end = memory_.Get<uint64_t>(at + 8).value_or(0);
    std::vector<uint64_t> list(begin <= end ? std::min((end - begin) / 8, kMost) : 0);
    if (!list.empty() && !memory_.Read(begin, list.data(), list.size() * 8)) list.clear();
    return list;
  }

  // --- Memory ---
  void ReadMemory(uint64_t runtime, ProcessState* process) {
    const uint64_t all = memory_.Get<uint64_t>(runtime + table_.runtime.memory).value_or(0);
    const std::vector<uint64_t> devices = List(runtime + table_.runtime.devices);
    const std::vector<uint64_t> heaps = List(all + table_.memory.device_heaps);
    for (size_t i = 0; i < heaps.size() && i < devices.size(); ++i) {
      const MemoryState state = Heap(heaps[i], static_cast<int>(i));
      if (state.bytes != 0 || memory_.Get<int>(devices[i] + table_.device.users).value_or(0) != 0) process->memory.push_back(state);
    }
    process->memory.push_back(Heap(memory_.Get<uint64_t>(all + table_.memory.host_heap).value_or(0), -1));
  }

  MemoryState Heap(uint64_t address, int device) {
    Image heap;
    MemoryState state{device};
    if (!heap.Take(memory_, address, table_.heap.size)) return state;
    state.blocks = heap.At<uint64_t>(table_.heap.blocks);
    state.bytes = heap.At<uint64_t>(table_.heap.bytes);
    state.peak = heap.At<uint64_t>(table_.heap.peak);
    state.capacity = heap.At<uint64_t>(table_.heap.capacity);
    return state;
  }

  // --- Streams ---
  void ReadStream(uint64_t address, ProcessState* process) {
    Image stream;
    if (!stream.Take(memory_, address, table_.stream.size)) return;
    if (stream.At<uint32_t>(table_.streams.references) == 0) return;
    StreamState state;
    state.id = stream.At<int>(table_.stream.id);
    state.device = stream.At<int>(table_.stream.device);
    state.is_default = stream.At<bool>(table_.stream.is_default);
    state.destroyed = stream.At<uint32_t>(table_.streams.generation) % 2 == 0;
    state.error = stream.At<int>(table_.stream.error);
    Pending pending;
    if (!ReadQueue(stream.At<uint64_t>(table_.stream.queue), &pending)) return;
    Describe(pending, &state);
    const auto obstacles = stream.At<uint64_t>(table_.stream.obstacles);
    if ((obstacles & table_.stream.capturing) != 0) state.doing = "captured";
    if ((obstacles & table_.stream.aborting) != 0) state.doing = "being aborted";
    if (!state.destroyed || state.pending != 0) process->streams.push_back(std::move(state));
  }

  // The process goes on meanwhile. Slots between what is done behind the look at the ring and what was submitted before it were not written
  // in between, unless the queue was empty once and began at slot 0 anew: then it is looked at again.
  bool ReadQueue(uint64_t address, Pending* pending) {
    constexpr int kTries = 100;
    for (int i = 0; i < kTries; ++i) {
      Image before, after;
      if (!before.Take(memory_, address, table_.queue.size)) return false;
      pending->submitted = before.At<uint64_t>(table_.queue.submitted);
      const auto base = before.At<uint64_t>(table_.queue.base);
      if (pending->submitted != before.At<uint64_t>(table_.queue.completed) &&
          !pending->ring.Take(memory_, before.At<uint64_t>(table_.queue.ring), size_t{table_.queue.slots} * table_.task.size))
        return false;
      if (!after.Take(memory_, address, table_.queue.size)) return false;
      pending->completed = std::min(after.At<uint64_t>(table_.queue.completed), pending->submitted);
      pending->halted = after.At<bool>(table_.queue.halted);
      pending->doing = static_cast<state::QueueState>(after.At<uint32_t>(table_.queue.state));
      pending->first_slot = pending->completed - base;
      if (base == after.At<uint64_t>(table_.queue.base) || pending->completed == pending->submitted) return true;
    }
    pending->completed = pending->submitted;  // so busy that it has always just been empty
    return true;
  }

  void Describe(const Pending& pending, StreamState* state) {
    state->pending = pending.submitted - pending.completed;
    state->done = pending.completed;
    state->doing = DoingOf(pending);
    if (state->pending == 0) return;
    for (uint64_t i = 0; i < std::min<uint64_t>(state->pending, table_.queue.slots); ++i)
      state->bytes += BytesOf(pending.ring, SlotOf(pending, i));
    const size_t head = SlotOf(pending, 0);
    state->head = memory_.Text(pending.ring.At<uint64_t>(head + table_.task.call));
    if (const state::KindShape* kind = KindOf(pending.ring, head)) {
      state->head_kind = kind->name;
      state->waits_for = pending.halted ? "aclrtStreamAbort, since it was stopped" : WaitOf(*kind, pending.ring, head);
    }
  }

  static std::string DoingOf(const Pending& pending) {
    if (pending.halted) return "stopped";
    if (pending.completed == pending.submitted) return "idle";
    switch (pending.doing) {
      case state::QueueState::kOwned: return "runs";
      case state::QueueState::kBlocked: return "waits";
      default: return "is ready";
    }
  }

  size_t SlotOf(const Pending& pending, uint64_t ahead) const {
    return (pending.first_slot + ahead) % table_.queue.slots * table_.task.size;
  }

  const state::KindShape* KindOf(const Image& ring, size_t slot) const {
    const auto kind = ring.At<uint8_t>(slot + table_.task.kind);
    return kind < std::min<size_t>(table_.task.kinds, std::size(table_.task.shapes)) ? &table_.task.shapes[kind] : nullptr;
  }

  uint64_t BytesOf(const Image& ring, size_t slot) const {
    const state::KindShape* kind = KindOf(ring, slot);
    if (kind == nullptr || kind->multiple == 0) return 0;
    return ring.At<uint64_t>(slot + kind->bytes) * (kind->times == 0 ? 1 : ring.At<uint64_t>(slot + kind->times)) * kind->multiple;
  }

  // --- What a head waits for ---
  std::string WaitOf(const state::KindShape& kind, const Image& ring, size_t head) {
    constexpr const char* kTests[] = {"at least", "equal to", "having a bit of", "lacking a bit of"};
    switch (kind.waits_for) {
      case state::WaitsFor::kNothing: return "";
      case state::WaitsFor::kGate: return OwnerOfGate(ring.At<uint64_t>(head + table_.task.gate));
      case state::WaitsFor::kValue:
        return Format("the value at %#" PRIx64 " to be %s %" PRIu64, ring.At<uint64_t>(head + table_.task.address),
                      kTests[ring.At<uint8_t>(head + table_.task.test) % std::size(kTests)], ring.At<uint64_t>(head + table_.task.value));
      case state::WaitsFor::kFunction:
        return "the function " + memory_.NameOf(ring.At<uint64_t>(head + table_.task.function)) + " to return";
      case state::WaitsFor::kGraph: return "its graph to end";
    }
    return "";
  }

  // The object of this slab that has the gate; 0: none has.
  uint64_t HomeOf(uint64_t gate, Distance distance, const state::SlabShape& slab) {
    const uint64_t object = gate - distance;
    const auto index = memory_.Get<uint32_t>(object + slab.index);
    if (!index || *index >= slab.capacity) return 0;
    return memory_.Get<uint64_t>(slab.objects + *index * sizeof(uint64_t)) == object ? object : 0;
  }

  std::string OwnerOfGate(uint64_t gate) {
    if (const uint64_t record = HomeOf(gate, table_.record.gate, table_.records)) return DescribeRecord(record);
    if (const uint64_t event = HomeOf(gate, table_.event.gate, table_.events))
      return Format("event %d to be recorded", memory_.Get<int>(event + table_.event.id).value_or(0));
    if (const uint64_t notify = HomeOf(gate, table_.notify.gate, table_.notifies))
      return Format("notify %d to be recorded", memory_.Get<int>(notify + table_.notify.id).value_or(0));
    return "something outside its stream: a count notify, an operation, or another process";
  }

  std::string DescribeRecord(uint64_t record) {
    const uint64_t event = memory_.Get<uint64_t>(record + table_.record.event).value_or(0);
    const uint64_t stream = memory_.Get<uint64_t>(record + table_.record.stream).value_or(0);
    const uint64_t sequence = memory_.Get<uint64_t>(record + table_.record.sequence).value_or(0);
    std::string text = "event";
    if (event != 0) text += Format(" %d", memory_.Get<int>(event + table_.event.id).value_or(0));
    if (stream == 0) return text + " to be recorded";
    text += Format(", which stream %d records", memory_.Get<int>(stream + table_.stream.id).value_or(0));
    return sequence == 0 ? text : text + Format(" as its task %" PRIu64, sequence);
  }

  OtherMemory& memory_;
  const state::Table& table_;
};

}  // namespace

ProcessState ReadProcessState(OtherMemory& memory, uint64_t table_address) {
  struct Head {
    char magic[8];
    uint32_t version, size;
    char release[24];
  };
  const auto head = memory.Get<Head>(table_address);
  if (!head || std::memcmp(head->magic, state::kMagic, sizeof head->magic) != 0)
    throw CannotLook(kFound, "its Ropeway is being loaded just now; try again");
  if (head->version != state::kVersion || head->size != sizeof(state::Table))
    throw CannotLook(kFound, Format("its Ropeway is release %.24s, and this command is of %s; use the ropeway beside its library",
                                    head->release, ropewayGetVersion()));
  const auto table = memory.Get<state::Table>(table_address);
  if (!table) throw CannotLook(kFound, "it ended meanwhile");
  return Reader(memory, *table).Read();
}

}  // namespace ropeway::cli
