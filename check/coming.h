// A call that releases waits, from its first line to its last (model/step.h, Signal).
#pragma once

#include "check/call.h"

namespace ropeway::check {

class Coming {
 public:
  template <typename SignalOf>
  Coming(Call& call, SignalOf signal_of) : call_(call) {
    call.Keep([&](Books& books, uint32_t) {
      signal_ = signal_of(books);
      if (signal_ != nullptr) ++signal_->coming;
    });
  }
  // Without a release nobody has passed by it.
  ~Coming() {
    if (signal_ == nullptr) return;
    call_.Keep([&](Books&, uint32_t) {
      if (--signal_->coming < signal_->early.size()) signal_->early.resize(signal_->coming);
    });
  }
  Coming(const Coming&) = delete;
  Coming& operator=(const Coming&) = delete;

 private:
  Call& call_;
  std::shared_ptr<Signal> signal_;
};

// A queued call (call.h) that releases `signal`, which may use `books`.
#define RW_RELEASES(name, parameters, arguments, signal, ...)                                   \
  RW_HOOK(name);                                                                                \
  aclError name parameters {                                                                    \
    RW_CALL(name);                                                                              \
    const Coming coming(call, [&](Books& books) -> std::shared_ptr<Signal> { return signal; }); \
    const aclError code = NEXT(name) arguments;                                                 \
    if (code != ACL_SUCCESS) return code;                                                       \
    const aclrtStream named = Named(stream);                                                    \
    call.Keep([&](Books& books, uint32_t operation) {                                           \
      const StreamIndex index = books.StreamOf(named);                                          \
      __VA_ARGS__;                                                                              \
    });                                                                                         \
    return code;                                                                                \
  }

}  // namespace ropeway::check
