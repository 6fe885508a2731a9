// Symmetric windows: every rank registers memory for all others at once, and gets an address for the memory of each.
#include <map>

#include "base/mutex.h"
#include "hccl/hccl_sym_win.h"
#include "hccl/onesided/one_sided.h"
#include "hccl/onesided/one_sided_checks.h"

using namespace ropeway::comm;
using ropeway::comm::Entry;
using ropeway::comm::Fail;
using ropeway::comm::Ok;
using ropeway::comm::RequirePointer;
using ropeway::comm::Result;
using ropeway::comm::Status;

namespace ropeway::comm {
namespace {

struct WindowRow {
  HcclComm comm = nullptr;
  const Communicator* communicator = nullptr;  // to compare with
  SymWindow window;
};

// Handles are numbers, so a stale one is an error and never an address.
struct WindowTable {
  Mutex mutex{LockRank::kHcclWindows};
  std::map<uintptr_t, WindowRow> rows RW_GUARDED_BY(mutex);
  uintptr_t last RW_GUARDED_BY(mutex) = 0;
};
WindowTable& TheWindows() {
  static auto* const table = new WindowTable;
  return *table;
}

Status NoWindow(const void* handle) { return Fail(HCCL_E_PARA, "winHandle %p is no window of this process, or no longer", handle); }

HcclCommSymWindow AddWindow(HcclComm comm, const Communicator& communicator, SymWindow window) {
  WindowTable& table = TheWindows();
  LockGuard lock(table.mutex);
  table.rows[++table.last] = {comm, &communicator, std::move(window)};
  return reinterpret_cast<HcclCommSymWindow>(table.last);
}

Result<WindowRow> FindWindow(HcclCommSymWindow handle) {
  WindowTable& table = TheWindows();
  LockGuard lock(table.mutex);
  const auto found = table.rows.find(reinterpret_cast<uintptr_t>(handle));
  if (found == table.rows.end()) return NoWindow(handle);
  return found->second;
}

// Whoever takes it out closes it.
Result<WindowRow> TakeWindow(HcclCommSymWindow handle) {
  WindowTable& table = TheWindows();
  LockGuard lock(table.mutex);
  auto node = table.rows.extract(reinterpret_cast<uintptr_t>(handle));
  if (!node) return NoWindow(handle);
  return std::move(node.mapped());
}

// The window of this rank that has the whole range.
Status FindAround(const Communicator& communicator, const char* begin, uint64_t size, HcclCommSymWindow* handle, size_t* offset) {
  WindowTable& table = TheWindows();
  LockGuard lock(table.mutex);
  for (const auto& [number, row] : table.rows) {
    const char* const own = row.window.places[communicator.rank()];
    if (row.communicator != &communicator) continue;
    if (!Contains(reinterpret_cast<uint64_t>(own), row.window.size, reinterpret_cast<uint64_t>(begin), size)) continue;
    *handle = reinterpret_cast<HcclCommSymWindow>(number);
    *offset = static_cast<size_t>(begin - own);
    return Ok();
  }
  return Fail(HCCL_E_NOT_FOUND, "[%p, + %lu) lies in no window of this communicator", static_cast<const void*>(begin), size);
}

}  // namespace

void ForgetWindows(const Communicator& communicator) {
  WindowTable& table = TheWindows();
  LockGuard lock(table.mutex);
  std::erase_if(table.rows, [&](const auto& row) { return row.second.communicator == &communicator; });
}

// Meets everybody before it looks at what they said: one that is refused leaves no other waiting.
Status OneSided::OpenWindow(char* memory, uint64_t size, Deadline deadline, SymWindow* window) {
  const uint32_t ranks = communicator_.size(), own = communicator_.rank();
  *window = {size, std::vector<char*>(ranks), std::vector<HcclMemDesc>(ranks), std::vector<HcclMemDesc>(ranks)};
  window->places[own] = memory;
  for (uint32_t peer = 0; peer < ranks; ++peer) {
    if (peer == own) continue;
    RW_TRY(Register(peer, COMM_MEM_TYPE_DEVICE, reinterpret_cast<uint64_t>(memory), size, &window->exports[peer]));
    std::vector<HcclMemDesc> received;
    RW_TRY(Exchange(peer, {window->exports[peer]}, deadline, &received));
    if (received.size() != 1) return Fail(HCCL_E_PARA, "rank %u is not in HcclCommSymWinRegister: it exchanges other memory", peer);
    window->imports[peer] = received[0];
  }
  for (uint32_t peer = 0; peer < ranks; ++peer) {
    if (peer == own) continue;
    if (const uint64_t theirs = Unpack(window->imports[peer])->size; theirs != size)
      return Fail(HCCL_E_PARA, "size is %lu here and %lu at rank %u", size, theirs, peer);
  }
  for (uint32_t peer = 0; peer < ranks; ++peer) {
    CommMem there{};
    if (peer == own) continue;
    RW_TRY(Enable(window->imports[peer], &there));
    window->places[peer] = static_cast<char*>(there.addr);
  }
  return Ok();
}

// As far as it was opened.
Status OneSided::CloseWindow(const SymWindow& window) {
  Status first;
  for (uint32_t peer = 0; peer < communicator_.size(); ++peer) {
    if (peer == communicator_.rank() || !Unpack(window.exports[peer])) continue;
    if (window.places[peer] != nullptr) {
      if (Status status = Disable(window.imports[peer]); !status.ok() && first.ok()) first = std::move(status);
    }
    if (Status status = Deregister(window.exports[peer]); !status.ok() && first.ok()) first = std::move(status);
  }
  return first;
}

}  // namespace ropeway::comm

