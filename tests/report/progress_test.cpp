// The bar of what takes long, as a terminal and as a file see it.
#include "cli/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace ropeway::cli {
namespace progress_test {

using testing::HasSubstr;
using testing::IsEmpty;

constexpr double kForEver = 1e9;

// Everything that is said on stderr goes here while it lives.
class Stderr {
 public:
  explicit Stderr(bool terminal) {
    std::fflush(stderr);
    if (terminal) {
      reader_ = posix_openpt(O_RDWR | O_NOCTTY);
      EXPECT_EQ(grantpt(reader_), 0);
      EXPECT_EQ(unlockpt(reader_), 0);
      writer_ = open(ptsname(reader_), O_RDWR | O_NOCTTY);
    } else {
      int ends[2];
      EXPECT_EQ(pipe(ends), 0);
      reader_ = ends[0];
      writer_ = ends[1];
    }
    fcntl(reader_, F_SETFL, O_NONBLOCK);
    saved_ = dup(STDERR_FILENO);
    dup2(writer_, STDERR_FILENO);
  }
  ~Stderr() {
    dup2(saved_, STDERR_FILENO);
    for (const int file : {reader_, writer_, saved_}) close(file);
  }
  std::string Said() {
    std::fflush(stderr);
    char bytes[4096];
    const ssize_t got = read(reader_, bytes, sizeof(bytes));
    return got <= 0 ? "" : std::string(bytes, static_cast<size_t>(got));
  }

 private:
  int reader_ = -1, writer_ = -1, saved_ = -1;
};

class ProgressTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
  }
};

TEST_F(ProgressTest, StepsAreABarOnATerminal) {
  Stderr terminal(true);
  Progress progress("measuring", 4);
  progress.Step("one");
  EXPECT_THAT(terminal.Said(), HasSubstr("[........................] 1 of 4: measuring one"));
  progress.Step("two");
  EXPECT_THAT(terminal.Said(), HasSubstr("[######..................] 2 of 4: measuring two"));
  progress.Clear();
  EXPECT_EQ(terminal.Said(), "\r\x1b[K");
}

TEST_F(ProgressTest, StepsAreLinesElsewhere) {
  Stderr file(false);
  Progress progress("measuring", 4);
  progress.Step("one");
  progress.Clear();
  EXPECT_EQ(file.Said(), "measuring one\n");
}

TEST_F(ProgressTest, PartsAreABarOnATerminalOnly) {
  {
    Stderr terminal(true);
    Progress progress("reading", 1);
    progress.Reach("t.rwt", 50, 200);
    EXPECT_THAT(terminal.Said(), HasSubstr("[######..................] 25 %: reading t.rwt"));
    progress.Reach("t.rwt", 51, 200);
    EXPECT_THAT(terminal.Said(), IsEmpty()) << "not at every word";
  }
  Stderr file(false);
  Progress progress("reading", 1);
  progress.Reach("t.rwt", 50, 200);
  EXPECT_THAT(file.Said(), IsEmpty());
}

TEST_F(ProgressTest, WhatIsShortHasNone) {
  for (const bool terminal : {true, false}) {
    Stderr out(terminal);
    Progress progress("reading", 1, kForEver);
    progress.Reach("t.rwt", 50, 200);
    progress.Step("one");
    progress.Clear();
    EXPECT_THAT(out.Said(), IsEmpty());
  }
}

}  // namespace progress_test
}  // namespace ropeway::cli
