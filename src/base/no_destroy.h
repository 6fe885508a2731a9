// A global that is there before the first constructor and never goes away: calls come from static destructors, too.
#pragma once

namespace ropeway {

template <typename T>
class NoDestroy {
 public:
  constexpr NoDestroy() : value_() {}
  ~NoDestroy() {}
  NoDestroy(const NoDestroy&) = delete;
  NoDestroy& operator=(const NoDestroy&) = delete;
  T& get() { return value_; }

 private:
  union {
    T value_;
  };
};

}  // namespace ropeway
