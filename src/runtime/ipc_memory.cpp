#include "runtime/ipc_memory.h"

#include <algorithm>
#include <iterator>

#include "acl/acl_rt.h"
#include "base/bytes.h"
#include "base/no_destroy.h"
#include "engine/watcher.h"

namespace ropeway {
namespace {

constexpr uint32_t kMemoryType = 0x4D454D31;
// An exporter that lives answers in microseconds; one that is stopped in a debugger should not stop its importers for good.

// What the exporter tells about the descriptor that it sends along.
enum WelcomeValue { kOffset, kSize, kPieceOffset, kPieceSize, kDevice, kAlive };

class IgnoreExporter final : public ipc::Listener {
 public:
  void OnMessage(ipc::Connection&, const ipc::Message&, FileDescriptor) override {}
  // The exporter is gone, the bytes are not: copies go on.
  void OnGone(ipc::Connection&, bool) override {}
};

Status UnknownKey(const char* key) {
  return Fail(
      ACL_ERROR_RT_PARAM_INVALID,
      "key %.8s... names no memory that can be imported: it was never exported, is closed, its block was freed, or its process is gone",
      key);
}

// As aclrtMalloc rounds sizes.
constexpr size_t kSizeUnit = 32;
constexpr uint32_t kHugePage = uint32_t{2} << 20;

}  // namespace

class ExportedMemory final : public ipc::Offer {
 public:
  ExportedMemory(const SharedBlock& block, size_t size, int device)
      : Offer(kMemoryType), offset_(block.offset), size_(size), piece_offset_(block.piece.offset), piece_size_(block.piece.size),
        device_(device), lease_(block.lease), pages_(block.piece.pages) {}

  bool dead() const {
    const std::shared_ptr<BlockLease> lease = lease_.lock();
    return lease == nullptr || lease->freed.load(std::memory_order_acquire);
  }

  void OnJoined(ipc::Connection& connection, ipc::Message* welcome, int* fd) override {
    LockGuard lock(mutex_);
    std::shared_ptr<BlockLease> lease = lease_.lock();
    const std::shared_ptr<SharedPages> pages = pages_.lock();
    if (lease == nullptr || lease->freed.load(std::memory_order_acquire) || pages == nullptr) return;
    welcome->value[kOffset] = offset_;
    welcome->value[kSize] = size_;
    welcome->value[kPieceOffset] = piece_offset_;
    welcome->value[kPieceSize] = piece_size_;
    welcome->value[kDevice] = static_cast<uint64_t>(device_);
    welcome->value[kAlive] = 1;
    *fd = pages->descriptor();
    holds_[connection.id()] = std::move(lease);
  }
  void OnMessage(ipc::Connection&, const ipc::Message&, FileDescriptor) override {}
  void OnGone(ipc::Connection& connection, bool) override {
    LockGuard lock(mutex_);
    holds_.erase(connection.id());
  }

 private:
  const size_t offset_;
  const size_t size_;
  const size_t piece_offset_;
  const size_t piece_size_;
  const int device_;
  // An export alone keeps nothing alive; its imports do.
  const std::weak_ptr<BlockLease> lease_;
  const std::weak_ptr<SharedPages> pages_;
  Mutex mutex_{LockRank::kExportedMemory};
  std::map<uint64_t, std::shared_ptr<BlockLease>> holds_ RW_GUARDED_BY(mutex_);  // by connection
};

IpcMemory& IpcMemory::Get() {
  static NoDestroy<IpcMemory> memory;
  return memory.get();
}

Result<std::string> IpcMemory::Export(Memory& memory, const void* address, size_t size, bool everybody) {
  const Location location = memory.Find(address, size);
  const bool of_heap = !memory.mapped().Contains(address) && memory.FindBlock(address).pool == nullptr;
  if (location.place != Place::kDevice || size > location.room || !of_heap)
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "devPtr %p + size %zu is not inside one live block of aclrtMalloc", address, size);
  std::optional<SharedBlock> block = memory.ShareDevice(address, size);
  if (!block) return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "no shared memory for the %zu bytes at devPtr %p", size, address);
  auto offer = std::make_shared<ExportedMemory>(*block, size, location.device);
  if (everybody) offer->AdmitEverybody();
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  LockGuard lock(mutex_);
  ForgetDeadExports();
  RW_TRY_SET(ipc::Key key, service->Publish(offer));
  try {
    std::string text = key.Format();
    exports_[text] = std::move(offer);
    return text;
  } catch (...) {
    service->Withdraw(key);
    throw;
  }
}

