// check_corpus --list            every program with what it is to be found with: "NAME.wrong RULE" and "NAME.right -"
// check_corpus NAME.wrong|right  runs one
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "tests/check/corpus/program.h"

namespace corpus {
namespace {

std::vector<Program>& Programs() {
  static std::vector<Program> programs;
  return programs;
}

void List() {
  for (const Program& program : Programs()) std::printf("%s.wrong %s\n%s.right -\n", program.name, program.rule, program.name);
}

int Run(const Program& program, bool right) {
  if (program.run == nullptr) return right ? program.right_main() : program.wrong_main();
  MUST(aclInit(nullptr));
  MUST(aclrtSetDevice(0));
  program.run(right);
  MUST(aclrtSynchronizeDevice());
  MUST(aclrtResetDevice(0));
  MUST(aclFinalize());
  return 0;
}

int Find(const std::string& wanted) {
  for (const Program& program : Programs())
    for (const bool right : {false, true})
      if (wanted == program.name + std::string(right ? ".right" : ".wrong")) return Run(program, right);
  std::fprintf(stderr, "check_corpus: no program %s; --list has them all\n", wanted.c_str());
  return 2;
}

}  // namespace

int Add(const Program& program) {
  Programs().push_back(program);
  return 0;
}

}  // namespace corpus

int main(int count, char** words) {
  if (count != 2) {
    std::fprintf(stderr, "usage: check_corpus --list | NAME\n");
    return 2;
  }
  if (std::strcmp(words[1], "--list") != 0) return corpus::Find(words[1]);
  corpus::List();
  return 0;
}
