#include "check/next.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

extern "C" {
extern void* (*ropeway_check_real_dlsym)(void*, const char*);  // dlsym.cpp
void ropeway_check_find_dlsym();
}

namespace ropeway::check {

namespace {

// A program may close what it opened; the layer keeps calling it.
void StayLoaded(const void* function) {
  Dl_info info{};
  if (dladdr(function, &info) != 0) dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

Hook* Hook::first_ = nullptr;

Hook::Hook(const char* name, void* function) : name_(name), function_(function), behind_(first_) { first_ = this; }

Hook* Hook::Find(const char* name) {
  for (Hook* hook = first_; hook != nullptr; hook = hook->behind_)
    if (std::strcmp(hook->name_, name) == 0) return hook;
  return nullptr;
}

void Hook::Offer(void* next) {
  if (next == function_ || next == next_.load(std::memory_order_relaxed)) return;
  StayLoaded(next);
  next_.store(next, std::memory_order_release);
}

void* Hook::Next() {
  void* next = next_.load(std::memory_order_acquire);
  if (next != nullptr) return next;
  next = FindInTarget(name_);
  if (next == nullptr) {
    std::fprintf(stderr, "ropeway check: no library of this process has %s; is libascendcl.so on the library path?\n", name_);
    std::abort();
  }
  Offer(next);
  return next;
}

// By the C library's own dlsym: ours answers with the hook.
void* FindInTarget(const char* name) {
  ropeway_check_find_dlsym();
  if (void* const next = ropeway_check_real_dlsym(RTLD_NEXT, name)) return next;
  void* found = nullptr;
  for (const char* library : {"libascendcl.so", "libhccl.so"}) {
    void* const opened = found == nullptr ? dlopen(library, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (opened == nullptr) continue;
    found = ropeway_check_real_dlsym(opened, name);
    dlclose(opened);
  }
  return found;
}

}  // namespace ropeway::check
