// Whether the library is initialised, how often, with which file, and who wants to hear of it (rules/init.md 1 to 4).
// Nothing else in the runtime asks: calls work without aclInit.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "base/fork.h"
#include "base/status.h"

namespace ropeway {

class InitState {
 public:
  static InitState& Get();

  // Who makes the profile that a configuration may want, in the folder that it names; `end`: it was begun in vain.
  struct Profiler {
    Status (*begin)(const std::string& folder);
    void (*end)();
  };
  // `path` may be null or empty. Counts, and answers 100002, when the library is initialised already.
  Status Init(const char* path, const Profiler& profiler);
  // Undoes every Init.
  Status Finalize();
  // Undoes one; `left` receives what remains, also on failure.
  Status FinalizeReference(uint64_t* left);

  // 500000: the type is taken, or was not registered.
  Status RegisterInit(aclRegisterCallbackType type, aclInitCallbackFunc function, void* data);
  Status UnregisterInit(aclRegisterCallbackType type, aclInitCallbackFunc function);
  Status RegisterFinalize(aclRegisterCallbackType type, aclFinalizeCallbackFunc function, void* data);
  Status UnregisterFinalize(aclRegisterCallbackType type, aclFinalizeCallbackFunc function);

 private:
  template <typename Function>
  struct Entry {
    aclRegisterCallbackType type;
    Function function;
    void* data;
  };
  template <typename Function>
  using Entries = std::vector<Entry<Function>>;

  template <typename Function>
  static Status Add(Entries<Function>& entries, const Entry<Function>& entry);
  template <typename Function>
  static Status Remove(Entries<Function>& entries, aclRegisterCallbackType type, Function function);
  // Calls the entries of each type in turn, up to the first that fails.
  template <typename Function, typename Call>
  static Status CallInOrder(const Entries<Function>& entries, std::initializer_list<aclRegisterCallbackType> types, Call call)
      RW_REQUIRES(fork_lock::init);

  static Status Apply(const std::string& text, const Profiler& profiler);
  Status CallInitCallbacks(const Entries<aclInitCallbackFunc>& callbacks, bool with_file) RW_REQUIRES(fork_lock::init);
  aclError CallInit(const Entry<aclInitCallbackFunc>& entry) RW_REQUIRES(fork_lock::init);
  Status TakeDown() RW_REQUIRES(fork_lock::init);

  // False when the library is not up.
  bool CountOneMore();
  Status RejectRepeated() const;

  // fork_lock::init is held while callbacks run: what else happens meanwhile is to see the library up, or not up at all. But a callback of
  // aclInit may wait for a thread that calls aclInit, too: that one is told without the lock that the library is up.
  std::atomic<uint64_t> count_{0};
  std::atomic<int> init_callbacks_running_{0};
  bool finalized_ RW_GUARDED_BY(fork_lock::init) = false;  // nothing has been initialised since the last finalise
  std::string config_text_ RW_GUARDED_BY(fork_lock::init);
  std::optional<size_t> first_hash_ RW_GUARDED_BY(fork_lock::init);  // of the first file's content, which binds the process
  Entries<aclInitCallbackFunc> init_callbacks_ RW_GUARDED_BY(fork_lock::init);
  Entries<aclFinalizeCallbackFunc> finalize_callbacks_ RW_GUARDED_BY(fork_lock::init);
};

}  // namespace ropeway
