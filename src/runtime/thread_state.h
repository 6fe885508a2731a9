// What a thread has: its current context. SetDevice binds a thread to a device's default context, CreateContext and
// SetCurrentContext to an explicit one; each replaces the other (rules/contexts.md).
#pragma once

#include "base/hot_tls.h"
#include "base/status.h"
#include "runtime/context.h"

namespace ropeway {

struct ThreadState {
  Context* context = nullptr;
  uint32_t generation = 0;  // of the context when it was bound; a destroyed one no longer matches
};
extern constinit thread_local ThreadState t_state RW_HOT_TLS;

// The thread's live context, or null. Does not bring a configured default device up.
[[gnu::always_inline]] inline Context* CurrentContextOrNull() {
  Context* context = t_state.context;
  return context != nullptr && context->alive() && context->generation() == t_state.generation ? context : nullptr;
}

// As above, or why there is none: 107002; 507033 in a forked child; 507000 while the process ends. If the init file names
// a default device, it is set now.
[[gnu::cold]] Result<Context*> FindContextSlowly();

[[gnu::always_inline]] inline Result<Context*> CurrentContext() {
  Context* context = CurrentContextOrNull();
  if (context != nullptr) [[likely]]
    return context;
  return FindContextSlowly();
}

void SetCurrentContext(Context* context);
// The thread ends with no context if it had this one.
void DetachThreadFrom(const Context* context);

}  // namespace ropeway
