#include "check/books.h"

#include <cstdio>
#include <cstring>

#include "check/current.h"
#include "check/host_access.h"
#include "check/thread_sanitizer.h"
#include "src/base/symbols.h"

namespace ropeway::check {
namespace {

std::string SizeText(size_t size) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB"};
  size_t unit = 0;
  while (unit < 3 && size >= 1024 && size % 1024 == 0) {
    size /= 1024;
    ++unit;
  }
  return std::to_string(size) + " " + units[unit];
}

std::string AddressText(uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%zx", static_cast<size_t>(address));
  return text;
}

std::string Sentence(const Party& party) {
  return party.call + " " + party.location + (party.where.empty() ? "" : " (" + party.where + ")");
}

Rule RuleOf(const Conflict& conflict, const char* later_call, bool replay) {
  if (std::strcmp(later_call, "aclrtMemPoolFreeAsync") == 0) return Rule::kLifeFree;
  if (replay) return Rule::kGraphRace;
  if (!conflict.later_writes) return Rule::kRaceRead;
  return conflict.earlier_writes ? Rule::kRaceWrites : Rule::kRaceOverwrite;
}

}  // namespace

thread_local const Function::Run* Books::running = nullptr;

Books& Books::Get() {
  static auto* const books = new Books;  // programs call until their very end
  return *books;
}

Books::Books()
    : model([this](const Conflict& conflict) { OnConflict(conflict); }), detector_(WatchWithThreadSanitizer([this](uintptr_t address) {
        const Block* const block = BlockAt(reinterpret_cast<void*>(address));
        return block == nullptr || block->kind == Block::Kind::kPinned || block->kind == Block::Kind::kRegistered;
      })) {
  model.SetWatcher(detector_.get());
}

StreamIndex Books::StreamOf(aclrtStream stream) {
  const auto known = streams_.find(stream);
  if (known != streams_.end()) return known->second.index;
  const StreamIndex index = model.AddStream();
  streams_[stream] = {index, CurrentDevice(), CurrentContext(), 0};
  SetName(index, "default stream");
  return index;
}

StreamIndex Books::StreamOfModel(aclmdlRI model_handle) {
  const auto known = streams_.find(model_handle);  // no stream has the handle of a model
  if (known != streams_.end()) return known->second.index;
  const StreamIndex index = model.AddStream();
  streams_[model_handle] = {index, CurrentDevice(), CurrentContext(), 0};
  SetName(index, "stream of aclmdlRIExecute");
  return index;
}

std::vector<Place> Books::LastOf(aclrtStream stream) const {
  const auto known = streams_.find(stream);
  return known == streams_.end() ? std::vector<Place>{} : std::vector{model.LastOf(known->second.index)};
}

void Books::AddStream(aclrtStream handle, uint32_t operation) {
  const StreamIndex index = model.AddStream();
  streams_[handle] = {index, CurrentDevice(), CurrentContext(), operation};
  SetName(index, "stream " + std::to_string(++last_name_));
}

void Books::RemoveStream(aclrtStream handle, StreamIndex index) {
  const auto at = streams_.find(handle);
  if (at == streams_.end() || at->second.index != index) return;
  streams_.erase(at);
  model.Retire(index);
}

void Books::SetName(StreamIndex stream, std::string name) {
  if (names_.size() <= stream) names_.resize(stream + 1);
  names_[stream] = std::move(name);
}

std::string Books::NameOf(StreamIndex stream) const {
  const StreamIndex runner = model.RunnerOf(stream);
  return runner < names_.size() && !names_[runner].empty() ? names_[runner] : "stream";
}

void Books::AddBlock(const void* address, size_t size, Block::Kind kind, uint32_t operation) {
  const Range range = RangeOf(address, size);
  model.Forget(range);
  blocks_[range.begin] = {range, kind, operation, ++last_serial_};
}

const Block* Books::BlockAt(const void* address) const {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  auto at = blocks_.upper_bound(wanted);
  if (at == blocks_.begin()) return nullptr;
  --at;
  return wanted < at->second.range.end ? &at->second : nullptr;
}

void Books::EndBlock(const void* address, Rule rule, uint32_t operation) {
  const auto at = blocks_.find(reinterpret_cast<uintptr_t>(address));
  if (at == blocks_.end()) return;
  model.PassEnd(at->second.range, [&](const Use& use, bool written, const Range& part) {
    Tell(rule, operation, "ends " + Describe(part), use,
         written ? "writes it, and may not have run yet" : "reads it, and may not have run yet");
  });
  DropBlock(address);
}

void Books::DropBlock(const void* address) {
  const auto block = blocks_.find(reinterpret_cast<uintptr_t>(address));
  if (block == blocks_.end()) return;
  WhenDone([begin = block->first, serial = block->second.serial](Books& books) {
    const auto at = books.blocks_.find(begin);
    if (at == books.blocks_.end() || at->second.serial != serial) return;
    const Range range = at->second.range;
    books.model.Forget(range);
    books.descriptors.erase(books.descriptors.lower_bound(range.begin), books.descriptors.lower_bound(range.end));
    books.blocks_.erase(at);
  });
}

