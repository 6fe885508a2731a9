// Blocks: where they come from, and what ends them.
#include <algorithm>

#include "acl/acl_rt_memory_soma.h"
#include "check/call.h"

using namespace ropeway::check;

namespace {

using Kind = Block::Kind;

// Pinned memory may be registered for its device address: it stays what it is.
void KeepRegister(Books& books, uint32_t operation, void* address, size_t size) {
  books.tips.Registered(operation, RangeOf(address, size));
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

// Of the program's own blocks; null for others, and where the library's have to do.
void* AllocateTwin(Call& call, void** ptr, uint64_t size) {
  bool own = false;
  if (HostAccess::On() && ptr != nullptr) call.Keep([&](Books&, uint32_t) { own = true; });
  return own ? HostAccess::Allocate(size) : nullptr;
}

void KeepPinned(Call& call, void* ptr, uint64_t size) {
  MarkUsed(RangeOf(ptr, size));
  call.Keep([&](Books& books, uint32_t operation) { books.AddBlock(ptr, size, Kind::kPinned, operation); });
}

template <typename Ask>
aclError AllocateHost(Call& call, void** ptr, uint64_t size, Ask ask) {
  void* const twin = AllocateTwin(call, ptr, size);
  const aclError code = twin == nullptr ? ask() : ACL_SUCCESS;
  if (twin != nullptr) *ptr = twin;
  if (code == ACL_SUCCESS) KeepPinned(call, *ptr, size);
  return code;
}

// What is free is marked as such, before somebody else may get it.
template <typename Judge, typename Free>
aclError FreeHost(Call& call, void* ptr, Judge judge, Free free) {
  Range freed;
  call.Judge([&](Books& books, uint32_t operation) {
    const Block* const block = books.BlockAt(ptr);
    if (block != nullptr && block->range.begin == reinterpret_cast<uintptr_t>(ptr)) freed = block->range;
    judge(books, operation);
  });
  MarkFreed(freed);
  const aclError code = HostAccess::Free(ptr) ? ACL_SUCCESS : free();
  if (code == ACL_SUCCESS) call.Settle();
  if (code != ACL_SUCCESS || !IsMapped(freed)) MarkUsed(freed);
  return code;
}

// A registration of the program's takes the place of the layer's.
template <typename Ask>
aclError RegisterHost(Call& call, void* ptr, uint64_t size, bool pins, Ask ask) {
  if (!pins) HostAccess::BeforeRegister(ptr);
  const aclError code = ask();
  if (code == ACL_SUCCESS)
    call.Keep([&](Books& books, uint32_t operation) { KeepRegister(books, operation, ptr, size); });
  else if (!pins)
    HostAccess::AfterUnregister(ptr);
  return code;
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
RW_KEPT(aclrtMemAllocManaged, (void** ptr, uint64_t size, uint32_t flag), (ptr, size, flag),
        books.AddBlock(*ptr, size, Kind::kManaged, operation))
RW_KEPT(aclrtMapMem, (void* ptr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags), (ptr, size, offset, handle, flags),
        KeepMapping(books, operation, ptr, size, offset, handle))
RW_KEPT(aclrtFreePhysical, (aclrtDrvMemHandle handle), (handle), (void)operation; books.mappings.erase(handle))
RW_KEPT(aclrtIpcMemGetExportKey, (void* devPtr, size_t size, char* key, size_t len, uint64_t flags), (devPtr, size, key, len, flags),
        (void)operation;
        books.exports[key] = RangeOf(devPtr, size))

RW_AT_ONCE(aclrtFree, (void* ptr), (ptr), books.EndBlock(ptr, Rule::kLifeFree, operation))
RW_AT_ONCE(aclrtUnmapMem, (void* ptr), (ptr), books.EndBlock(ptr, Rule::kLifeUnmap, operation))
// These wait for the device themselves.
RW_AT_ONCE(aclrtFreeWithDevSync, (void* ptr), (ptr), (void)operation; KeepSyncedFree(books, ptr))

RW_HOOK(aclrtMallocHost);
aclError aclrtMallocHost(void** ptr, size_t size) {
  RW_CALL(aclrtMallocHost);
  return AllocateHost(call, ptr, size, [&] { return NEXT(aclrtMallocHost)(ptr, size); });
}

RW_HOOK(aclrtMallocHostWithCfg);
aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  RW_CALL(aclrtMallocHostWithCfg);
  const auto ask = [&] { return NEXT(aclrtMallocHostWithCfg)(ptr, size, cfg); };
  if (cfg != nullptr) {  // what it asks for is the library's to judge
    const aclError code = ask();
    if (code == ACL_SUCCESS) KeepPinned(call, *ptr, size);
    return code;
  }
  return AllocateHost(call, ptr, size, ask);
}

RW_HOOK(aclrtFreeHost);
aclError aclrtFreeHost(void* ptr) {
  RW_CALL(aclrtFreeHost);
  const auto judge = [&](Books& books, uint32_t operation) { books.EndBlock(ptr, Rule::kLifeFree, operation); };
  return FreeHost(call, ptr, judge, [&] { return NEXT(aclrtFreeHost)(ptr); });
}

RW_HOOK(aclrtFreeHostWithDevSync);
aclError aclrtFreeHostWithDevSync(void* ptr) {
  RW_CALL(aclrtFreeHostWithDevSync);
  static const auto synchronize = reinterpret_cast<decltype(&aclrtSynchronizeDevice)>(FindInTarget("aclrtSynchronizeDevice"));
  const bool twin = !HostAccess::BlockOf(ptr).empty() && synchronize != nullptr;
  if (const aclError code = twin ? synchronize() : ACL_SUCCESS) return code;
  const auto judge = [&](Books& books, uint32_t) { KeepSyncedFree(books, ptr); };
  return FreeHost(call, ptr, judge, [&] { return NEXT(aclrtFreeHostWithDevSync)(ptr); });
}

RW_HOOK(aclrtHostRegister);
aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  RW_CALL(aclrtHostRegister);
  return RegisterHost(call, ptr, size, false, [&] { return NEXT(aclrtHostRegister)(ptr, size, type, devPtr); });
}

RW_HOOK(aclrtHostRegisterV2);
aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  RW_CALL(aclrtHostRegisterV2);
  return RegisterHost(call, ptr, size, (flag & ACL_HOST_REG_PINNED) != 0, [&] { return NEXT(aclrtHostRegisterV2)(ptr, size, flag); });
}

