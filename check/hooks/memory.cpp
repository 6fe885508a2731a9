// Blocks: where they come from, and what ends them.
#include "check/call.h"

using namespace ropeway::check;

namespace {

using Kind = Block::Kind;

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
        books.AddBlock(ptr, size, Kind::kRegistered, operation))
RW_KEPT(aclrtHostRegisterV2, (void* ptr, uint64_t size, uint32_t flag), (ptr, size, flag),
        books.AddBlock(ptr, size, Kind::kRegistered, operation))
RW_KEPT(aclrtMapMem, (void* ptr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags), (ptr, size, offset, handle, flags),
        books.AddBlock(ptr, size, Kind::kMapped, operation))

RW_AT_ONCE(aclrtFree, (void* ptr), (ptr), books.EndBlock(ptr, Rule::kLifeFree, operation))
RW_AT_ONCE(aclrtFreeHost, (void* ptr), (ptr), books.EndBlock(ptr, Rule::kLifeFree, operation))
RW_AT_ONCE(aclrtHostUnregister, (void* ptr), (ptr), books.EndBlock(ptr, Rule::kLifeUnregister, operation))
RW_AT_ONCE(aclrtUnmapMem, (void* ptr), (ptr), books.EndBlock(ptr, Rule::kLifeUnmap, operation))
// These wait for the device themselves.
RW_AT_ONCE(aclrtFreeWithDevSync, (void* ptr), (ptr), books.FinishAll(CurrentDevice()); books.EndBlock(ptr, Rule::kLifeFree, operation))
RW_AT_ONCE(aclrtFreeHostWithDevSync, (void* ptr), (ptr), books.FinishAll(CurrentDevice()); books.EndBlock(ptr, Rule::kLifeFree, operation))
