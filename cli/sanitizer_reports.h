// What ThreadSanitizer reports in a checked program comes through the command: it is passed on as it is, and a report of host code beside a
// queued copy gets a line with our rule. This way it does not matter whether the detector is a library or a part of the program.
#pragma once

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace ropeway::cli {

// Line by line; says what to add behind one.
class ReportReader {
 public:
  std::string Take(const std::string& line);

 private:
  struct Access {
    std::string thread;  // "main" or T5
    bool writes;
  };
  std::string Judge() const;

  bool in_report_ = false;
  std::vector<Access> accesses_;
  std::map<std::string, bool> is_copy_;  // by thread: whether it stands for a stream
};

class SanitizerReports {
 public:
  // Makes the pipe and says where it is in the environment; in front of the program's start.
  SanitizerReports();
  ~SanitizerReports();
  SanitizerReports(const SanitizerReports&) = delete;
  SanitizerReports& operator=(const SanitizerReports&) = delete;

  void Start();  // behind the fork
  // Behind the program's end: passes on what is left, and tells how many reports had a rule.
  unsigned Finish();

 private:
  void Read();

  int out_ = -1, in_ = -1;
  std::thread reader_;
  unsigned errors_ = 0;
};

}  // namespace ropeway::cli
