#include "check/shut_pages.h"

#include <sys/mman.h>

#include <algorithm>

namespace ropeway::check {
namespace {

int Protection(TwinBlock::Access access) {
  switch (access) {
    case TwinBlock::Access::kAll: return PROT_READ | PROT_WRITE;
    case TwinBlock::Access::kReading: return PROT_READ;
    default: return PROT_NONE;
  }
}

bool Forbids(TwinBlock::Access access, bool write) {
  return access == TwinBlock::Access::kNone || (write && access == TwinBlock::Access::kReading);
}

}  // namespace

// One call of the system for each run of pages that change alike.
void TwinBlock::Apply(size_t first, size_t last) {
  for (size_t at = first; at < last;) {
    const Access wanted = states[at].Wanted();
    size_t end = at + 1;
    if (states[at].access != wanted) {
      while (end < last && states[end].Wanted() == wanted && states[end].access != wanted) ++end;
      if (mprotect(pages.program + at * PageSize(), (end - at) * PageSize(), Protection(wanted)) == 0)
        for (size_t page = at; page < end; ++page) states[page].access = wanted;
    }
    at = end;
  }
}

void ShutPages::Add(const TwinPages& pages) {
  auto block = std::make_unique<TwinBlock>(pages);
  const uintptr_t base = block->range().begin;
  blocks_[base] = std::move(block);
}

bool ShutPages::End(uintptr_t base) {
  const auto at = blocks_.find(base);
  if (at == blocks_.end()) return false;
  TwinBlock& block = *at->second;
  for (TwinBlock::Page& page : block.states) page.opened = true;
  block.Apply(0, block.states.size());
  ended_.push_back(std::move(at->second));
  blocks_.erase(at);
  return true;
}

std::vector<TwinPages> ShutPages::TakeUnused() {
  std::vector<TwinPages> unused = std::move(kept_);
  kept_.clear();
  ended_.remove_if([&](const std::unique_ptr<TwinBlock>& block) {
    if (block->uses == 0) unused.push_back(block->pages);
    return block->uses == 0;
  });
  return unused;
}

TwinBlock* ShutPages::BlockAt(uintptr_t address) const {
  auto at = blocks_.upper_bound(address);
  if (at == blocks_.begin()) return nullptr;
  --at;
  return address < at->first + at->second->pages.size ? at->second.get() : nullptr;
}

void ShutPages::Count(const PendingUse& use, int by) {
  use.block->uses += static_cast<size_t>(by);
  for (size_t i = use.first; i < use.last; ++i) {
    TwinBlock::Page& page = use.block->states[i];
    (use.write ? page.writers : page.readers) += static_cast<uint32_t>(by);
    if (by > 0 || page.writers + page.readers == 0) page.opened = false;
  }
  use.block->Apply(use.first, use.last);
}

// Behind the end of a block its last page has nothing.
void ShutPages::Begin(PendingUse use, bool shut) {
  const Range whole = use.block->range();
  use.first = (use.bytes.begin - whole.begin + PageSize() - 1) / PageSize();
  use.last = use.bytes.end == whole.end ? use.block->states.size() : (use.bytes.end - whole.begin) / PageSize();
  use.last = shut ? std::max(use.first, use.last) : use.first;
  std::deque<PendingUse>& uses = uses_[use.use.place.stream];
  uses.push_back(std::move(use));
  Count(uses.back(), +1);
}

void ShutPages::EndFinished(const Model& model) {
  for (auto& [stream, uses] : uses_)
    while (!uses.empty() && model.Finished(uses.front().use.place)) {
      Count(uses.front(), -1);
      uses.pop_front();
    }
}

void ShutPages::Forget() {
  for (const auto& [stream, uses] : uses_)
    for (const PendingUse& use : uses) Count(use, -1);
  uses_.clear();
}

// A writer rather than a reader, and of several the latest.
const PendingUse* ShutPages::Met(const TwinBlock& block, uintptr_t address, bool write) const {
  const size_t page = (address - block.range().begin) / PageSize();
  if (!Forbids(block.states[page].access, write)) return nullptr;
  const PendingUse* met = nullptr;
  for (const auto& [stream, uses] : uses_)
    for (const PendingUse& use : uses)
      if (use.block == &block && use.first <= page && page < use.last && (met == nullptr || use.write || !met->write)) met = &use;
  return met;
}

void ShutPages::Open(const PendingUse& use) {
  for (size_t i = use.first; i < use.last; ++i) use.block->states[i].opened = true;
  use.block->Apply(use.first, use.last);
}

}  // namespace ropeway::check
