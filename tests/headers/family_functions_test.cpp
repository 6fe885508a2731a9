// Every function of family_functions.inc: it has its type, which is checked while compiling, and what is refused is never a success,
// whether its arguments are null or nonsense; what has one answer gives it. src/api/refused/ has the rows by which they are made.
#include "acl/acl.h"
#include "acl/acl_dump.h"
#include "acl/acl_op_compiler.h"
#include "acl/acl_platform.h"
#include "acl/acl_prof.h"
#include "acl/acl_sk.h"
#include "acl/acl_tdt.h"
#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "dcmi_interface_api.h"
#include "driver/ascend_hal.h"
#include "dsmi_common_interface.h"
#include "mstx/ms_tools_ext.h"
#include "runtime/rt.h"
#include "securec.h"
#include "tests/support/refused_table.h"

namespace family_functions_test {

using namespace ropeway_test;

// A type forgets that it prints as printf does.
#pragma GCC diagnostic ignored "-Wignored-attributes"

#define IS(name, type, arguments) static_assert(std::is_same_v<decltype(name), type arguments>, #name);
#define WORKS(library, header, name, type, arguments) IS(name, type, arguments)
#define REFUSES(library, header, name, type, arguments) IS(name, type, arguments)
#define ANSWERS(library, header, name, type, arguments, value) IS(name, type, arguments)
#define LOOKED_UP(library, name)
#include "tests/headers/family_functions.inc"

struct Answer {
  const char* name;
  uint64_t (*call)(const uint64_t* arguments);
  std::vector<uint64_t> nonsense;
  std::optional<uint64_t> always;  // nothing: any failure
};

template <auto kFunction>
Answer AnswerWith(const char* name, std::optional<uint64_t> always) {
  using Function = CalledByNumbers<kFunction>;
  return {name, &Function::Call, Function::Arguments(), always};
}

std::vector<Answer> Answers() {
  std::vector<Answer> answers;
#define WORKS(library, header, name, type, arguments)
#define REFUSES(library, header, name, type, arguments) answers.push_back(AnswerWith<&name>(#name, std::nullopt));
#define ANSWERS(library, header, name, type, arguments, value) \
  answers.push_back(AnswerWith<&name>(#name, AnswerOf(static_cast<type>(value))));
#define LOOKED_UP(library, name)
#include "tests/headers/family_functions.inc"
  return answers;
}

void Judge(const Answer& answer, const std::vector<uint64_t>& arguments) {
  const uint64_t got = answer.call(arguments.data());
  if (answer.always) {
    EXPECT_EQ(got, *answer.always) << answer.name;
  } else {
    EXPECT_NE(got, 0u) << answer.name << " is a success";
  }
}

TEST(FamilyFunctions, WhatIsRefusedIsNeverASuccess) {
  const std::vector<Answer> answers = Answers();
  EXPECT_GT(answers.size(), 200u);
  for (const Answer& answer : answers) {
    Judge(answer, std::vector<uint64_t>(answer.nonsense.size(), 0));
    Judge(answer, answer.nonsense);
  }
}

}  // namespace family_functions_test
