// What goes into the page, before a browser sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

#include "cli/page_columns.h"
#include "cli/report_page.h"
#include "tests/report/trace_script.h"

namespace ropeway::cli {
namespace page_test {

using testing::HasSubstr;
using testing::Not;

// A name that the program chose must not become a part of the page.
TEST(PageTest, NothingOfTheTraceIsMarkup) {
  TraceScript script;
  script.trace.processes[0].program = "a</script><img src=x>\xff";
  const std::string page = MakePage(script.trace, Analyse(script.trace, TraceScript::kRate), "");
  EXPECT_THAT(page, Not(HasSubstr("</script><img")));
  EXPECT_THAT(page, HasSubstr("a\\u003c/script>\\u003cimg src=x>\xef\xbf\xbd"));
}

TEST(PageTest, FindingsOfTheChecker) {
  TraceScript script;
  const std::string page = MakePage(script.trace, {}, "{\"rule\":\"RW-RACE-001\"}\n\n{\"rule\":\"RW-LIFE-001\"}\n");
  EXPECT_THAT(page, HasSubstr("\"checked\":[{\"rule\":\"RW-RACE-001\"},{\"rule\":\"RW-LIFE-001\"}]"));
}

TEST(PageTest, WhatIsNoFindingIsNamed) {
  TraceScript script;
  for (const char* const line : {"RACE  RW-RACE-001", "[]", "{\"a\":1}", "{\"rule\":"}) {
    try {
      MakePage(script.trace, {}, std::string("{\"rule\":\"RW-RACE-001\"}\n") + line);
      ADD_FAILURE() << line;
    } catch (const std::invalid_argument& problem) {
      EXPECT_STREQ(problem.what(), "line 2 is not a finding of ropeway check --json");
    }
  }
}

TEST(PageTest, WhatGoesToAnotherRankSaysHow) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  TraceTask& task = script.trace.tasks[script.Copy(stream, 1000, 1)];
  task.link = script.Name("tcp");
  task.rank = 3;
  script.trace.waits.emplace_back().rank = 0;
  const auto column = [columns = PageColumns(script.trace)](const std::string& name) {
    for (const PageColumn& one : columns) {
      if (one.name == name) return one.bytes;
    }
    return std::string("no such column");
  };
  EXPECT_EQ(column("class.link"), std::string(1, static_cast<char>(task.link)));
  EXPECT_EQ(column("class.rank"), std::string(1, 4)) << "0 is none";
  EXPECT_EQ(column("wait.rank"), std::string(1, 1));
}

TEST(PageTest, Base64) {
  const auto text = [](const char* bytes) { return Base64({{"a", false, 1, bytes}}); };
  EXPECT_EQ(text(""), "");
  EXPECT_EQ(text("f"), "Zg==");
  EXPECT_EQ(text("fo"), "Zm8=");
  EXPECT_EQ(text("foo"), "Zm9v");
  EXPECT_EQ(Base64({{"a", false, 1, "f"}, {"b", false, 1, "oobar"}}), "Zm9vYmFy") << "columns lie behind one another";
}

// Tasks that have the same in common share a class, so a million of them are few bytes.
TEST(PageTest, ATaskIsAboutTenBytes) {
  TraceScript script;
  const uint32_t stream = script.NewStream();
  for (int i = 0; i < 10000; ++i) script.Copy(stream, 4096, 10);
  size_t bytes = 0;
  for (const PageColumn& column : PageColumns(script.trace)) bytes += column.bytes.size();
  EXPECT_LT(bytes, 12u * 10000);
}

}  // namespace page_test
}  // namespace ropeway::cli
