// Starts this program again and reads its JSON from memory that both share; see bench_child.h.
#include "cli/bench_child.h"

#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

#include "cli/exit_codes.h"
#include "cli/run_self.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

// A file without a name, open in this process and in those it starts.
class NamelessFile {
 public:
  NamelessFile() : descriptor_(memfd_create("ropeway-bench", 0)) {
    if (descriptor_ < 0) throw std::runtime_error("memfd_create failed: no file for the results of another process");
  }
  ~NamelessFile() { close(descriptor_); }
  NamelessFile(const NamelessFile&) = delete;
  NamelessFile& operator=(const NamelessFile&) = delete;

  std::string path() const { return Format("/proc/self/fd/%d", descriptor_); }
  std::string Contents() const {
    std::string text;
    char buffer[4096];
    for (off_t at = 0;; at = static_cast<off_t>(text.size())) {
      const ssize_t got = pread(descriptor_, buffer, sizeof(buffer), at);
      if (got <= 0) return text;
      text.append(buffer, static_cast<size_t>(got));
    }
  }

 private:
  int descriptor_;
};

}  // namespace

std::vector<BenchRow> BenchElsewhere(const std::string& variable, const std::string& value, const std::string& filter, bool quick) {
  const NamelessFile results;
  std::vector<std::string> arguments = {"ropeway", "bench", "--filter", filter, "--json", results.path()};
  if (quick) arguments.push_back("--quick");
  if (RunSelf(std::move(arguments), variable, value) > kFound)
    throw std::runtime_error("the process that measures with other settings did not come to its end");
  return RowsFromJson(results.Contents());
}

}  // namespace ropeway::cli