RW_HOOK(aclrtHostUnregister);
aclError aclrtHostUnregister(void* ptr) {
  RW_CALL(aclrtHostUnregister);
  if (HostAccess::IsOwnRegistration(ptr)) return ACL_ERROR_HOST_MEMORY_NOT_REGISTERED;
  call.Judge([&](Books& books, uint32_t operation) { KeepUnregister(books, operation, ptr); });
  const aclError code = NEXT(aclrtHostUnregister)(ptr);
  if (code != ACL_SUCCESS) return code;
  call.Settle();
  HostAccess::AfterUnregister(ptr);
  return code;
}

// Of registered memory, which the program's own is to the library then, it would know nothing.
RW_HOOK(aclrtMemGetAddressRange);
aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize) {
  RW_CALL(aclrtMemGetAddressRange);
  const Range block = HostAccess::BlockOf(ptr);
  if (block.empty() || (pbase == nullptr && psize == nullptr)) return NEXT(aclrtMemGetAddressRange)(ptr, pbase, psize);
  constexpr size_t kReserved = 32;  // sizes are rounded up to it
  if (pbase != nullptr) *pbase = reinterpret_cast<void*>(block.begin);
  if (psize != nullptr) *psize = (block.end - block.begin + kReserved - 1) / kReserved * kReserved;
  return ACL_SUCCESS;
}

RW_KEPT(aclrtIpcMemImportByKey, (void** ptr, const char* key, uint64_t flags), (ptr, key, flags), KeepImport(books, operation, *ptr, key))
RW_AT_ONCE(aclrtIpcMemClose, (const char* key), (key), KeepClose(books, operation, key))
RW_QUEUED_IF(size != 0, aclError, aclrtMemPoolMallocAsync, (void** ptr, size_t size, aclrtMemPool memPool, aclrtStream stream),
             (ptr, size, memPool, stream), KeepPoolMalloc(books, operation, *ptr, size, index))
RW_QUEUED(aclrtMemPoolFreeAsync, (void* ptr, aclrtStream stream), (ptr, stream), KeepPoolFree(books, operation, ptr, index))
