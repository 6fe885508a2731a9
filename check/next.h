// What a hook stands in front of: the same name in whichever AscendCL the program has.
//
// A program that links the library finds the hooks first, since they are preloaded, and RTLD_NEXT is the library. One that opens the
// library itself asks dlsym (dlsym.cpp), which hands out the hook and keeps what it found for it here.
#pragma once

#include <atomic>

namespace ropeway::check {

class Hook {
 public:
  Hook(const char* name, void* function);
  static Hook* Find(const char* name);
  // Looked up once. Ends the process when no library has it: the program could not have called it without the layer either.
  void* Next();
  void Offer(void* next);

  void* function() const { return function_; }

 private:
  const char* const name_;
  void* const function_;
  std::atomic<void*> next_{nullptr};
  Hook* const behind_;
  static Hook* first_;
};

// RW_HOOK(name) in front of the definition of a hook; NEXT(name)(...) inside calls what it stands in front of.
#define RW_HOOK(name) static ::ropeway::check::Hook hook_of_##name(#name, reinterpret_cast<void*>(&name))
#define NEXT(name) reinterpret_cast<decltype(&name)>(hook_of_##name.Next())

// The same for calls that no hook is for: null where the library does not have it.
void* FindInTarget(const char* name);

}  // namespace ropeway::check
