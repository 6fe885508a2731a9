// Which pages of the program's pinned memory are shut, and for whom. Takes no lock: host_access.cpp holds one, which a signal handler
// takes, too; so what the handler calls (marked below) takes no memory.
#pragma once

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "check/model/model.h"
#include "check/twin_pages.h"

namespace ropeway::check {

struct TwinBlock {
  enum class Access : uint8_t { kAll, kReading, kNone };
  struct Page {
    uint32_t writers = 0;  // pending operations that cover it wholly
    uint32_t readers = 0;
    bool opened = false;           // somebody was met here since the last of them came
    Access access = Access::kAll;  // as the system has it
    Access Wanted() const { return opened || writers + readers == 0 ? Access::kAll : writers == 0 ? Access::kReading : Access::kNone; }
  };

  explicit TwinBlock(const TwinPages& twins) : pages(twins), states(twins.pages()) {}
  Range range() const { return RangeOf(pages.program, pages.size); }
  void Apply(size_t first, size_t last);  // [first, last)

  const TwinPages pages;
  std::vector<Page> states;
  size_t uses = 0;        // pending, whole pages or not
  int registrations = 0;  // of the program's, in place of the layer's own
};

// One operation's use of some bytes of one block, until the host knows that it is over.
struct PendingUse {
  Use use;
  bool write;
  bool replay;
  bool order_unknown;  // it stands behind a wait that nobody has released
  Clock behind;        // what is in front of it
  TwinBlock* block;
  Range bytes;
  size_t first, last;  // pages that are shut for it: [first, last)
};

class ShutPages {
 public:
  void Add(const TwinPages& pages);
  // Opens the block and takes it away; its pages are released when no use is left.
  bool End(uintptr_t base);
  // Pages that nobody uses any more; those that cannot be released yet come back.
  std::vector<TwinPages> TakeUnused();
  void Return(const TwinPages& pages) { kept_.push_back(pages); }
  bool AnyEnded() const { return !ended_.empty(); }
  TwinBlock* BlockAt(uintptr_t address) const;  // for the handler, too

  // `shut`: whether its whole pages are shut, or it is only counted.
  void Begin(PendingUse use, bool shut);
  void EndFinished(const Model& model);
  void Forget();  // in a forked child

  // For the handler. The use that an access to this page meets; null when the page is open to it.
  const PendingUse* Met(const TwinBlock& block, uintptr_t address, bool write) const;
  static void Open(const PendingUse& use);

 private:
  static void Count(const PendingUse& use, int by);

  std::map<uintptr_t, std::unique_ptr<TwinBlock>> blocks_;
  std::list<std::unique_ptr<TwinBlock>> ended_;
  std::vector<TwinPages> kept_;
  std::map<StreamIndex, std::deque<PendingUse>> uses_;  // in the order of each stream
};

}  // namespace ropeway::check
