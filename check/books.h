// What the layer knows of the program: its streams, events, blocks and graphs, by their handles and addresses, on top of the model of their
// order. One lock for everything; hooks come here through Call (call.h).
#pragma once

#include <map>
#include <string>
#include <unordered_map>

#include "acl/acl.h"
#include "check/findings.h"
#include "check/model/model.h"
#include "check/operations.h"

namespace ropeway::check {

struct Block {
  enum class Kind { kDevice, kPinned, kRegistered, kManaged, kPool, kMapped, kImported };
  Range range;
  Kind kind = Kind::kDevice;
  uint32_t operation = 0;
  bool copied_into = false;  // it may hold descriptors that came that way
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
  uint32_t operation = 0;
};

class Books {
 public:
  Books();
  static Books& Get();

  // The stream of a handle, made up when it was made unseen (default streams, other languages' runtimes).
  StreamIndex StreamOf(aclrtStream stream);
  void AddStream(aclrtStream handle, int32_t device, uint32_t operation);
  void RemoveStream(aclrtStream handle) { streams_.erase(handle); }
  const std::unordered_map<aclrtStream, StreamState>& streams() const { return streams_; }

  void AddBlock(const void* address, size_t size, Block::Kind kind, uint32_t operation);
  // Judges the end of a block by `rule`, and forgets it.
  void EndBlock(const void* address, Rule rule, uint32_t operation);
  void DropBlock(const void* address) { blocks_.erase(reinterpret_cast<uintptr_t>(address)); }
  const Block* BlockAt(const void* address) const;
  const std::map<uintptr_t, Block>& blocks() const { return blocks_; }

  // Bytes came here whose meaning is not known.
  void CopiedInto(const void* address, size_t size);
  // What the host does at once beside everything that is pending.
  void HostUse(Rule rule, const Range& range, bool write, uint32_t operation);
  void FinishAll(int32_t device);
  bool AnyPending(int32_t device) const;

  void Tell(Rule rule, uint32_t operation, const std::string& what);
  void Tell(Rule rule, uint32_t operation, const std::string& what, const Use& use, const std::string& does);

  Model model;
  Operations operations;
  Findings findings;
  std::unordered_map<aclrtEvent, EventState> events;
  std::map<std::string, std::shared_ptr<Flag>> exported_events;    // by the handle for other processes
  std::map<std::string, std::shared_ptr<Flag>> exported_notifies;  // by key
  std::unordered_map<aclrtNotify, NotifyState> notifies;
  std::unordered_map<aclmdlRI, std::shared_ptr<Graph>> graphs;
  std::map<uintptr_t, std::vector<Access>> descriptors;  // what each one says
  std::map<std::string, void*> imports;                  // by key

  std::string NameOf(StreamIndex stream) const;

 private:
  void OnConflict(const Conflict& conflict);
  std::string Hint(const Conflict& conflict) const;
  std::string Describe(const Range& range) const;
  Party PartyOf(uint32_t operation, const Place& place) const;

  std::unordered_map<aclrtStream, StreamState> streams_;
  std::vector<std::string> names_;  // by index
  std::map<uintptr_t, Block> blocks_;
  unsigned last_name_ = 0;
  const std::unique_ptr<Watcher> detector_;
};

}  // namespace ropeway::check
