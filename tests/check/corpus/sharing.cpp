// Several devices, virtual memory, pools, and what one process exports and imports itself.
#include <string>

#include "acl/acl_rt_memory_soma.h"
#include "tests/check/corpus/program.h"

namespace corpus {
namespace {

void On(int32_t device) { MUST(aclrtSetDevice(device)); }

struct Peer {
  aclrtStream stream;
  char* block;
};
// On device 1, with access both ways; device 0 is current afterwards.
Peer MakePeer() {
  On(1);
  MUST(aclrtDeviceEnablePeerAccess(0, 0));
  const Peer peer{Stream(), Device()};
  On(0);
  MUST(aclrtDeviceEnablePeerAccess(1, 0));
  return peer;
}

constexpr size_t kPage = 2 << 20;

aclrtDrvMemHandle Physical() {
  aclrtPhysicalMemProp prop = {};
  prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
  prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtDrvMemHandle handle = nullptr;
  MUST(aclrtMallocPhysical(&handle, kPage, &prop, 0));
  return handle;
}

char* Reserve(size_t size) {
  void* address = nullptr;
  MUST(aclrtReserveMemAddress(&address, size, 0, nullptr, 0));
  return static_cast<char*>(address);
}

void Map(char* address, aclrtDrvMemHandle handle) { MUST(aclrtMapMem(address, kPage, 0, handle, 0)); }

char* Import(char* block) {
  char key[65] = {};
  MUST(aclrtIpcMemGetExportKey(block, kSize, key, sizeof key, 1));
  void* address = nullptr;
  MUST(aclrtIpcMemImportByKey(&address, key, 0));
  return static_cast<char*>(address);
}

aclrtMemPool Pool() {
  aclrtMemPoolProps props = {};
  props.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtMemPool pool = nullptr;
  MUST(aclrtMemPoolCreate(&pool, &props));
  return pool;
}

char* FromPool(aclrtMemPool pool, aclrtStream stream) {
  void* block = nullptr;
  MUST(aclrtMemPoolMallocAsync(&block, kSize, pool, stream));
  return static_cast<char*>(block);
}

}  // namespace

PROGRAM(peer_reads_what_is_still_sent, "RW-RACE-001") {
  const Peer peer = MakePeer();
  const aclrtStream send = Stream();
  char *const block = Device(), *const out = Pinned();
  const aclrtEvent sent = Event();
  Move(peer.block, block, send);
  Record(sent, send);
  On(1);
  if (right) Wait(peer.stream, sent);
  Store(out, peer.block, peer.stream);
  Finish({send, peer.stream});
  On(0);
}

PROGRAM(peer_sends_into_a_block_in_use, "RW-RACE-002") {
  const Peer peer = MakePeer();
  const aclrtStream store = Stream();
  char *const block = Device(), *const out = Pinned();
  Store(out, block, store);
  if (right) Finish(store);
  On(1);
  Move(block, peer.block, peer.stream);
  Finish({store, peer.stream});
  On(0);
}

PROGRAM(other_device_synchronised, "RW-LIFE-001") {
  const Peer peer = MakePeer();
  char* const in = Pinned();
  On(1);
  Load(peer.block, in, peer.stream);
  On(right ? 1 : 0);
  MUST(aclrtSynchronizeDevice());
  MUST(aclrtFreeHost(in));
  On(1);
  Finish(peer.stream);
  On(0);
}

PROGRAM(rings_of_two_devices, "RW-RACE-003") {
  const Peer peer = MakePeer();
  const aclrtStream send = Stream();
  char* const block = Device();
  char* const in = Pinned();
  Move(peer.block, block, send);
  if (right) Finish(send);
  On(1);
  Load(peer.block, in, peer.stream);
  Finish({send, peer.stream});
  On(0);
}

PROGRAM(mapping_taken_away_under_a_load, "RW-LIFE-003") {
  const aclrtStream load = Stream();
  char *const address = Reserve(kPage), *const in = Pinned();
  Map(address, Physical());
  Load(address, in, load);
  if (right) Finish(load);
  MUST(aclrtUnmapMem(address));
  (void)aclrtSynchronizeStream(load);
}

// A copy over two mappings that touch each other, of which the second goes.
PROGRAM(second_of_two_mappings_taken_away, "RW-LIFE-003") {
  const aclrtStream store = Stream(), other = Stream();
  char *const address = Reserve(2 * kPage), *const out = Pinned();
  Map(address, Physical());
  Map(address + kPage, Physical());
  Store(out, address + kPage - kSize / 2, store);
  Finish(right ? store : other);
  MUST(aclrtUnmapMem(address + kPage));
  (void)aclrtSynchronizeStream(store);
}

PROGRAM(mapped_block_read_while_loaded, "RW-RACE-001") {
  const aclrtStream load = Stream(), store = Stream();
  char *const address = Reserve(kPage), *const in = Pinned(), *const out = Pinned();
  Map(address, Physical());
  Load(address, in, load);
  if (right) Order(load, store);
  Store(out, address, store);
  Finish({load, store});
}

// One piece of memory at two addresses.
PROGRAM(two_views_of_one_memory, "RW-RACE-001") {
  const aclrtStream load = Stream(), store = Stream();
  char *const one = Reserve(kPage), *const other = Reserve(kPage), *const in = Pinned(), *const out = Pinned();
  const aclrtDrvMemHandle memory = Physical();
  Map(one, memory);
  Map(other, memory);
  Load(one, in, load);
  if (right) Order(load, store);
  Store(out, other, store);
  Finish({load, store});
}

PROGRAM(imported_block_read_while_its_owner_loads, "RW-RACE-001") {
  const aclrtStream load = Stream(), store = Stream();
  char *const block = Device(), *const in = Pinned(), *const out = Pinned();
  char* const view = Import(block);
  Load(block, in, load);
  if (right) Order(load, store);
  Store(out, view, store);
  Finish({load, store});
}

PROGRAM(import_closed_under_a_store, "RW-LIFE-004") {
  const aclrtStream store = Stream();
  char *const block = Device(), *const out = Pinned();
  char key[65] = {};
  MUST(aclrtIpcMemGetExportKey(block, kSize, key, sizeof key, 1));
  void* view = nullptr;
  MUST(aclrtIpcMemImportByKey(&view, key, 0));
  Store(out, view, store);
  if (right) Finish(store);
  MUST(aclrtIpcMemClose(key));
  (void)aclrtSynchronizeStream(store);
}

// Recorded through the import, waited for on the original.
PROGRAM(imported_notify_recorded_too_early, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  const aclrtNotify own = Notify();
  char key[65] = {};
  MUST(aclrtNotifyGetExportKey(own, key, sizeof key, 2));
  aclrtNotify imported = nullptr;
  MUST(aclrtNotifyImportByKey(&imported, key, 0));
  if (!right) MUST(aclrtRecordNotify(imported, load));
  Load(block, in, load);
  if (right) MUST(aclrtRecordNotify(imported, load));
  MUST(aclrtWaitAndResetNotify(own, work, 0));
  Move(result, block, work);
  Finish({load, work});
}

PROGRAM(imported_event_recorded_on_the_wrong_stream, "RW-RACE-001") {
  const aclrtStream load = Stream(), work = Stream();
  char *const block = Device(), *const result = Device(), *const in = Pinned();
  aclrtEvent own = nullptr, imported = nullptr;
  MUST(aclrtCreateEventExWithFlag(&own, ACL_EVENT_IPC));
  aclrtIpcEventHandle handle;
  MUST(aclrtIpcGetEventHandle(own, &handle));
  MUST(aclrtIpcOpenEventHandle(handle, &imported));
  Load(block, in, load);
  Record(own, right ? load : work);
  Wait(work, imported);
  Move(result, block, work);
  Finish({load, work});
}

PROGRAM(pool_block_freed_in_the_wrong_streams_order, "RW-LIFE-001") {
  const aclrtStream load = Stream(), other = Stream();
  char* const in = Pinned();
  const aclrtMemPool pool = Pool();
  char* const block = FromPool(pool, load);
  Load(block, in, load);
  MUST(aclrtMemPoolFreeAsync(block, right ? load : other));
  Finish({load, other});
}

// An allocation is no work.
PROGRAM(stream_destroyed_by_force_under_a_pool_block, "RW-LIFE-005") {
  const aclrtStream load = Stream();
  char* const in = Pinned();
  char* const block = FromPool(Pool(), load);
  if (!right) Load(block, in, load);
  MUST(aclrtDestroyStreamForce(load));
}

// A view that goes has nothing to do with what uses the same memory at its other address.
PROGRAM(view_taken_away_under_its_load, "RW-LIFE-003") {
  const aclrtStream load = Stream();
  char *const one = Reserve(kPage), *const other = Reserve(kPage), *const in = Pinned();
  const aclrtDrvMemHandle memory = Physical();
  Map(one, memory);
  Map(other, memory);
  Load(right ? one : other, in, load);
  MUST(aclrtUnmapMem(other));
  Finish(load);
}

PROGRAM(pool_block_used_by_a_stream_that_did_not_wait, "RW-RACE-001") {
  const aclrtStream load = Stream(), store = Stream();
  char *const in = Pinned(), *const out = Pinned();
  char* const block = FromPool(Pool(), load);
  Load(block, in, load);
  if (right) Order(load, store);
  Store(out, block, store);
  Finish({load, store});
}

}  // namespace corpus
