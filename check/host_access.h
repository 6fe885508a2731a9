// Host code beside queued copies, in any binary (--host-access): pinned memory has two addresses (twin_pages.h). The program has one, the
// library copies through the other, and of the program's pages those that a pending copy covers wholly are shut: no access while it
// writes them, no writing while it reads them, until the host knows that it is over. Who touches a shut page is told; the pages are opened,
// and the access goes on.
//
// The library knows both addresses. One that no hook translates (cells of two-level pointers, HCCL) means the same to it as ever, and its
// own accesses through such a one open the page without a word.
#pragma once

#include <signal.h>

#include <span>
#include <vector>

#include "check/model/model.h"

namespace ropeway::check {

class Books;

class HostAccess {
 public:
  static bool On() { return on_; }

  // Pinned memory with a twin; null when there can be none, or it has no whole page, and the library's own has to do.
  static void* Allocate(size_t size);
  // Ends a block of Allocate; false when it is none. Its pages stay until what is queued has used them.
  static bool Free(void* address);
  // What was freed before and nobody uses any more. Outside of all locks: it calls the library.
  static void ReleaseUnused();
  // The block of Allocate that the address lies in; an empty range for none.
  static Range BlockOf(const void* address);
  // What the library copies through: the twin of the address, or the address itself.
  static void* Twin(const void* address) { return on_ ? FindTwin(address) : const_cast<void*>(address); }
  // The program's own registrations of such blocks take the place of the layer's, and give it back.
  static void BeforeRegister(const void* address);
  static void AfterUnregister(const void* address);
  static bool IsOwnRegistration(const void* address);

  // A queued operation uses these bytes through their twins. Under the lock of the books, as the next one.
  static void Shut(const Model& model, const Use& use, std::span<const Access> accesses, bool replay = false);
  // Opens what the host knows to be over, and tells what was touched.
  static void Settle(Books& books);

  // For the signal handler: true when the access is to be tried again.
  static bool OnFault(const siginfo_t& fault, void* context);
  static void AfterFork();

 private:
  static void* FindTwin(const void* address);
  static bool CountRegistration(const void* address, int by);  // whether they begin or end
  static const bool on_;
};

// A function of the program that runs in a stream's order, on this thread: what is queued behind it waits for it.
class FunctionScope {
 public:
  FunctionScope(const Place& place, bool captured);
  ~FunctionScope();
  FunctionScope(const FunctionScope&) = delete;
  FunctionScope& operator=(const FunctionScope&) = delete;

  bool captured() const { return captured_; }
  const Place& place() const { return place_; }

 private:
  const Place place_;
  const bool captured_;
  const FunctionScope* const outer_;
};

// The twins of an array of addresses, for one call.
class TwinList {
 public:
  static constexpr size_t kMost = size_t{1} << 20;  // more is nonsense
  TwinList(void** addresses, size_t count);
  void** data() { return twins_.empty() ? addresses_ : twins_.data(); }

 private:
  void** const addresses_;
  std::vector<void*> twins_;
};

}  // namespace ropeway::check
