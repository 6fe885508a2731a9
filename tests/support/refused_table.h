// Tests for tables of refused calls (src/api/refused/table.inc): each call is made as the table says that it is refused, and with each of
// its checks failing, together with all that come behind it. Every pointer is nonsense, so a call that looks behind one crashes.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/acl_test.h"

namespace ropeway_test {

inline uint64_t WordOf(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

// What a function returns, as a number; texts are equal that have the same first letter.
template <typename Return>
uint64_t AnswerOf(Return answer) {
  if constexpr (std::is_same_v<Return, const char*>) {
    return answer == nullptr ? 0 : 1 + static_cast<uint64_t>(*answer);
  } else if constexpr (std::is_pointer_v<Return>) {
    return WordOf(answer);
  } else {
    return static_cast<uint64_t>(answer);
  }
}

struct RefusedCheck {
  const char* parameter;
  int code;
  uint64_t good;
  std::vector<uint64_t> bad;
};

enum class Refusal { kCode, kQuietCode, kNull, kConstant };

struct RefusedCall {
  Refusal how;
  const char* name;
  const char* parameters;  // "(type name, type, ...)"
  const char* text;
  uint64_t (*call)(const uint64_t* arguments);
  std::vector<uint64_t> arguments;  // before a check has a say
  std::vector<RefusedCheck> checks;
  uint64_t constant = 0;  // the answer of kConstant
};

// Calls a function with numbers in place of its arguments. Structures are empty.
template <auto kFunction>
struct CalledByNumbers;

template <typename Return, typename... Parameters, Return (*kFunction)(Parameters...)>
struct CalledByNumbers<kFunction> {
  template <typename T>
  static T From(uint64_t word) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<T>(static_cast<uintptr_t>(word));
    } else if constexpr (std::is_class_v<T>) {
      return T{};
    } else {
      return static_cast<T>(word);
    }
  }

  static uint64_t Call([[maybe_unused]] const uint64_t* arguments) {
    const Return answer = [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
      return kFunction(From<Parameters>(arguments[kIndex])...);
    }
    (std::index_sequence_for<Parameters...>());
    return AnswerOf(answer);
  }

  static std::vector<uint64_t> Arguments() { return {(std::is_pointer_v<Parameters> ? WordOf(Nonsense()) : 0)...}; }
};

template <auto kFunction>
RefusedCall CallOf(Refusal how, const char* name, const char* parameters, const char* text, std::vector<RefusedCheck> checks) {
  using Function = CalledByNumbers<kFunction>;
  return {how, name, parameters, text, &Function::Call, Function::Arguments(), std::move(checks)};
}

// Which parameter has this name.
inline size_t PlaceOf(const RefusedCall& call, const std::string& parameter) {
  size_t place = 0;
  for (const char* at = call.parameters; *at != '\0'; ++at) {
    if (*at != ',' && *at != ')') continue;
    const size_t length = static_cast<size_t>(at - call.parameters);
    const std::string before(call.parameters, length);
    if (length > parameter.size() && before.ends_with(parameter) && !std::isalnum(before[length - parameter.size() - 1])) return place;
    ++place;
  }
  ADD_FAILURE() << call.name << " has a check of " << parameter << ", and no such parameter";
  return 0;
}

// With every check content but those from `first` on; the first of these takes its bad value `which`.
inline std::vector<uint64_t> ArgumentsOf(const RefusedCall& call, size_t first, size_t which) {
  std::vector<uint64_t> arguments = call.arguments;
  for (const RefusedCheck& check : call.checks) arguments[PlaceOf(call, check.parameter)] = check.good;
  for (size_t i = call.checks.size(); i-- > first;) {
    const RefusedCheck& check = call.checks[i];
    arguments[PlaceOf(call, check.parameter)] = check.bad[i == first ? which : 0];
  }
  return arguments;
}

// `judge(call, arguments, code, words)`: the answer to these arguments must be this code, and its text must have these words.
template <typename Judge>
void TryRefusedCall(const RefusedCall& call, Judge judge, int refused) {
  SCOPED_TRACE(call.name);
  judge(call, ArgumentsOf(call, call.checks.size(), 0), refused, call.text);
  for (size_t i = 0; i < call.checks.size(); ++i) {
    for (size_t which = 0; which < call.checks[i].bad.size(); ++which) {
      SCOPED_TRACE(std::string(call.checks[i].parameter) + ", bad value " + std::to_string(which));
      judge(call, ArgumentsOf(call, i, which), call.checks[i].code, call.checks[i].parameter);
    }
  }
}

}  // namespace ropeway_test
