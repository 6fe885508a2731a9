#include "base/call_site.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/fork.h"
#include "base/symbols.h"

namespace ropeway {
namespace {

bool IsOurs(const Dl_info& where) {
  static const int here = 0;
  Dl_info ours{};
  return dladdr(&here, &ours) != 0 && ours.dli_fbase == where.dli_fbase;
}

// The layer in front of this library says itself where it was called from.
bool IsLayer(const char* module) { return std::strncmp(module, "libropeway_check.", 17) == 0; }

const char* BaseName(const char* path) {
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

const char* NameOfModule(const Dl_info& where) { return BaseName(where.dli_fname); }

bool Find(const void* caller, Dl_info* where) { return caller != nullptr && dladdr(caller, where) != 0 && where->dli_fname != nullptr; }

// "main+0x1f of prog"
std::string PlaceOf(const void* caller, const Dl_info& where) {
  const char* module = NameOfModule(where);
  const bool named = where.dli_sname != nullptr;
  const auto base = reinterpret_cast<uintptr_t>(named ? where.dli_saddr : where.dli_fbase);
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx", reinterpret_cast<uintptr_t>(caller) - base);
  return std::string(named ? where.dli_sname : module) + offset + (named ? std::string(" of ") + module : "");
}

}  // namespace

// --- Places that have names. A text is stored before the count says that it is there. ---------------------------------------

namespace {

constexpr uintptr_t kNamed = uintptr_t{1} << 63;
constexpr size_t kMostPlaces = 1 << 16;
std::atomic<const char*> g_places[kMostPlaces];
std::atomic<size_t> g_place_count{0};

}  // namespace

const void* NamePlace(const char* text) {
  char* const kept = strdup(text);
  if (kept == nullptr) return nullptr;
  const size_t index = g_place_count.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMostPlaces) {
    std::free(kept);
    return nullptr;
  }
  g_places[index].store(kept, std::memory_order_release);
  return NamedPlaceAt(index);
}

const char* NameOfPlace(const void* caller) {
  const size_t index = (reinterpret_cast<uintptr_t>(caller) & ~kNamed) - 1;
  const bool named = (reinterpret_cast<uintptr_t>(caller) & kNamed) != 0 && index < kMostPlaces;
  return named ? g_places[index].load(std::memory_order_acquire) : nullptr;
}

size_t NamedPlaces() { return std::min(g_place_count.load(std::memory_order_acquire), kMostPlaces); }

const void* NamedPlaceAt(size_t index) { return reinterpret_cast<const void*>(kNamed | (index + 1)); }

// A child of fork may have got the loader's lock from a thread that it has not.
std::string CallSiteText(const void* caller) {
  if (const char* const name = NameOfPlace(caller)) return std::string("called at ") + BaseName(name);
  Dl_info where{};
  if (InForkedChild() || !Find(caller, &where) || IsOurs(where) || IsLayer(NameOfModule(where))) return "";
  const std::string line = symbols::LineOf(reinterpret_cast<uintptr_t>(caller));
  return line.empty() ? "called from " + PlaceOf(caller, where) : "called at " + line;
}

std::string CallerText(const void* caller) {
  const std::string site = CallSiteText(caller);
  return site.empty() ? "" : " (" + site + ")";
}

bool InSameModule(const void* one, const void* other) {
  Dl_info of_one{}, of_other{};
  return Find(one, &of_one) && Find(other, &of_other) && of_one.dli_fbase == of_other.dli_fbase;
}

}  // namespace ropeway
