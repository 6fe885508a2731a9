// `ropeway bench --hccl`: collectives of 2, 4 and 8 processes beside Open MPI in the same processes, in turns. This process starts them and
// gathers what rank 0 of each job has measured; started as a rank itself (by mpirun, over several hosts, too), it measures.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include "cli/bench_rank.h"
#include "cli/exit_codes.h"
#include "cli/launch.h"
#include "cli/table.h"

namespace ropeway::cli {
namespace {

bool HasMpirun() { return std::system("command -v mpirun >/dev/null 2>&1") == 0; }

// A file that the ranks write, gone with this.
class ResultFile {
 public:
  ResultFile() {
    const int descriptor = mkstemp(path_);
    if (descriptor < 0) throw std::runtime_error("cannot write results into /tmp");
    close(descriptor);
  }
  ~ResultFile() { unlink(path_); }
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  const char* path() const { return path_; }

 private:
  char path_[32] = "/tmp/ropeway-bench-XXXXXX";
};

std::vector<std::string> JobWords(uint32_t ranks, bool beside_mpi, const BenchOptions& options, const std::string& results) {
  char self[4096] = {};
  if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) throw std::runtime_error("this command does not know where it is");
  std::vector<std::string> words;
  if (beside_mpi)
    words = {"mpirun", "--quiet", "--oversubscribe", "--bind-to", "none", "-n", std::to_string(ranks)};
  else
    words = {self, "ranks", "-n", std::to_string(ranks), "--"};
  words.insert(words.end(), {self, "bench", "--hccl", "--filter", options.filter, "--json", results});
  if (options.quick) words.push_back("--quick");
  return words;
}

// Its table goes nowhere: the rows come back in the file.
int RunJob(const std::vector<std::string>& words) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    _exit(Execute("bench", words));
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return kCannotRun;
  return StatusOf(status);
}

bool WantsRanks(const BenchOptions& options, uint32_t ranks) {
  for (const std::string& name : WorkloadNames(BenchSet::kHccl)) {
    if (name.find(options.filter) != std::string::npos && name.find(Format("_%ux", ranks)) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

void BenchHccl(BenchReport& report) {
  if (const std::optional<RankOfJob> job = FindRank()) return BenchAsRank(*job, report.options(), &report);
  const bool beside_mpi = HasMpirun();
  bool measured = false;
  for (const uint32_t ranks : kBenchedRanks) {
    if (!WantsRanks(report.options(), ranks)) continue;
    measured = true;
    const ResultFile results;
    const int status = RunJob(JobWords(ranks, beside_mpi, report.options(), results.path()));
    if (status > kFound) throw std::runtime_error(Format("the job of %u ranks ended with status %d", ranks, status));
    for (BenchRow& row : ReadRows(results.path())) report.Add(std::move(row));
  }
  if (measured && !beside_mpi) report.Skip("beside Open MPI", "there is no mpirun (Debian: openmpi-bin), so nothing is judged");
}

}  // namespace ropeway::cli
