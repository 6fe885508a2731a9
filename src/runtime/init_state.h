// Whether the library is initialised, how often, with which file, and who wants to hear of it (runtime.md 1.1 to 1.4).
// Nothing else in the runtime asks: calls work without aclInit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "base/status.h"

namespace ropeway {

class InitState {
 public:
  static InitState& Get();

  // `path` may be null or empty. Counts, and answers 100002, when the library is initialised already.
  Status Init(const char* path);
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
  // Calls a copy of the entries of each type in turn, up to the first that fails: they may register and unregister.
  template <typename Function, typename Call>
  static Status CallInOrder(const Entries<Function>& entries, const std::vector<aclRegisterCallbackType>& types,
                            Call call);

  Status Apply(const std::string& text);
  Status CallInitCallbacks(bool with_file);
  Status TakeDown();

  // Guarded by ForkLock::kInit, which is held while callbacks run: whoever calls Init meanwhile is to see the library up, or not
  // up at all.
  uint64_t count_ = 0;
  bool finalized_ = false;  // nothing has been initialised since the last finalise
  std::string config_text_;
  std::optional<size_t> first_hash_;  // of the first file's content, which binds the process
  Entries<aclInitCallbackFunc> init_callbacks_;
  Entries<aclFinalizeCallbackFunc> finalize_callbacks_;
};

}  // namespace ropeway
