// A listener for Google Test: a test in which `ropeway check` finds something fails, and no other. In main, before RUN_ALL_TESTS:
//   testing::UnitTest::GetInstance()->listeners().Append(new ropeway::CheckListener);
#ifndef ROPEWAY_CHECK_GTEST_H_
#define ROPEWAY_CHECK_GTEST_H_

#include <gtest/gtest.h>

#include "ropeway/check.h"

namespace ropeway {

class CheckListener : public testing::EmptyTestEventListener {
   public:
    void OnTestStart(const testing::TestInfo&) override { before_ = ropewayCheckCount(); }
    void OnTestEnd(const testing::TestInfo& test) override {
        const unsigned long found = ropewayCheckCount() - before_;
        if (found != 0) ADD_FAILURE() << "ropeway check found " << found << " error" << (found == 1 ? "" : "s") << " in " << test.name();
    }

   private:
    unsigned long before_ = 0;
};

}  // namespace ropeway

#endif