void Books::WhenDone(std::function<void(Books&)> change) {
  if (drafts_ == nullptr) return change(*this);
  drafts_->push_back(std::move(change));
}

Place Books::Queue(StreamIndex stream, uint32_t operation, std::span<const Access> accesses) {
  const Place place = model.SubmitUse(stream, operation, accesses);
  HostAccess::Shut(model, {place, operation}, accesses);
  return place;
}

void Books::CopiedInto(const void* address, size_t size) {
  const Range range = RangeOf(address, size);
  if (const auto block = blocks_.upper_bound(range.begin); block != blocks_.begin()) std::prev(block)->second.copied_into = true;
  if (!descriptors.empty()) descriptors.erase(descriptors.lower_bound(range.begin), descriptors.lower_bound(range.end));
}

void Books::HostUse(Rule rule, const Range& range, bool write, uint32_t operation) {
  model.PassUses(range, write, running, [&](const Use& use, bool written, const Range& part) {
    const char* const verb = rule == Rule::kHostPasses ? (write ? "writes " : "reads ") : "changes ";
    Tell(rule, operation, verb + Describe(part), use,
         written ? "writes it, and may not have run yet" : "reads it, and may not have run yet");
  });
  if (write) WhenDone([range](Books& books) { books.model.HostWrote(range); });
}

void Books::FinishAll(int32_t device) {
  FinishStreams([&](const StreamState& stream) { return device < 0 || stream.device < 0 || stream.device == device; });
}

Party Books::PartyOf(uint32_t number, const Place& place) const {
  const Operation& operation = operations.At(number);
  if (operation.location.empty()) operation.location = symbols::Locate(operation.site).Short();
  Party party{operation.call, operation.location, "", {}};
  if (place) party.where = NameOf(place);
  for (void* frame : operation.stack) {
    const symbols::Location location = symbols::Locate(reinterpret_cast<uintptr_t>(frame));
    party.stack.push_back(location.function + " " + location.Short());
  }
  return party;
}

std::string Books::Describe(const Range& range) const {
  const std::string size = SizeText(range.end - range.begin);
  const Block* const block = BlockAt(reinterpret_cast<void*>(range.begin));
  if (block == nullptr) return AddressText(range.begin) + ", " + size;
  const Party maker = PartyOf(block->operation, {});
  return "block " + AddressText(block->range.begin) + " +" + std::to_string(range.begin - block->range.begin) + ", " + size + " (" +
         Sentence(maker) + ")";
}

void Books::Tell(Rule rule, uint32_t operation, const std::string& what) {
  WhenDone([=](Books& books) {
    if (!books.findings.Add(rule, operation, 0)) return;
    const Party party = books.PartyOf(operation, {});
    books.findings.Tell({rule, {Sentence(party) + " " + what}, {party}});
  });
}

void Books::Tell(Rule rule, uint32_t operation, const std::string& what, const Use& use, const std::string& does) {
  WhenDone([=](Books& books) {
    if (!books.findings.Add(rule, operation, use.operation)) return;
    const Party party = books.PartyOf(operation, {}), other = books.PartyOf(use.operation, use.place);
    books.findings.Tell({rule, {Sentence(party) + " " + what, Sentence(other) + " " + does}, {party, other}});
  });
}

void Books::OnConflict(const Conflict& conflict) {
  const bool replay = model.IsBranch(conflict.earlier.place.stream) || model.IsBranch(conflict.later.place.stream);
  const Rule rule = RuleOf(conflict, operations.At(conflict.later.operation).call, replay);
  if (!findings.Add(rule, conflict.later.operation, conflict.earlier.operation)) return;
  const Party later = PartyOf(conflict.later.operation, conflict.later.place);
  const Party earlier = PartyOf(conflict.earlier.operation, conflict.earlier.place);
  Finding finding{rule, {}, {later, earlier}};
  finding.lines.push_back(Sentence(later) + (conflict.later_writes ? " writes " : " reads ") + Describe(conflict.part));
  finding.lines.push_back(Sentence(earlier) + (conflict.earlier_writes ? " writes it" : " reads it") + ", and nothing orders the two");
  const std::string hint = Hint(conflict);
  if (!hint.empty()) finding.lines.push_back(hint);
  findings.Tell(finding);
}

// A wait that was meant to order the two looks at a record of another stream.
std::string Books::Hint(const Conflict& conflict) const {
  const std::shared_ptr<const Point> wait = model.LastWait(conflict.later.place.stream);
  if (wait == nullptr || wait->place.stream == conflict.earlier.place.stream) return "";
  const Party record = PartyOf(wait->operation, {});
  return "the event of " + record.location + " was recorded on " + NameOf(wait->place.stream) + "; did you mean " +
         NameOf(conflict.earlier.place.stream) + "?";
}

}  // namespace ropeway::check