void IpcMemory::ForgetDeadExports() {
  for (auto it = exports_.begin(); it != exports_.end();) {
    if (!it->second->dead()) {
      ++it;
      continue;
    }
    Result<ipc::Service*> service = ipc::Service::Get();
    Result<ipc::Key> key = ipc::Key::ParseString(it->first.c_str());
    if (service.ok() && key.ok()) service.value()->Withdraw(key.value());
    it = exports_.erase(it);
  }
}

Status IpcMemory::Admit(const char* key, const int32_t* pids, size_t count) {
  LockGuard lock(mutex_);
  const auto it = exports_.find(key);
  if (it == exports_.end()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "key %.8s... is no export of this process", key);
  if (it->second->dead()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "key %.8s... has no memory any more: its block was freed", key);
  it->second->AdmitToo(pids, count);
  return Ok();
}

Result<IpcMemory::Imported> IpcMemory::Import(Memory& memory, const char* text, int device, const char* call, const void* caller) {
  static auto* const listener = new std::shared_ptr<ipc::Listener>(std::make_shared<IgnoreExporter>());
  RW_TRY_SET(ipc::Key key, ipc::Key::ParseString(text));
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  Imports made;  // there before anything is imported
  OpenImport& import = made.emplace(text, OpenImport{})->second;
  const HostWait wait(WaitReason::kProcess, 0, 0);
  RW_TRY_SET(ipc::Joined joined, service->Connect(key, kMemoryType, *listener, Deadline::AfterMs(ipc::kPatienceMs)));
  struct Goodbye {
    ipc::Connection* connection;
    ~Goodbye() {
      if (connection != nullptr) connection->Close();
    }
  } goodbye{joined.connection.get()};
  const uint64_t* value = joined.welcome.value;
  if (value[kAlive] == 0 || !joined.fd) return UnknownKey(text);
  RW_TRY_SET(const uintptr_t base, memory.MapForeign(joined.fd.Release(), value[kPieceOffset], value[kPieceSize],
                                                     {value[kOffset], RoundUp(value[kSize], kSizeUnit), device, kHugePage, call, caller}));
  goodbye.connection = nullptr;
  const uintptr_t address = base + value[kOffset];
  import = {address, base, value[kPieceSize], device, joined.connection};
  LockGuard lock(mutex_);
  imports_.insert(made.extract(made.begin()));
  return Imported{reinterpret_cast<void*>(address), static_cast<int>(value[kDevice])};
}

void IpcMemory::Drop(Memory& memory, const OpenImport& import) {
  memory.mapped().Release(import.base, import.size);
  import.connection->Close();
}

Status IpcMemory::Close(Memory& memory, const char* text) {
  LockGuard lock(mutex_);
  const std::string name = text;
  if (const auto it = imports_.lower_bound(name); it != imports_.end() && it->first == name) {
    Drop(memory, it->second);
    imports_.erase(it);
    return Ok();
  }
  const auto exported = exports_.find(name);
  if (exported == exports_.end())
    return Fail(ACL_ERROR_RT_PARAM_INVALID, "key %.8s... is neither an import nor an export of this process", text);
  RW_TRY_SET(ipc::Key key, ipc::Key::ParseString(text));
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  service->Withdraw(key);
  exports_.erase(exported);
  return Ok();
}

Status IpcMemory::CloseAt(Memory& memory, const void* address) {
  LockGuard lock(mutex_);
  const auto found = std::find_if(imports_.begin(), imports_.end(),
                                  [&](const auto& entry) { return entry.second.address == reinterpret_cast<uintptr_t>(address); });
  if (found == imports_.end()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p is not the address of an import", address);
  Drop(memory, found->second);
  imports_.erase(found);
  return Ok();
}

void IpcMemory::CloseImportsOf(Memory& memory, int device) {
  LockGuard lock(mutex_);
  std::erase_if(imports_, [&](const auto& entry) {
    if (entry.second.device != device) return false;
    Drop(memory, entry.second);
    return true;
  });
}

}  // namespace ropeway
