// Copies whose addresses are read when they run. A descriptor that was set says what its launches use; one that came by a copy is not
// known.
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
  books.model.SubmitUse(index, operation, accesses);
}

void KeepSet(Books& books, uint32_t operation, void* desc, void* from, void* to, size_t count) {
  books.HostUse(Rule::kDescriptorChanged, RangeOf(desc, kSmallestDescriptor), true, operation);
  books.descriptors[reinterpret_cast<uintptr_t>(desc)] = {{RangeOf(from, count), false}, {RangeOf(to, count), true}};
}

void KeepOffset(Books& books, uint32_t operation, const void* dst, const void* src, StreamIndex index) {
  const Access cells[] = {{RangeOf(dst, sizeof(void*)), false}, {RangeOf(src, sizeof(void*)), false}};
  books.model.SubmitUse(index, operation, cells);
}

}  // namespace

RW_AT_ONCE(aclrtSetMemcpyDesc, (void* desc, aclrtMemcpyKind kind, void* srcAddr, void* dstAddr, size_t count, void* config),
           (desc, kind, srcAddr, dstAddr, count, config), KeepSet(books, operation, desc, srcAddr, dstAddr, count))
RW_QUEUED(aclrtMemcpyAsyncWithDesc, (void* desc, aclrtMemcpyKind kind, aclrtStream stream), (desc, kind, stream),
          KeepLaunch(books, operation, desc, index))
RW_QUEUED(aclrtMemcpyAsyncWithOffset,
          (void** dst, size_t destMax, size_t dstDataOffset, const void** src, size_t count, size_t srcDataOffset, aclrtMemcpyKind kind,
           aclrtStream stream),
          (dst, destMax, dstDataOffset, src, count, srcDataOffset, kind, stream), KeepOffset(books, operation, dst, src, index))
