#include "check/tips.h"

#include <string>

#include "check/books.h"
#include "check/next.h"

namespace ropeway::check {
namespace {

constexpr unsigned kManyCopies = 64;
constexpr size_t kSmallCopy = 16 << 10;
constexpr uintptr_t kAlignment = 64;
constexpr unsigned kManyWaits = 16;
constexpr unsigned kManyRegistrations = 8;

std::string Remainder(const Range& range) { return std::to_string(range.begin % kAlignment); }

// Where there are kernels, streams have work that nobody sees here. Ropeway has the names of launches, and kernels only where functions
// stand in for them.
bool HasKernels() {
  static const bool has = FindInTarget("rtKernelLaunch") != nullptr && FindInTarget("ropewayRegisterKernel") == nullptr;
  return has || StandInsAreThere();
}

}  // namespace

void Tips::Copied(const Place& place, uint32_t operation, const Range& to, const Range& from) {
  if (!place) return;  // captured
  if ((to.begin | from.begin) % kAlignment != 0)
    books_.Tell(Rule::kTipAlignment, operation,
                "has a destination " + Remainder(to) + " and a source " + Remainder(from) + " bytes behind a multiple of 64");
  if (rows_.size() <= place.stream) rows_.resize(place.stream + 1);
  Row& row = rows_[place.stream];
  const bool goes_on = row.operation == operation && row.last + 1 == place.number;
  row = {operation, place.number, goes_on ? row.count + 1 : 1};
  if (to.end - to.begin > kSmallCopy) row.count = 0;
  if (row.count == kManyCopies)
    books_.Tell(Rule::kTipBatch, operation, "made " + std::to_string(kManyCopies) + " small copies one behind the other");
}

void Tips::Waited(uint32_t operation, bool knew) {
  if (knew && !HasKernels() && ++idle_waits_[operation] == kManyWaits)
    books_.Tell(Rule::kTipWait, operation, "waited " + std::to_string(kManyWaits) + " times for a stream that had nothing new");
}

void Tips::Registered(uint32_t operation, const Range& range) {
  const bool before = !registered_.try_emplace(range.begin, range.end).second;
  if (before && ++repeated_registrations_[operation] == kManyRegistrations - 1)
    books_.Tell(Rule::kTipRegistration, operation, "registered the same memory " + std::to_string(kManyRegistrations) + " times");
}

}  // namespace ropeway::check
