// Copies whose addresses are read when they run. A descriptor that was set says what its launches use; one that came by a copy is not
// known. Cells are looked at when they can no longer change without a mistake.
#include "check/call.h"

using namespace ropeway::check;

namespace {

constexpr size_t kSmallestDescriptor = 32;

void KeepLaunch(Books& books, uint32_t operation, void* desc, StreamIndex index) {
  const auto address = reinterpret_cast<uintptr_t>(desc);
  std::vector<Access> accesses{{RangeOf(desc, kSmallestDescriptor), false}};
  const auto said = books.descriptors.find(address);
  const Block* const block = books.BlockAt(desc);
  if (said != books.descriptors.end())
    accesses.insert(accesses.end(), said->second.begin(), said->second.end());
  else if (block != nullptr && !block->copied_into && !books.model.CaptureOf(index))  // a replay reads what is said then
    books.Tell(Rule::kDescriptorUnset, operation, "launches a descriptor that was never set");
  books.Queue(index, operation, accesses);
}

void KeepSet(Books& books, uint32_t operation, void* desc, void* from, void* to, size_t count) {
  books.HostUse(Rule::kDescriptorChanged, RangeOf(desc, kSmallestDescriptor), true, operation);
  books.WhenDone([=](Books& settled) {
    settled.descriptors[reinterpret_cast<uintptr_t>(desc)] = {{RangeOf(from, count), false}, {RangeOf(to, count), true}};
  });
}

// Where a cell leads to, if that is settled: device memory that no pending operation writes, and no capture, whose replays read it anew.
class Cell {
 public:
  explicit Cell(const void* address) : address_(address) {}

  void LookAt(Books& books, StreamIndex index) {
    const Block* const block = books.BlockAt(address_);
    settled_ = block != nullptr && block->kind == Block::Kind::kDevice && !books.model.CaptureOf(index);
    books.model.PassUses(range(), false, nullptr, [&](const Use&, bool, const Range&) { settled_ = false; });
  }
  void Read() {
    static const auto copy = reinterpret_cast<decltype(&aclrtMemcpy)>(FindInTarget("aclrtMemcpy"));
    settled_ = settled_ && copy(&target_, sizeof target_, address_, sizeof target_, ACL_MEMCPY_DEVICE_TO_HOST) == ACL_SUCCESS;
  }
  void AddTarget(size_t offset, size_t count, bool write, std::vector<Access>* accesses) const {
    if (settled_) accesses->push_back({RangeOf(target_ + offset, count), write});
  }
  Range range() const { return RangeOf(address_, sizeof target_); }

 private:
  const void* address_;
  bool settled_ = false;
  char* target_ = nullptr;
};

}  // namespace

RW_AT_ONCE(aclrtSetMemcpyDesc, (void* desc, aclrtMemcpyKind kind, void* srcAddr, void* dstAddr, size_t count, void* config),
           (desc, kind, call.Bytes(srcAddr, count), call.Bytes(dstAddr, count), count, config),
           KeepSet(books, operation, desc, srcAddr, dstAddr, count))
RW_QUEUED(aclrtMemcpyAsyncWithDesc, (void* desc, aclrtMemcpyKind kind, aclrtStream stream), (desc, kind, stream),
          KeepLaunch(books, operation, desc, index))

// The cells are read outside of the lock of the books.
RW_HOOK(aclrtMemcpyAsyncWithOffset);
aclError aclrtMemcpyAsyncWithOffset(void** dst, size_t destMax, size_t dstDataOffset, const void** src, size_t count, size_t srcDataOffset,
                                    aclrtMemcpyKind kind, aclrtStream stream) {
  RW_CALL(aclrtMemcpyAsyncWithOffset);
  const aclError code = NEXT(aclrtMemcpyAsyncWithOffset)(dst, destMax, dstDataOffset, src, count, srcDataOffset, kind, stream);
  if (code != ACL_SUCCESS || count == 0) return code;
  const aclrtStream named = Named(stream);
  Cell to(dst), from(src);
  call.Keep([&](Books& books, uint32_t) {
    to.LookAt(books, books.StreamOf(named));
    from.LookAt(books, books.StreamOf(named));
  });
  to.Read();
  from.Read();
  call.Keep([&](Books& books, uint32_t operation) {
    std::vector<Access> accesses{{to.range(), false}, {from.range(), false}};
    from.AddTarget(srcDataOffset, count, false, &accesses);
    to.AddTarget(dstDataOffset, count, true, &accesses);
    books.model.SubmitUse(books.StreamOf(named), operation, accesses);
  });
  return code;
}
