// Copies from and to device variables. Without a kernel compiler no variable is ever registered: after the argument
// checks every symbol is unknown (107043).
#include "tests/conformance/copy/call_checks.h"

namespace ropeway_test::bytes {
namespace memcpy_symbol_test {

using MemcpySymbol = StreamTest;

int g_variable = 0;  // an ordinary host variable, as a program without device code would pass it

struct Args : CallArgs {
  const void* symbol = &g_variable;
  void* memory;  // dst of the From form, src of the To form
  size_t dst_max = 4;
  size_t count = 4;
  size_t offset = 0;
  int kind;
};

struct Form {
  const char* name;
  bool from;
  Callable<aclError(const Args&)> call;
};

std::vector<Form> Forms(aclrtStream stream) {
  auto kind = [](const Args& a) { return static_cast<aclrtMemcpyKind>(a.kind); };
  return {
      {"aclrtMemcpyFromSymbol", true,
       [=](const Args& a) { return aclrtMemcpyFromSymbol(a.memory, a.dst_max, a.symbol, a.count, a.offset, kind(a)); }},
      {"aclrtMemcpyFromSymbolAsync", true,
       [=](const Args& a) { return aclrtMemcpyFromSymbolAsync(a.memory, a.dst_max, a.symbol, a.count, a.offset, kind(a), stream); }},
      {"aclrtMemcpyToSymbol", false, [=](const Args& a) { return aclrtMemcpyToSymbol(a.symbol, a.memory, a.count, a.offset, kind(a)); }},
      {"aclrtMemcpyToSymbolAsync", false,
       [=](const Args& a) { return aclrtMemcpyToSymbolAsync(a.symbol, a.memory, a.count, a.offset, kind(a), stream); }},
  };
}

// ExpectCheckOrder wants a call that succeeds at the end: here that is the one with count 0.
Args Succeeding(bool from, void* memory) {
  Args args;
  args.memory = memory;
  args.kind = from ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE;
  args.count = 0;
  return args;
}

TEST_F(MemcpySymbol, EarlierCheckWins) {
  int memory = 42;
  for (const Form& form : Forms(stream_)) {
    const Args valid = Succeeding(form.from, &memory);
    std::vector<Check<Args>> checks = {
        {"count 0", ACL_SUCCESS, [](Args& a) { a.count = 0; }},
        {"symbol NULL", ACL_ERROR_INVALID_PARAM,
         [](Args& a) {
           a.symbol = nullptr;
           a.count = 4;
         }},
        {"memory NULL", ACL_ERROR_INVALID_PARAM,
         [](Args& a) {
           a.memory = nullptr;
           a.count = 4;
         }},
        {"kind device to device", ACL_ERROR_INVALID_PARAM,
         [](Args& a) {
           a.kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
           a.count = 4;
         }},
        {"no context", ACL_ERROR_RT_CONTEXT_NULL,
         [](Args& a) {
           a.without_context = true;
           a.count = 4;
         }},
        {"unknown symbol", ACL_ERROR_RT_INVALID_SYMBOL, [](Args& a) { a.count = 4; }},
    };
    if (form.from) {
      checks.insert(checks.begin() + 3, {"count above dstMax", ACL_ERROR_INVALID_PARAM, [](Args& a) {
                                           a.dst_max = 3;
                                           a.count = 4;
                                         }});
    }
    ExpectCheckOrder(form.name, valid, checks, form.call, [&] { EXPECT_EQ(memory, 42); });
  }
}

TEST_F(MemcpySymbol, OnlyItsOwnDirectionAndDefaultAreAccepted) {
  int memory = 0;
  for (const Form& form : Forms(stream_)) {
    for (int kind = -1; kind <= 8; ++kind) {
      SCOPED_TRACE(std::string(form.name) + " kind " + std::to_string(kind));
      Args args = Succeeding(form.from, &memory);
      const bool fits = kind == args.kind || kind == ACL_MEMCPY_DEFAULT;
      args.kind = kind;
      args.count = 4;
      EXPECT_EQ(form.call(args), fits ? ACL_ERROR_RT_INVALID_SYMBOL : ACL_ERROR_INVALID_PARAM);
    }
  }
}

TEST_F(MemcpySymbol, HugeOffsetOfAnUnknownSymbolIsStillAnUnknownSymbol) {
  int memory = 0;
  for (const Form& form : Forms(stream_)) {
    Args args = Succeeding(form.from, &memory);
    args.count = 4;
    args.offset = SIZE_MAX;
    EXPECT_EQ(form.call(args), ACL_ERROR_RT_INVALID_SYMBOL) << form.name;
  }
}

TEST_F(MemcpySymbol, AddressAndSizeOfAnUnknownSymbol) {
  int mark = 0;
  void* address = &mark;
  size_t size = 77;
  EXPECT_EQ(aclrtGetSymbolAddress(nullptr, &address), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetSymbolAddress(&g_variable, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetSymbolAddress(&g_variable, &address), ACL_ERROR_RT_INVALID_SYMBOL);
  EXPECT_EQ(aclrtGetSymbolSize(nullptr, &size), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetSymbolSize(&g_variable, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetSymbolSize(&g_variable, &size), ACL_ERROR_RT_INVALID_SYMBOL);
  EXPECT_EQ(address, &mark);
  EXPECT_EQ(size, 77u);
}

}  // namespace memcpy_symbol_test
}  // namespace ropeway_test::bytes
