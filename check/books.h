// What the layer knows of the program: its streams, events, blocks and graphs, by their handles and addresses, on top of the model of their
// order. One lock for everything; hooks come here through Call (call.h).
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>

#include "acl/acl.h"
#include "check/findings.h"
#include "check/model/model.h"
#include "check/operations.h"
#include "check/tips.h"

namespace ropeway::check {

struct Block {
  enum class Kind { kDevice, kPinned, kRegistered, kManaged, kPool, kMapped, kImported };
  Range range;
  Kind kind = Kind::kDevice;
  uint32_t operation = 0;
  uint64_t serial = 0;       // an address comes back, this does not
  bool copied_into = false;  // it may hold descriptors that came that way

  bool OnHost() const { return kind == Kind::kPinned || kind == Kind::kRegistered; }
};

struct EventState {
  bool is_flag = false;                                   // a classic event: waits look at a flag, which stays set until it is reset
  bool outside = false;                                   // others record it, too: replays, or another process
  std::shared_ptr<Flag> flag = std::make_shared<Flag>();  // of those that others record: the latest record that is known
  std::shared_ptr<Point> latest;
  std::shared_ptr<Point> lost;  // a record that nobody waited for before the next one, of another stream
  std::shared_ptr<Graph> capture;
  std::map<StreamIndex, Place> waits;  // the last of each stream
  uint32_t operation = 0;

  void TakeOutside() {
    outside = true;
    flag->latest = true;
  }
};

struct NotifyState {
  std::shared_ptr<Flag> flag = std::make_shared<Flag>();
  std::map<StreamIndex, Place> waits;
  uint32_t operation = 0;
};

struct StreamState {
  StreamIndex index = 0;
  int32_t device = -1;  // not known
  aclrtContext context = nullptr;
  uint32_t operation = 0;
};

struct Mapping {
  Block block;
  size_t offset = 0;  // in the physical block
};

class Books {
 public:
  Books();
  static Books& Get();

  // The stream of a handle, made up when it was made unseen (default streams, other languages' runtimes).
  StreamIndex StreamOf(aclrtStream stream);
  // One that the library has for executions that the host waits for.
  StreamIndex StreamOfModel(aclmdlRI model);
  // Up to where it has work; nothing of a handle that nobody has used.
  std::vector<Place> LastOf(aclrtStream stream) const;
  void AddStream(aclrtStream handle, uint32_t operation);
  // Unless the handle is another stream's by now.
  void RemoveStream(aclrtStream handle, StreamIndex index);
  const std::unordered_map<aclrtStream, StreamState>& streams() const { return streams_; }

  void AddBlock(const void* address, size_t size, Block::Kind kind, uint32_t operation);
  // Judges the end of a block by `rule`, and forgets it.
  void EndBlock(const void* address, Rule rule, uint32_t operation);
  // Forgets it, unless the address is another block's by now.
  void DropBlock(const void* address);
  // The same in the order of a stream: what is queued goes on to count.
  void HandBack(const void* address) { blocks_.erase(reinterpret_cast<uintptr_t>(address)); }
  const Block* BlockAt(const void* address) const;
  const std::map<uintptr_t, Block>& blocks() const { return blocks_; }

  // Puts an operation into a stream that uses these bytes, the program's host memory through its twins.
  Place Queue(StreamIndex stream, uint32_t operation, std::span<const Access> accesses);
  // Bytes came here whose meaning is not known.
  void CopiedInto(const void* address, size_t size);
  // What the host does at once beside everything that is pending.
  void HostUse(Rule rule, const Range& range, bool write, uint32_t operation);
  // The function of the program that this thread runs in a stream's order.
  static thread_local const Function::Run* running;
  template <typename Predicate>
  void FinishStreams(Predicate wanted) {
    for (const auto& [handle, stream] : streams_)
      if (wanted(stream)) model.Finish(model.LastOf(stream.index));
  }
  void FinishAll(int32_t device);
  template <typename Predicate>
  bool AnyPending(Predicate wanted) const {
    return std::any_of(streams_.begin(), streams_.end(),
                       [&](const auto& entry) { return wanted(entry.second) && model.Pending(entry.second.index); });
  }

  // What is found and changed inside of `judge` is kept for later: a call that is refused has no effect.
  using Drafts = std::vector<std::function<void(Books&)>>;
  template <typename Judge>
  void Draft(Drafts* drafts, Judge judge) {
    drafts_ = drafts;
    try {
      judge();
    } catch (...) {  // no memory
      drafts_ = nullptr;
      throw;
    }
    drafts_ = nullptr;
  }
  void Settle(const Drafts& drafts) {
    for (const auto& draft : drafts) draft(*this);
  }
  // At once outside of a draft.
  void WhenDone(std::function<void(Books&)> change);

  void Tell(Rule rule, uint32_t operation, const std::string& what);
  void Tell(Rule rule, uint32_t operation, const std::string& what, const Use& use, const std::string& does);

  Model model;
  Operations operations;
  Findings findings;
  Tips tips{this};
  std::unordered_map<aclrtEvent, EventState> events;
  std::map<std::string, std::shared_ptr<Flag>> exported_events;    // by the handle for other processes
  std::map<std::string, std::shared_ptr<Flag>> exported_notifies;  // by key
  std::unordered_map<aclrtNotify, NotifyState> notifies;
  std::unordered_map<aclmdlRI, std::shared_ptr<Graph>> graphs;
  std::unordered_map<aclrtLabelList, std::vector<const void*>> label_lists;
  std::map<uintptr_t, std::vector<Access>> descriptors;     // what each one says
  std::map<std::string, void*> imports;                     // by key
  std::map<std::string, Range> exports;                     // blocks of this process, by key
  std::unordered_map<aclrtDrvMemHandle, Mapping> mappings;  // where a physical block was mapped first

  std::string NameOf(StreamIndex stream) const;
  std::string Describe(const Range& range) const;
  std::string NameOf(const Place& place) const { return NameOf(place.stream) + " #" + std::to_string(model.NumberOf(place)); }

 private:
  void SetName(StreamIndex stream, std::string name);
  void OnConflict(const Conflict& conflict);
  std::string Hint(const Conflict& conflict) const;
  Party PartyOf(uint32_t operation, const Place& place) const;

  std::unordered_map<aclrtStream, StreamState> streams_;
  std::vector<std::string> names_;  // by index
  std::map<uintptr_t, Block> blocks_;
  unsigned last_name_ = 0;
  uint64_t last_serial_ = 0;
  Drafts* drafts_ = nullptr;
  const std::unique_ptr<Watcher> detector_;
};

}  // namespace ropeway::check
