// Copies and memsets, one at a time: queued ones take their place in the stream, the others happen at once.
#include <array>
#include <optional>

#include "check/host_wait.h"

using namespace ropeway::check;

namespace {

// A host side that the runtime does not know makes the call wait for its stream and copy.
bool Pageable(const Books& books, const void* address) { return books.BlockAt(address) == nullptr; }

void FinishPageable(Books& books, const Place& place, uint32_t operation) {
  books.model.Finish(place);
  books.Tell(Rule::kTipPageable, operation, "copies pageable memory: the call waited for its stream and copied");
}

// One operation over some rows.
struct Rows {
  void* dst;
  size_t dst_pitch;
  const void* src;
  size_t src_pitch;
  size_t width;
  size_t height;
  bool empty() const { return width == 0 || height == 0; }
};

// Rows without room between them are one range.
void AddSide(const Rows& rows, const void* first, size_t pitch, bool write, std::vector<Access>* accesses) {
  if (pitch == rows.width) return accesses->push_back({RangeOf(first, rows.width * rows.height), write});
  for (size_t row = 0; row < rows.height; ++row)
    accesses->push_back({RangeOf(static_cast<const char*>(first) + row * pitch, rows.width), write});
}

std::vector<Access> AccessesOf(const Rows& rows) {
  std::vector<Access> accesses;
  AddSide(rows, rows.src, rows.src_pitch, false, &accesses);
  AddSide(rows, rows.dst, rows.dst_pitch, true, &accesses);
  return accesses;
}

// What is judged before the call may be nonsense.
bool RefusedRows(size_t width, size_t height) { return width > 5000000 || height > 5242880; }

void KeepCopy(Books& books, uint32_t operation, const Rows& rows, aclrtMemcpyKind kind, StreamIndex index) {
  books.CopiedInto(rows.dst, rows.width + (rows.height - 1) * rows.dst_pitch);
  if (kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {  // the source was taken during the call
    books.HostUse(Rule::kHostPasses, RangeOf(rows.src, rows.width), false, operation);
    const Access write{RangeOf(rows.dst, rows.width), true};
    books.Queue(index, operation, {&write, 1});
    return;
  }
  const bool pageable = kind != ACL_MEMCPY_DEVICE_TO_DEVICE && (Pageable(books, rows.dst) || Pageable(books, rows.src));
  const std::shared_ptr<Graph> kept = pageable ? books.model.CaptureOf(index) : nullptr;
  if (kept != nullptr && kept->kept) {  // happens at once, and not when the model runs
    for (const Access& access : AccessesOf(rows)) books.HostUse(Rule::kHostPasses, access.range, access.write, operation);
    return;
  }
  Place place;
  if (rows.height == 1) {
    const std::array<Access, 2> accesses{{{RangeOf(rows.src, rows.width), false}, {RangeOf(rows.dst, rows.width), true}}};
    place = books.Queue(index, operation, accesses);
  } else {
    place = books.Queue(index, operation, AccessesOf(rows));
  }
  if (pageable) return FinishPageable(books, place, operation);
  if (rows.height == 1) books.tips.Copied(place, operation, RangeOf(rows.dst, rows.width), RangeOf(rows.src, rows.width));
}

// Such a copy may wait for ever, if its stream does.
class WaitOfPageable {
 public:
  WaitOfPageable(Call& call, const void* dst, const void* src, aclrtStream stream) {
    if (!Books::Get().model.AnyHeld()) return;
    wait_.emplace(call, [&, named = Named(stream)](Books& books) {
      const bool waits = Pageable(books, dst) || Pageable(books, src);
      return waits ? books.LastOf(named) : std::vector<Place>{};
    });
  }

 private:
  std::optional<HostWait> wait_;
};

// A pageable copy that tells the error of its stream has waited for it. What is wrong with the call itself has other codes.
bool TellsItsStreamsError(aclError code) { return code >= 507000 && code < 507900; }

void KeepRefused(Call& call, aclError code, const void* dst, const void* src, aclrtStream stream) {
  if (!TellsItsStreamsError(code)) return;
  const aclrtStream named = Named(stream);
  call.Keep([&](Books& books, uint32_t) {
    if (!Pageable(books, dst) && !Pageable(books, src)) return;
    for (const Place& place : books.LastOf(named)) books.model.Finish(place);
  });
}

void KeepAtOnce(Books& books, uint32_t operation, const Rows& rows) {
  if (rows.empty()) return;
  books.WhenDone([rows](Books& settled) { settled.CopiedInto(rows.dst, rows.width + (rows.height - 1) * rows.dst_pitch); });
  for (const Access& access : AccessesOf(rows)) books.HostUse(Rule::kHostPasses, access.range, access.write, operation);
}

void KeepMemset(Books& books, uint32_t operation, void* address, size_t size, StreamIndex index) {
  const Block* const block = books.BlockAt(address);
  const bool host = block == nullptr || block->kind == Block::Kind::kPinned || block->kind == Block::Kind::kRegistered;
  if (host) return books.HostUse(Rule::kHostPasses, RangeOf(address, size), true, operation);  // written at once, whatever is queued
  const Access write{RangeOf(address, size), true};
  books.Queue(index, operation, {&write, 1});
}

}  // namespace

// A copy that may wait for its stream, and tell what became of it.
#define RW_COPY(name, parameters, arguments, ...)                                                                        \
  RW_HOOK(name);                                                                                                         \
  aclError name parameters {                                                                                             \
    RW_CALL(name);                                                                                                       \
    const WaitOfPageable wait(call, dst, src, stream);                                                                   \
    const aclError code = NEXT(name) arguments;                                                                          \
    if (code != ACL_SUCCESS) {                                                                                           \
      KeepRefused(call, code, dst, src, stream);                                                                         \
      return code;                                                                                                       \
    }                                                                                                                    \
    const Rows rows __VA_ARGS__;                                                                                         \
    if (rows.empty()) return code;                                                                                       \
    const aclrtStream named = Named(stream);                                                                             \
    call.Keep([&](Books& books, uint32_t operation) { KeepCopy(books, operation, rows, kind, books.StreamOf(named)); }); \
    return code;                                                                                                         \
  }

RW_COPY(aclrtMemcpyAsync, (void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream),
        (call.Bytes(dst, count), destMax, call.Bytes(src, count), count, kind, stream), {dst, 0, src, 0, count, 1})
RW_COPY(aclrtMemcpyAsyncWithCondition, (void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind, aclrtStream stream),
        (call.Bytes(dst, count), destMax, call.Bytes(src, count), count, kind, stream), {dst, 0, src, 0, count, 1})
RW_COPY(aclrtMemcpy2dAsync,
        (void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind, aclrtStream stream),
        (call.Rows(dst, dpitch, width, height), dpitch, call.Rows(src, spitch, width, height), spitch, width, height, kind, stream),
        {dst, dpitch, src, spitch, width, height})
RW_QUEUED_IF(count != 0, aclError, aclrtMemsetAsync, (void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream),
             (call.Bytes(devPtr, count), maxCount, value, count, stream), KeepMemset(books, operation, devPtr, count, index))
RW_QUEUED_IF(N != 0, aclError, aclrtMemsetD32Async, (void* ptr, size_t memSize, uint32_t value, size_t N, aclrtStream stream),
             (call.Bytes(ptr, 4 * N), memSize, value, N, stream), KeepMemset(books, operation, ptr, 4 * N, index))
RW_QUEUED_IF(count != 0, aclError, aclrtReduceAsync,
             (void* dst, const void* src, uint64_t count, aclrtReduceKind kind, aclDataType type, aclrtStream stream, void* reserve),
             (call.Bytes(dst, count), call.Bytes(src, count), count, kind, type, stream, reserve),
             KeepCopy(books, operation, {dst, 0, src, 0, count, 1}, ACL_MEMCPY_DEVICE_TO_DEVICE, index))

// Judged before they happen: what they pass may be over when they return.
RW_AT_ONCE(aclrtMemcpy, (void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind),
           (call.Bytes(dst, count), destMax, call.Bytes(src, count), count, kind), KeepAtOnce(books, operation, {dst, 0, src, 0, count, 1}))
RW_AT_ONCE(aclrtMemcpy2d, (void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height, aclrtMemcpyKind kind),
           (call.Rows(dst, dpitch, width, height), dpitch, call.Rows(src, spitch, width, height), spitch, width, height, kind),
           if (!RefusedRows(width, height)) KeepAtOnce(books, operation, {dst, dpitch, src, spitch, width, height}))
RW_AT_ONCE(aclrtMemset, (void* devPtr, size_t maxCount, int32_t value, size_t count), (call.Bytes(devPtr, count), maxCount, value, count),
           books.HostUse(Rule::kHostPasses, RangeOf(devPtr, count), true, operation))
RW_AT_ONCE(aclrtMemsetD32, (void* ptr, size_t memSize, uint32_t value, size_t N), (call.Bytes(ptr, 4 * N), memSize, value, N),
           books.HostUse(Rule::kHostPasses, RangeOf(ptr, 4 * N), true, operation))
