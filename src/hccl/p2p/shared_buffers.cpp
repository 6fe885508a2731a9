#include "hccl/p2p/shared_buffers.h"

#include <vector>

#include "acl/acl.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {
namespace {

constexpr std::chrono::seconds kIdle(1);
// The first export of memory moves it; of a larger block only what is sent.
constexpr uint64_t kLargestBlock = uint64_t{1} << 30;
constexpr size_t kKeyBytes = 64;

// Whether a peer tells the truth about where its bytes are.
bool IsInside(const char* import, uint64_t offset, uint64_t bytes) {
  constexpr uint64_t kMost = uint64_t{1} << 60;
  void* view = nullptr;
  if (offset > kMost || bytes > kMost || ropewayHostView(const_cast<char*>(import), offset + bytes, &view) == ACL_ERROR_RT_PARAM_INVALID) {
    aclGetRecentErrMsg();
    return false;
  }
  return true;
}

}  // namespace

bool SharedBuffers::Export(aclrtContext context, uint32_t peer, int32_t pid, void* buffer, uint64_t bytes, Place* place) {
  void* base = nullptr;
  size_t size = 0;
  if (aclrtSetCurrentContext(context) != ACL_SUCCESS || aclrtMemGetAddressRange(buffer, &base, &size) != ACL_SUCCESS) {
    aclGetRecentErrMsg();
    return false;
  }
  if (size > kLargestBlock) {
    base = buffer;
    size = bytes;
  }
  place->key = ExportBlock(context, peer, pid, static_cast<const char*>(base), size);
  place->offset = static_cast<uint64_t>(static_cast<const char*>(buffer) - static_cast<const char*>(base));
  if (place->key.empty()) return false;
  Use(place->key);
  return true;
}

std::string SharedBuffers::ExportBlock(aclrtContext context, uint32_t peer, int32_t pid, const char* base, uint64_t bytes) {
  std::string& known = exported_[{base, peer}];
  // Admitting once more is how to ask whether a key lives.
  if (!known.empty() && shared_[known].bytes >= bytes && aclrtIpcMemSetImportPid(known.c_str(), &pid, 1) == ACL_SUCCESS) return known;
  if (!known.empty()) shared_[known].bytes = 0;  // never used again, and closed when nobody uses it
  char key[kKeyBytes + 1] = {};
  if (aclrtIpcMemGetExportKey(const_cast<char*>(base), bytes, key, sizeof key, 0) != ACL_SUCCESS ||
      aclrtIpcMemSetImportPid(key, &pid, 1) != ACL_SUCCESS) {
    aclGetRecentErrMsg();  // the network does it, too
    if (key[0] != '\0') aclrtIpcMemClose(key);
    exported_.erase({base, peer});
    return "";
  }
  known = key;
  shared_[known] = {context, base, bytes};
  return known;
}

const void* SharedBuffers::Import(aclrtContext context, const Place& place, uint64_t bytes) {
  const auto found = shared_.find(place.key);
  if (found != shared_.end() && found->second.context != context && found->second.users == 0) Close(place.key);
  if (shared_.count(place.key) == 0) {
    void* mapped = nullptr;
    if (place.key.size() != kKeyBytes || aclrtSetCurrentContext(context) != ACL_SUCCESS ||
        aclrtIpcMemImportByKey(&mapped, place.key.c_str(), 0) != ACL_SUCCESS) {
      aclGetRecentErrMsg();
      return nullptr;
    }
    shared_[place.key] = {context, static_cast<const char*>(mapped)};
  }
  const char* const address = shared_[place.key].address;
  if (!IsInside(address, place.offset, bytes)) return nullptr;
  Use(place.key);
  return address + place.offset;
}

void SharedBuffers::Use(const std::string& key) {
  ++shared_[key].users;
  CloseIdleLater();
}

void SharedBuffers::GiveBack(const std::string& key) {
  const auto found = shared_.find(key);
  if (found == shared_.end()) return;
  --found->second.users;
  found->second.used = Clock::now();
}

void SharedBuffers::Close(const std::string& key) {
  const auto node = shared_.extract(key);
  if (!node) return;
  for (auto it = exported_.begin(); it != exported_.end();) it = it->second == key ? exported_.erase(it) : std::next(it);
  // A context that is gone took its imports along.
  if (aclrtSetCurrentContext(node.mapped().context) == ACL_SUCCESS) aclrtIpcMemClose(key.c_str());
  aclGetRecentErrMsg();
}

void SharedBuffers::CloseIdleLater() {
  if (std::exchange(waiting_, true)) return;
  IoThread::Get().At(Deadline::After(kIdle), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->CloseIdle();
  });
}

void SharedBuffers::CloseIdle() {
  waiting_ = false;
  std::vector<std::string> idle;
  for (const auto& [key, shared] : shared_) {
    if (shared.users == 0 && Clock::now() - shared.used >= kIdle) idle.push_back(key);
  }
  for (const std::string& key : idle) Close(key);
  if (!shared_.empty()) CloseIdleLater();
}

void SharedBuffers::Clear() {
  while (!shared_.empty()) Close(shared_.begin()->first);
}

}  // namespace ropeway::comm