HcclResult HcclCommSymWinRegister(HcclComm comm, void* addr, uint64_t size, HcclCommSymWindow* winHandle, uint32_t flag) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("addr", addr));
    RW_TRY(RequirePointer("winHandle", winHandle));
    RW_TRY(RequireMemory(COMM_MEM_TYPE_DEVICE, addr, size));
    if (flag != 1) return Fail(HCCL_E_PARA, "flag is %u; only 1 is defined", flag);
    RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
    RW_TRY(HostViewOf(COMM_MEM_TYPE_DEVICE, addr, size).status());
    SymWindow window;
    Status status = found.service->OpenWindow(static_cast<char*>(addr), size, found.communicator->ConnectDeadline(), &window);
    if (!status.ok()) {
      [[maybe_unused]] const Status closed = found.service->CloseWindow(window);
      return status;
    }
    *winHandle = AddWindow(comm, *found.communicator, std::move(window));
    return Ok();
  });
}

HcclResult HcclCommSymWinDeregister(HcclCommSymWindow winHandle) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("winHandle", winHandle));
    RW_TRY_SET(const WindowRow row, TakeWindow(winHandle));
    RW_TRY_SET(const OneSidedRef found, FindOneSided(row.comm));
    return found.service->CloseWindow(row.window);
  });
}

HcclResult HcclCommSymWinGet(HcclComm comm, void* ptr, size_t size, HcclCommSymWindow* winHandle, size_t* offset) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("comm", comm));
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY(RequirePointer("winHandle", winHandle));
    RW_TRY(RequirePointer("offset", offset));
    if (size == 0) return Fail(HCCL_E_PARA, "size is 0");
    RW_TRY_SET(const OneSidedRef found, FindOneSided(comm));
    return FindAround(*found.communicator, static_cast<const char*>(ptr), size, winHandle, offset);
  });
}

HcclResult HcclSymWinGetPeerPointer(HcclCommSymWindow winHandle, size_t offset, uint32_t peerRank, void** ptr) {
  return Entry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("winHandle", winHandle));
    RW_TRY(RequirePointer("ptr", ptr));
    RW_TRY_SET(const WindowRow row, FindWindow(winHandle));
    if (peerRank >= row.window.places.size())
      return Fail(HCCL_E_PARA, "peerRank is %u; the communicator has %zu ranks", peerRank, row.window.places.size());
    if (offset >= row.window.size) return Fail(HCCL_E_PARA, "offset %zu is not inside the window's %lu bytes", offset, row.window.size);
    *ptr = row.window.places[peerRank] + offset;
    return Ok();
  });
}
