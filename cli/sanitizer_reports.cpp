#include "cli/sanitizer_reports.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "check/tally.h"

namespace ropeway::cli {
namespace {

constexpr char kEnd = '\0';  // from this process: everything of the program is in front of it

// "  Previous write of size 8 at 0x7f by thread T5:"; the part behind `mark` up to the next colon, blank or end.
std::string WordBehind(const std::string& line, const std::string& mark) {
  const size_t at = line.find(mark);
  if (at == std::string::npos) return "";
  const size_t begin = at + mark.size();
  return line.substr(begin, line.find_first_of(" :\n", begin) - begin);
}

}  // namespace

std::string ReportReader::Take(const std::string& line) {
  if (line.find("WARNING: ThreadSanitizer: data race") != std::string::npos) {
    in_report_ = true;
    accesses_.clear();
    is_copy_.clear();
  } else if (!in_report_) {
    return "";
  } else if (line.find(" of size ") != std::string::npos && line.find(" at 0x") != std::string::npos) {
    const std::string thread = WordBehind(line, " by thread ");
    const bool writes = line.find("rite of size") != std::string::npos;
    if (line.find(" by ") != std::string::npos) accesses_.push_back({thread.empty() ? "main" : thread, writes});
  } else if (const std::string thread = WordBehind(line, "  Thread "); !thread.empty()) {
    is_copy_[thread] = line.find("'copies of stream ") != std::string::npos;
  } else if (line.rfind("==================", 0) == 0) {
    in_report_ = false;
    return Judge();
  }
  return "";
}

std::string ReportReader::Judge() const {
  const Access* host = nullptr;
  bool copy = false;
  for (const Access& access : accesses_) {
    const auto known = is_copy_.find(access.thread);
    if (known != is_copy_.end() && known->second)
      copy = true;
    else
      host = &access;
  }
  if (!copy || host == nullptr) return "";
  return host->writes
             ? "HOST  RW-HOST-002  the report above: host code writes a buffer that a pending copy uses     docs/check/RW-HOST-002.md\n"
             : "HOST  RW-HOST-001  the report above: host code reads a buffer that a pending copy writes     docs/check/RW-HOST-001.md\n";
}

SanitizerReports::SanitizerReports() {
  int ends[2];
  if (pipe(ends) != 0) return;
  in_ = ends[0];
  out_ = ends[1];
  fcntl(in_, F_SETFD, FD_CLOEXEC);
  setenv(check::kReportsVariable, std::to_string(out_).c_str(), 1);
}

SanitizerReports::~SanitizerReports() {
  Finish();
  if (in_ >= 0) close(in_);
  if (out_ >= 0) close(out_);
}

void SanitizerReports::Start() {
  if (in_ >= 0) reader_ = std::thread([this] { Read(); });
}

unsigned SanitizerReports::Finish() {
  if (!reader_.joinable()) return errors_;
  if (write(out_, &kEnd, 1) == 1)
    reader_.join();
  else
    reader_.detach();
  return errors_;
}

void SanitizerReports::Read() {
  ReportReader reader;
  std::string line;
  char bytes[4096];
  for (ssize_t count; (count = read(in_, bytes, sizeof bytes)) > 0;) {
    for (ssize_t i = 0; i < count; ++i) {
      if (bytes[i] != kEnd) line += bytes[i];
      if (bytes[i] != kEnd && bytes[i] != '\n') continue;
      const std::string said = reader.Take(line);
      std::fputs((line + said).c_str(), stderr);
      if (!said.empty()) ++errors_;
      line.clear();
      if (bytes[i] == kEnd) return;
    }
  }
}

}  // namespace ropeway::cli
