#include "check/host_access.h"

#include <execinfo.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

#include "check/call.h"
#include "check/options.h"
#include "check/shut_pages.h"

#define RW_HANDLER_TLS __attribute__((tls_model("initial-exec")))  // found without a call

namespace ropeway::check {
namespace {

constexpr uint32_t kSampled = 16;  // with --host-access=sample, one operation of so many

thread_local bool holds_table RW_HANDLER_TLS = false;
thread_local const FunctionScope* running_function RW_HANDLER_TLS = nullptr;

// An access that met a pending operation. As the handler finds it; put into words later.
struct Touch {
  uintptr_t instruction;
  uintptr_t address;
  bool write;
  Use use;
  bool use_writes;
  Range bytes;  // of the operation
  std::array<void*, 32> frames;
  int frame_count;
};

struct Table {
  ShutPages pages;
  uint32_t operations = 0;
  std::array<Touch, 64> touches;  // not told yet
  size_t touch_count = 0;
  std::atomic<uint64_t> queued{0};
  std::atomic<uint64_t> told{0};
  sem_t something;
  std::atomic<bool> teller{false};
};

Table& TheTable() {
  static auto* const table = [] {
    auto* const made = new Table;
    sem_init(&made->something, 0, 0);
    return made;
  }();
  return *table;
}

// A lock that a signal handler may take: what is done under it touches no memory of the program, so it never faults itself. The handler of
// an asynchronous signal that came meanwhile may; it finds its thread marked.
std::atomic_flag table_lock = ATOMIC_FLAG_INIT;
std::atomic<bool> any_ended{false};  // blocks that are freed, and still used

class TableLock {
 public:
  TableLock() {
    while (table_lock.test_and_set(std::memory_order_acquire)) sched_yield();
    holds_table = true;
  }
  ~TableLock() {
    holds_table = false;
    table_lock.clear(std::memory_order_release);
  }
  TableLock(const TableLock&) = delete;
  TableLock& operator=(const TableLock&) = delete;
};

// Spread over all of them, whatever the length of the program's loops.
bool Sampled(uint32_t number) { return GetOptions().host_access != "sample" || number * 2654435761U < UINT32_MAX / kSampled; }

bool OrderedBehind(const PendingUse& use, const FunctionScope& scope) {
  if (use.order_unknown || (scope.captured() && use.replay)) return true;
  const Place& place = use.use.place;
  return (place.stream == scope.place().stream && place.number > scope.place().number) ||
         use.behind.Of(scope.place().stream) >= scope.place().number;
}

bool IsWrite([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
  constexpr greg_t kWrite = 2;
  return (context.uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
#elif defined(__aarch64__)
  constexpr uint32_t kMagic = 0x45535201;
  constexpr uint64_t kWrite = 1 << 6;
  for (const auto* at = reinterpret_cast<const _aarch64_ctx*>(context.uc_mcontext.__reserved); at->magic != 0;
       at = reinterpret_cast<const _aarch64_ctx*>(reinterpret_cast<const char*>(at) + at->size))
    if (at->magic == kMagic) return (reinterpret_cast<const uint64_t*>(at)[1] & kWrite) != 0;
  return false;
#else
  return false;
#endif
}

uintptr_t InstructionOf(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#else
  return context.uc_mcontext.pc;
#endif
}

// The small stacks that programs give their handlers may have no room to unwind on.
bool HasRoomToUnwind(const ucontext_t& context) {
  constexpr uintptr_t kRoom = 16 << 10;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const auto stack = reinterpret_cast<uintptr_t>(context.uc_stack.ss_sp);
  const bool on_it = stack <= here && here < stack + context.uc_stack.ss_size;
  return !on_it || here - stack > kRoom;
}

// Without the lock: unwinding may wait for whoever loads a library, and that one for the lock.
Touch TouchOf(const siginfo_t& fault, const ucontext_t& context) {
  Touch touch{InstructionOf(context), reinterpret_cast<uintptr_t>(fault.si_addr), IsWrite(context), {}, false, {}, {}, 0};
  if (HasRoomToUnwind(context)) touch.frame_count = backtrace(touch.frames.data(), static_cast<int>(touch.frames.size()));
  return touch;
}

// Under the lock. The number of the touch; 0 when there is no room.
uint64_t Queue(const Touch& touch, const PendingUse& met) {
  Table& table = TheTable();
  if (table.touch_count == table.touches.size()) return 0;
  Touch& queued = table.touches[table.touch_count++];
  queued = touch;
  queued.use = met.use;
  queued.use_writes = met.write;
  queued.bytes = met.bytes;
  return ++table.queued;
}

// Behind a change that another thread made meanwhile, the access is tried again; a page that the program shut itself stays shut.
bool TriesAgain(uintptr_t address) {
  constexpr int kMost = 100;
  static thread_local uintptr_t last RW_HANDLER_TLS = 0;
  static thread_local int times RW_HANDLER_TLS = 0;
  times = last == address ? times + 1 : 0;
  last = address;
  return times < kMost;
}

// Under the lock. False when the page is the program's business; `*number` is what is to be told, 0 for nothing.
bool Meet(const Touch& touch, uint64_t* number) {
  const ShutPages& pages = TheTable().pages;
  const TwinBlock* const block = pages.BlockAt(touch.address);
  if (block == nullptr) return false;
  const PendingUse* const met = pages.Met(*block, touch.address, touch.write);
  if (met == nullptr) return TriesAgain(touch.address);
  const bool ordered = running_function != nullptr && OrderedBehind(*met, *running_function);
  if (!ordered && !Call::Inside()) *number = Queue(touch, *met);
  ShutPages::Open(*met);
  return true;
}

// From the access on, outwards.
std::vector<void*> StackOf(const Touch& touch) {
  const auto end = touch.frames.begin() + touch.frame_count;
  const auto at = std::find(touch.frames.begin(), end, reinterpret_cast<void*>(touch.instruction));
  std::vector<void*> stack{reinterpret_cast<void*>(touch.instruction + 1)};  // as if it were a call
  if (at != end) stack.insert(stack.end(), at + 1, end);
  return stack;
}

void Tell(Books& books, const Touch& touch) {
  const uint32_t access = books.operations.NumberOfAccess(StackOf(touch));
  if (books.operations.At(access).inside) return;
  const std::string at = touch.bytes.begin == touch.address ? "" : ", at +" + std::to_string(touch.address - touch.bytes.begin);
  books.Tell(touch.write ? Rule::kHostWrites : Rule::kHostReads, access,
             (touch.write ? "writes " : "reads ") + books.Describe(touch.bytes) + at, touch.use,
             touch.use_writes ? "writes it, and may not have run yet" : "reads it, and may not have run yet");
}

void TellTouches(Books& books) {
  Table& table = TheTable();
  std::vector<Touch> touches;
  touches.reserve(table.touches.size());
  uint64_t queued = 0;
  {
    const TableLock lock;
    touches.assign(table.touches.begin(), table.touches.begin() + static_cast<std::ptrdiff_t>(table.touch_count));
    table.touch_count = 0;
    queued = table.queued;
  }
  for (const Touch& touch : touches) Tell(books, touch);
  table.told.store(queued, std::memory_order_release);
}

void TellForEver() {
  for (;;) {
    while (sem_wait(&TheTable().something) != 0) {
    }
    const std::lock_guard lock(Call::Mutex());
    TellTouches(Books::Get());
  }
}

void StartTeller() {
  if (TheTable().teller.exchange(true)) return;
  void* frame = nullptr;
  backtrace(&frame, 1);  // loads what it needs, which a signal handler cannot
  std::thread(TellForEver).detach();
}

// The finding is told before the program goes on, which may be the last that it does. Not for ever: it may hold what telling needs.
void AwaitTold(uint64_t number) {
  Table& table = TheTable();
  if (number == 0 || !table.teller.load(std::memory_order_relaxed)) return;
  sem_post(&table.something);
  if (Call::Inside()) return;
  constexpr int kTries = 20000;
  const timespec pause{0, 100000};
  for (int i = 0; i < kTries && table.told.load(std::memory_order_acquire) < number; ++i) nanosleep(&pause, nullptr);
}

}  // namespace

const bool HostAccess::on_ = GetOptions().host_access != "off";

void* HostAccess::Allocate(size_t size) {
  if (!on_ || size < PageSize()) return nullptr;
  StartTeller();
  const std::optional<TwinPages> pages = MakeTwinPages(size);
  if (!pages) return nullptr;
  const std::lock_guard books(Call::Mutex());
  const TableLock lock;
  TheTable().pages.Add(*pages);
  return pages->program;
}

bool HostAccess::Free(void* address) {
  if (!on_) return false;
  bool ended = false;
  {
    const std::lock_guard books(Call::Mutex());
    const TableLock lock;
    ended = TheTable().pages.End(reinterpret_cast<uintptr_t>(address));
    any_ended = true;
  }
  ReleaseUnused();
  return ended;
}

void HostAccess::ReleaseUnused() {
  if (!any_ended.load(std::memory_order_relaxed)) return;
  Table& table = TheTable();
  std::vector<TwinPages> unused;
  {
    const std::lock_guard books(Call::Mutex());
    const TableLock lock;
    unused = table.pages.TakeUnused();
    any_ended = table.pages.AnyEnded();
  }
  for (const TwinPages& pages : unused) {
    if (ReleaseTwinPages(pages)) continue;
    const std::lock_guard books(Call::Mutex());
    const TableLock lock;
    table.pages.Return(pages);
  }
}

Range HostAccess::BlockOf(const void* address) {
  if (!on_) return {};
  const TableLock lock;
  const TwinBlock* const block = TheTable().pages.BlockAt(reinterpret_cast<uintptr_t>(address));
  return block == nullptr ? Range{} : block->range();
}

void* HostAccess::FindTwin(const void* address) {
  const TableLock lock;
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  const TwinBlock* const block = TheTable().pages.BlockAt(wanted);
  return block == nullptr ? const_cast<void*>(address) : block->pages.library + (wanted - block->range().begin);
}

bool HostAccess::CountRegistration(const void* address, int by) {
  if (!on_) return false;
  const TableLock lock;
  TwinBlock* const block = TheTable().pages.BlockAt(reinterpret_cast<uintptr_t>(address));
  if (block == nullptr) return false;
  const bool changes = block->registrations == (by > 0 ? 0 : 1);
  block->registrations += by;
  return changes;
}

void HostAccess::BeforeRegister(const void* address) {
  if (CountRegistration(address, +1)) UnregisterWithLibrary(reinterpret_cast<void*>(BlockOf(address).begin));
}

void HostAccess::AfterUnregister(const void* address) {
  if (!CountRegistration(address, -1)) return;
  const Range block = BlockOf(address);
  RegisterWithLibrary(reinterpret_cast<void*>(block.begin), block.end - block.begin);
}

bool HostAccess::IsOwnRegistration(const void* address) {
  if (!on_) return false;
  const TableLock lock;
  const TwinBlock* const block = TheTable().pages.BlockAt(reinterpret_cast<uintptr_t>(address));
  return block != nullptr && block->registrations == 0;
}

void HostAccess::Shut(const Model& model, const Use& use, std::span<const Access> accesses, bool replay) {
  if (!on_ || !use.place || model.Finished(use.place)) return;
  Table& table = TheTable();
  const bool shut = Sampled(++table.operations);
  for (const Access& access : accesses) {
    const TableLock lock;
    TwinBlock* const block = table.pages.BlockAt(access.range.begin);
    if (block == nullptr || access.range.empty()) continue;
    const StreamIndex stream = use.place.stream;
    const Range bytes{access.range.begin, std::min(access.range.end, block->range().end)};
    table.pages.Begin({use, access.write, replay, model.HeldAt(stream) != nullptr, model.ClockOf(stream), block, bytes, 0, 0}, shut);
  }
}

void HostAccess::Settle(Books& books) {
  if (!on_) return;
  Table& table = TheTable();
  if (table.told.load(std::memory_order_relaxed) != table.queued) TellTouches(books);
  const TableLock lock;
  table.pages.EndFinished(books.model);
}

bool HostAccess::OnFault(const siginfo_t& fault, void* context) {
  if (!on_ || holds_table || fault.si_code != SEGV_ACCERR || BlockOf(fault.si_addr).empty()) return false;
  const Touch touch = TouchOf(fault, *static_cast<const ucontext_t*>(context));
  uint64_t number = 0;
  {
    const TableLock lock;
    if (!Meet(touch, &number)) return false;
  }
  AwaitTold(number);
  return true;
}

// The child has one thread, none of the library's, and whatever is pending is its parent's.
void HostAccess::AfterFork() {
  if (!on_) return;
  table_lock.clear();
  Table& table = TheTable();
  table.teller = false;
  table.touch_count = 0;
  table.told = table.queued.load();
  table.pages.Forget();
}

FunctionScope::FunctionScope(const Place& place, bool captured) : place_(place), captured_(captured), outer_(running_function) {
  running_function = this;
}
FunctionScope::~FunctionScope() { running_function = outer_; }

TwinList::TwinList(void** addresses, size_t count) : addresses_(addresses) {
  if (!HostAccess::On() || addresses == nullptr || count > kMost) return;
  twins_.resize(count);
  for (size_t i = 0; i < count; ++i) twins_[i] = HostAccess::Twin(addresses[i]);
}

}  // namespace ropeway::check
