// What the tables of the tests hold: std::function for lambdas that capture little. A table has hundreds of them, and for
// each std::function makes a dozen functions where three do; it was a third of what the compiler had to write.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>

namespace ropeway_test {

template <typename Signature>
class Callable;

template <typename Result, typename... Arguments>
class Callable<Result(Arguments...)> {
 public:
  Callable() = default;
  Callable(std::nullptr_t) {}
  template <typename Function>
  requires(!std::is_same_v<Function, Callable>) Callable(Function function) : run_(Run<Function>) {
    static_assert(sizeof(Function) <= sizeof(captured_) && std::is_trivially_copyable_v<Function>,
                  "captures by reference, pointers and numbers only; for more there is std::function");
    new (captured_) Function(function);
  }
  Result operator()(Arguments... arguments) const { return run_(captured_, arguments...); }
  explicit operator bool() const { return run_ != nullptr; }

 private:
  using Runner = Result (*)(void* captured, Arguments... arguments);
  template <typename Function>
  static Result Run(void* captured, Arguments... arguments) {
    return (*static_cast<Function*>(captured))(static_cast<Arguments>(arguments)...);
  }

  Runner run_ = nullptr;
  alignas(8) mutable unsigned char captured_[64];
};

}  // namespace ropeway_test
