// Blocks: where they come from, and what ends them.
#include <algorithm>

#include "acl/acl_rt_memory_soma.h"
#include "check/call.h"

using namespace ropeway::check;

namespace {

using Kind = Block::Kind;

// Pinned memory may be registered for its device address: it stays what it is.
void KeepRegister(Books& books, uint32_t operation, void* address, size_t size) {
  if (books.BlockAt(address) == nullptr) books.AddBlock(address, size, Kind::kRegistered, operation);
}

void KeepUnregister(Books& books, uint32_t operation, void* address) {
  const Block* const block = books.BlockAt(address);
  if (block != nullptr && block->kind == Kind::kRegistered) books.EndBlock(address, Rule::kLifeUnregister, operation);
}

// The key says nothing of the size.
void KeepImport(Books& books, uint32_t operation, void* address, const char* key) {
  static const auto ask = reinterpret_cast<decltype(&aclrtMemGetAddressRange)>(FindInTarget("aclrtMemGetAddressRange"));
  void* base = nullptr;
  size_t size = 0;
  if (ask == nullptr || ask(address, &base, &size) != ACL_SUCCESS) return;
  books.AddBlock(address, size, Kind::kImported, operation);
  books.imports[key] = address;
  const auto own = books.exports.find(key);
  if (own != books.exports.end() && own->second.begin != reinterpret_cast<uintptr_t>(address))
    books.model.AddView(RangeOf(address, std::min<size_t>(size, own->second.end - own->second.begin)), own->second.begin);
}

void KeepClose(Books& books, uint32_t operation, const char* key) {
  const auto import = key == nullptr ? books.imports.end() : books.imports.find(key);
  if (import == books.imports.end()) return;
  books.EndBlock(import->second, Rule::kLifeClose, operation);
  books.WhenDone([name = import->first](Books& settled) { settled.imports.erase(name); });
}

// Every mapping of a physical block shows the bytes of the first one, where they overlap.
void KeepMapping(Books& books, uint32_t operation, void* address, size_t size, size_t offset, aclrtDrvMemHandle handle) {
  books.AddBlock(address, size, Kind::kMapped, operation);
  const Mapping mapping{*books.BlockAt(address), offset};
  const Mapping& first = books.mappings.try_emplace(handle, mapping).first->second;
  const uintptr_t first_address = first.block.range.begin;
  const Block* const there = books.BlockAt(reinterpret_cast<void*>(first_address));
  if (there == nullptr || there->serial != first.block.serial) {
    books.mappings.insert_or_assign(handle, mapping);
    return;
  }
  const size_t begin = std::max(offset, first.offset);
  const size_t end = std::min(offset + size, first.offset + (first.block.range.end - first_address));
  if (begin < end && there->serial != mapping.block.serial)
    books.model.AddView(RangeOf(static_cast<char*>(address) + (begin - offset), end - begin), first_address + (begin - first.offset));
}

// Good from here on, in the order of its stream.
void KeepPoolMalloc(Books& books, uint32_t operation, void* address, size_t size, StreamIndex index) {
  books.AddBlock(address, size, Kind::kPool, operation);
  books.model.Own(index, RangeOf(address, size), operation);
}

void KeepPoolFree(Books& books, uint32_t operation, void* address, StreamIndex index) {
  const Block* const block = books.BlockAt(address);
  if (block == nullptr) return;
  books.model.GiveBack(index, block->range, operation);
  books.HandBack(address);
}

void KeepSyncedFree(Books& books, void* address) {
  books.WhenDone([](Books& settled) { settled.FinishAll(CurrentDevice()); });
  books.DropBlock(address);
}

}  // namespace

RW_KEPT(aclrtMalloc, (void** ptr, size_t size, aclrtMemMallocPolicy policy), (ptr, size, policy),
        books.AddBlock(*ptr, size, Kind::kDevice, operation))
RW_KEPT(aclrtMallocAlign32, (void** ptr, size_t size, aclrtMemMallocPolicy policy), (ptr, size, policy),
        books.AddBlock(*ptr, size, Kind::kDevice, operation))
RW_KEPT(aclrtMallocCached, (void** ptr, size_t size, aclrtMemMallocPolicy policy), (ptr, size, policy),
        books.AddBlock(*ptr, size, Kind::kDevice, operation))
RW_KEPT(aclrtMallocWithCfg, (void** ptr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg), (ptr, size, policy, cfg),
        books.AddBlock(*ptr, size, Kind::kDevice, operation))
RW_KEPT(aclrtMallocHost, (void** ptr, size_t size), (ptr, size), books.AddBlock(*ptr, size, Kind::kPinned, operation))
RW_KEPT(aclrtMallocHostWithCfg, (void** ptr, uint64_t size, aclrtMallocConfig* cfg), (ptr, size, cfg),
        books.AddBlock(*ptr, size, Kind::kPinned, operation))
RW_KEPT(aclrtMemAllocManaged, (void** ptr, uint64_t size, uint32_t flag), (ptr, size, flag),
        books.AddBlock(*ptr, size, Kind::kManaged, operation))
RW_KEPT(aclrtHostRegister, (void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr), (ptr, size, type, devPtr),
        KeepRegister(books, operation, ptr, size))
RW_KEPT(aclrtHostRegisterV2, (void* ptr, uint64_t size, uint32_t flag), (ptr, size, flag), KeepRegister(books, operation, ptr, size))
RW_KEPT(aclrtMapMem, (void* ptr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags), (ptr, size, offset, handle, flags),
        KeepMapping(books, operation, ptr, size, offset, handle))
RW_KEPT(aclrtFreePhysical, (aclrtDrvMemHandle handle), (handle), (void)operation; books.mappings.erase(handle))
RW_KEPT(aclrtIpcMemGetExportKey, (void* devPtr, size_t size, char* key, size_t len, uint64_t flags), (devPtr, size, key, len, flags),
        (void)operation;
        books.exports[key] = RangeOf(devPtr, size))

RW_AT_ONCE(aclrtFree, (void* ptr), (ptr), books.EndBlock(ptr, Rule::kLifeFree, operation))
RW_AT_ONCE(aclrtFreeHost, (void* ptr), (ptr), books.EndBlock(ptr, Rule::kLifeFree, operation))
RW_AT_ONCE(aclrtHostUnregister, (void* ptr), (ptr), KeepUnregister(books, operation, ptr))
RW_AT_ONCE(aclrtUnmapMem, (void* ptr), (ptr), books.EndBlock(ptr, Rule::kLifeUnmap, operation))
// These wait for the device themselves.
RW_AT_ONCE(aclrtFreeWithDevSync, (void* ptr), (ptr), (void)operation; KeepSyncedFree(books, ptr))
RW_AT_ONCE(aclrtFreeHostWithDevSync, (void* ptr), (ptr), (void)operation; KeepSyncedFree(books, ptr))

RW_KEPT(aclrtIpcMemImportByKey, (void** ptr, const char* key, uint64_t flags), (ptr, key, flags), KeepImport(books, operation, *ptr, key))
RW_AT_ONCE(aclrtIpcMemClose, (const char* key), (key), KeepClose(books, operation, key))
RW_QUEUED_IF(size != 0, aclError, aclrtMemPoolMallocAsync, (void** ptr, size_t size, aclrtMemPool memPool, aclrtStream stream),
             (ptr, size, memPool, stream), KeepPoolMalloc(books, operation, *ptr, size, index))
RW_QUEUED(aclrtMemPoolFreeAsync, (void* ptr, aclrtStream stream), (ptr, stream), KeepPoolFree(books, operation, ptr, index))
