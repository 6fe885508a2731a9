// More handles of physical memory than the process may have files: they get their descriptors above the program's own, which
// finds its low numbers free.
#include <fcntl.h>
#include <sys/resource.h>

#include <memory>

#include "tests/process/shared_physical.h"

namespace {

using namespace process_test;

constexpr rlim_t kSoft = 400;
constexpr size_t kHandles = 1500;

void ManyHandles() {
  rlimit limit{};
  RW_CHECK_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < 2 * kHandles) return;  // the system does not let anybody have so many
  limit.rlim_cur = kSoft;
  RW_CHECK_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  std::vector<std::unique_ptr<Memory>> handles;
  for (size_t i = 0; i < kHandles; ++i) handles.push_back(std::make_unique<Memory>(0));
  const int own = open("/dev/null", O_RDONLY | O_CLOEXEC);
  RW_CHECK(own >= 0 && own < static_cast<int>(kSoft));
  close(own);
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, [] { process_test::ExpectClean("many"); }, {{"many", &ManyHandles}});
}
