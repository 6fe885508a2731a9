#include "profile/mstx.h"

#include <cstring>
#include <deque>
#include <map>
#include <new>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "profile/markers.h"

// What a domain's handle points to.
struct mstxDomainRegistration_st {
  const char* name;  // a lasting one; "" of the default domain
  bool alive;
};

namespace ropeway::mstx {
namespace {

constexpr size_t kLongestDomain = 1023;

struct OpenRange {
  mstxDomainHandle_t domain;
  aclrtStream stream;
};

class Mstx {
 public:
  static Mstx& Get() {
    static auto* const mstx = new Mstx;  // what ends at exit may still mark
    return *mstx;
  }

  mstxDomainHandle_t standard() { return &standard_; }

  mstxDomainHandle_t Create(const char* name) {
    const char* const lasting = LastingText(name);
    if (lasting == nullptr) return nullptr;
    LockGuard lock(mutex_);
    for (mstxDomainRegistration_st& domain : domains_) {
      if (domain.name != lasting) continue;  // equal texts are one
      domain.alive = true;
      return &domain;
    }
    domains_.push_back({lasting, true});
    return &domains_.back();
  }

  void Destroy(mstxDomainHandle_t handle) {
    LockGuard lock(mutex_);
    for (mstxDomainRegistration_st& domain : domains_) {
      if (&domain == handle) domain.alive = false;
    }
  }

  // Null: it is not alive.
  const char* NameOf(mstxDomainHandle_t handle) {
    if (handle == &standard_) return standard_.name;
    LockGuard lock(mutex_);
    for (const mstxDomainRegistration_st& domain : domains_) {
      if (&domain == handle && domain.alive) return domain.name;
    }
    return nullptr;
  }

  void Open(mstxRangeId id, const OpenRange& range) {
    LockGuard lock(mutex_);
    ranges_[id] = range;
  }
  // Once, and in its own domain.
  std::optional<OpenRange> Close(mstxRangeId id, mstxDomainHandle_t domain) {
    LockGuard lock(mutex_);
    const auto found = ranges_.find(id);
    if (found == ranges_.end() || found->second.domain != domain) return std::nullopt;
    const OpenRange range = found->second;
    ranges_.erase(found);
    return range;
  }

 private:
  Mutex mutex_{LockRank::kMstx};
  mstxDomainRegistration_st standard_{"", true};
  std::deque<mstxDomainRegistration_st> domains_ RW_GUARDED_BY(mutex_);  // never moved, never gone: a stale handle is only not alive
  std::map<mstxRangeId, OpenRange> ranges_ RW_GUARDED_BY(mutex_);
};

bool IsText(const char* text) { return text != nullptr && *text != '\0' && std::strchr("=+-@", *text) == nullptr; }

// In the stream, too, if there is one; a stream that cannot take it is as good as none.
void Set(const Mark& mark, aclrtStream handle, const char* call) {
  Stream* const stream = handle != nullptr ? Streams().Acquire(handle) : nullptr;
  if (stream == nullptr) return SetMark(mark);
  const StreamHold hold(Streams(), stream);
  static_cast<void>(SetMark(mark, *stream, StreamSlab::GenerationOf(handle), call).ok());
}

}  // namespace

mstxDomainHandle_t DefaultDomain() { return Mstx::Get().standard(); }

mstxDomainHandle_t CreateDomain(const char* name) {
  if (!IsText(name) || std::strcmp(name, "default") == 0 || std::strlen(name) > kLongestDomain) return nullptr;
  return Mstx::Get().Create(name);
}

void DestroyDomain(mstxDomainHandle_t domain) { Mstx::Get().Destroy(domain); }

void MarkIn(mstxDomainHandle_t domain, const char* message, aclrtStream stream, const char* call) {
  if (!MarksAreWanted() || !IsText(message)) return;
  const char* const name = Mstx::Get().NameOf(domain);
  const char* const text = LastingText(message);
  if (name == nullptr || text == nullptr) return;
  Set({MarkKind::kInstant, NewMarkId(), text, name}, stream, call);
}

mstxRangeId StartRange(mstxDomainHandle_t domain, const char* message, aclrtStream stream, const char* call) {
  if (!MarksAreWanted() || !IsText(message)) return MSTX_INVALID_ID;
  const char* const name = Mstx::Get().NameOf(domain);
  const char* const text = LastingText(message);
  if (name == nullptr || text == nullptr) return MSTX_INVALID_ID;
  const mstxRangeId id = NewMarkId();
  Mstx::Get().Open(id, {domain, stream});
  Set({MarkKind::kBegin, id, text, name}, stream, call);
  return id;
}

void EndRange(mstxDomainHandle_t domain, mstxRangeId id, const char* call) {
  const char* const name = id != MSTX_INVALID_ID ? Mstx::Get().NameOf(domain) : nullptr;
  if (name == nullptr) return;
  const std::optional<OpenRange> range = Mstx::Get().Close(id, domain);
  if (range && MarksAreWanted()) Set({MarkKind::kEnd, id, "", name}, range->stream, call);
}

}  // namespace ropeway::mstx
