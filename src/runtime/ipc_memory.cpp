#include "runtime/ipc_memory.h"

#include <algorithm>
#include <iterator>

#include "acl/acl_rt.h"
#include "base/bytes.h"

namespace ropeway {
namespace {

constexpr uint32_t kMemoryType = 0x4D454D31;
// An exporter that lives answers in microseconds; one that is stopped in a debugger should not stop its importers for good.

// What the exporter tells about the descriptor that it sends along.
enum WelcomeValue { kOffset, kSize, kPieceOffset, kPieceSize, kDevice, kAlive };

class IgnoreExporter final : public ipc::Listener {
 public:
  void OnMessage(ipc::Connection&, const ipc::Message&, ipc::Descriptor) override {}
  // The exporter is gone, the bytes are not: copies go on.
  void OnGone(ipc::Connection&, bool) override {}
};

Status UnknownKey(const char* key) {
  return Fail(ACL_ERROR_RT_PARAM_INVALID,
              "key %.8s... names no memory that can be imported: it was never exported, is closed, its block was freed, or its process is gone", key);
}

// As aclrtMalloc rounds sizes.
constexpr size_t kSizeUnit = 32;
constexpr uint32_t kHugePage = uint32_t{2} << 20;

}  // namespace

class ExportedMemory final : public ipc::Offer {
 public:
  ExportedMemory(const SharedBlock& block, size_t size, int device)
      : Offer(kMemoryType),
        offset_(block.offset),
        size_(size),
        piece_offset_(block.piece.offset),
        piece_size_(block.piece.size),
        device_(device),
        lease_(block.lease),
        pages_(block.piece.pages) {}

  bool dead() const {
    const std::shared_ptr<BlockLease> lease = lease_.lock();
    return lease == nullptr || lease->freed.load(std::memory_order_acquire);
  }

  void OnJoined(ipc::Connection& connection, ipc::Message* welcome, int* fd) override {
    std::lock_guard lock(mutex_);
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
  void OnMessage(ipc::Connection&, const ipc::Message&, ipc::Descriptor) override {}
  void OnGone(ipc::Connection& connection, bool) override {
    std::lock_guard lock(mutex_);
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
  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<BlockLease>> holds_;  // by connection; guarded by mutex_
};

IpcMemory& IpcMemory::Get() {
  static auto* memory = new IpcMemory;
  return *memory;
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
  RW_TRY_SET(ipc::Key key, service->Publish(offer));
  std::lock_guard lock(mutex_);
  ForgetDeadExports();
  exports_[key.Format()] = std::move(offer);
  return key.Format();
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
  std::lock_guard lock(mutex_);
  const auto it = exports_.find(key);
  if (it == exports_.end()) return Fail(ACL_ERROR_RT_PARAM_INVALID, "key %.8s... is no export of this process", key);
  it->second->AdmitToo(pids, count);
  return Ok();
}

Result<IpcMemory::Imported> IpcMemory::Import(Memory& memory, const char* text, int device, const char* call, const void* caller) {
  static auto* const listener = new std::shared_ptr<ipc::Listener>(std::make_shared<IgnoreExporter>());
  RW_TRY_SET(ipc::Key key, ipc::Key::ParseString(text));
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  RW_TRY_SET(ipc::Joined joined, service->Connect(key, kMemoryType, *listener, Deadline::AfterMs(ipc::kPatienceMs)));
  const uint64_t* value = joined.welcome.value;
  if (value[kAlive] == 0 || !joined.fd) {
    joined.connection->Close();
    return UnknownKey(text);
  }
  Result<uintptr_t> base = memory.MapForeign(joined.fd.Release(), value[kPieceOffset], value[kPieceSize],
                                             {value[kOffset], RoundUp(value[kSize], kSizeUnit), device, kHugePage, call, caller});
  if (!base.ok()) {
    joined.connection->Close();
    return base.status();
  }
  const uintptr_t address = base.value() + value[kOffset];
  std::lock_guard lock(mutex_);
  imports_[text].push_back({address, base.value(), value[kPieceSize], device, joined.connection});
  return Imported{reinterpret_cast<void*>(address), static_cast<int>(value[kDevice])};
}

void IpcMemory::Drop(Memory& memory, const OpenImport& import) {
  memory.mapped().Release(import.base, import.size);
  import.connection->Close();
}

Status IpcMemory::Close(Memory& memory, const char* text) {
  std::lock_guard lock(mutex_);
  if (const auto it = imports_.find(text); it != imports_.end()) {
    Drop(memory, it->second.front());
    it->second.pop_front();
    if (it->second.empty()) imports_.erase(it);
    return Ok();
  }
  if (exports_.erase(text) == 0) return Fail(ACL_ERROR_RT_PARAM_INVALID, "key %.8s... is neither an import nor an export of this process", text);
  RW_TRY_SET(ipc::Key key, ipc::Key::ParseString(text));
  RW_TRY_SET(ipc::Service * service, ipc::Service::Get());
  service->Withdraw(key);
  return Ok();
}

Status IpcMemory::CloseAt(Memory& memory, const void* address) {
  std::lock_guard lock(mutex_);
  for (auto it = imports_.begin(); it != imports_.end(); ++it) {
    auto& open = it->second;
    const auto found = std::find_if(open.begin(), open.end(),
                                    [&](const OpenImport& import) { return import.address == reinterpret_cast<uintptr_t>(address); });
    if (found == open.end()) continue;
    Drop(memory, *found);
    open.erase(found);
    if (open.empty()) imports_.erase(it);
    return Ok();
  }
  return Fail(ACL_ERROR_RT_PARAM_INVALID, "ptr %p is not the address of an import", address);
}

void IpcMemory::CloseImportsOf(Memory& memory, int device) {
  std::lock_guard lock(mutex_);
  for (auto it = imports_.begin(); it != imports_.end();) {
    std::erase_if(it->second, [&](const OpenImport& import) {
      if (import.device != device) return false;
      Drop(memory, import);
      return true;
    });
    it = it->second.empty() ? imports_.erase(it) : std::next(it);
  }
}

}  // namespace ropeway
