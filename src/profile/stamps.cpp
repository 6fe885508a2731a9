#include "profile/stamps.h"

#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "profile/aclprof.h"
#include "profile/markers.h"

namespace ropeway::stamps {
namespace {

struct Stamp {
  bool alive = false;
  const char* text = "";  // a lasting one
};

class Pool {
 public:
  static Pool& Get() {
    static auto* const pool = new Pool;
    return *pool;
  }
  void* Take() {
    LockGuard lock(mutex_);
    for (Stamp& stamp : stamps_) {
      if (stamp.alive) continue;
      stamp = {true, ""};
      return &stamp;
    }
    return nullptr;
  }
  // Changes a living one; false: it is none.
  template <typename Change>
  bool With(void* handle, Change change) {
    LockGuard lock(mutex_);
    for (Stamp& stamp : stamps_) {
      if (&stamp != handle || !stamp.alive) continue;
      change(stamp);
      return true;
    }
    return false;
  }
  void Open(uint32_t range, uint64_t id) {
    LockGuard lock(mutex_);
    ranges_[range] = id;
  }
  // 0: unknown.
  uint64_t Close(uint32_t range) {
    LockGuard lock(mutex_);
    const auto found = ranges_.find(range);
    if (found == ranges_.end()) return 0;
    const uint64_t id = found->second;
    ranges_.erase(found);
    return id;
  }

 private:
  Mutex mutex_{LockRank::kStamps};
  std::array<Stamp, 100> stamps_ RW_GUARDED_BY(mutex_);
  std::map<uint32_t, uint64_t> ranges_ RW_GUARDED_BY(mutex_);
};

thread_local std::vector<uint64_t> t_pushed;  // ids of ranges

// The text of a stamp while marks are collected; null otherwise.
const char* TextOf(void* handle) {
  const char* text = nullptr;
  if (Aclprof::Get().marking()) Pool::Get().With(handle, [&](Stamp& stamp) { text = stamp.text; });
  return text;
}

}  // namespace

void* Create() { return Aclprof::Get().marking() ? Pool::Get().Take() : nullptr; }

void Destroy(void* handle) {
  Pool::Get().With(handle, [](Stamp& stamp) { stamp.alive = false; });
}

int SetText(void* handle, const char* text, size_t length) {
  if (!Aclprof::Get().marking() || text == nullptr || length > kLongestText) return kNo;
  const char* const lasting = LastingText(std::string_view(text, length));
  return lasting != nullptr && Pool::Get().With(handle, [&](Stamp& stamp) { stamp.text = lasting; }) ? 0 : kNo;
}

int Set(void* handle) {
  const char* const text = TextOf(handle);
  if (text == nullptr) return kNo;
  SetMark({MarkKind::kInstant, NewMarkId(), text});
  return 0;
}

int Push(void* handle) {
  const char* const text = TextOf(handle);
  if (text == nullptr) return kNo;
  const uint64_t id = NewMarkId();
  t_pushed.push_back(id);
  SetMark({MarkKind::kBegin, id, text});
  return 0;
}

int Pop() {
  if (!Aclprof::Get().marking() || t_pushed.empty()) return kNo;
  SetMark({MarkKind::kEnd, t_pushed.back(), ""});
  t_pushed.pop_back();
  return 0;
}

int Start(void* handle, uint32_t* range) {
  const char* const text = TextOf(handle);
  if (text == nullptr) return kNo;
  const uint64_t id = NewMarkId();
  *range = static_cast<uint32_t>(id);
  Pool::Get().Open(*range, id);
  SetMark({MarkKind::kBegin, id, text});
  return 0;
}

int Stop(uint32_t range) {
  if (!Aclprof::Get().marking()) return kNo;
  const uint64_t id = Pool::Get().Close(range);
  if (id == 0) return kNo;
  SetMark({MarkKind::kEnd, id, ""});
  return 0;
}

}  // namespace ropeway::stamps
