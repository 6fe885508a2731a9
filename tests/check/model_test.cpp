// The order that the model sees, by itself: no AscendCL, no lock, no report.
#include "check/model/model.h"

#include <gtest/gtest.h>

namespace ropeway::check {
namespace {

using Effect = Step::Effect;

class ModelOfOrder : public ::testing::Test {
 protected:
  Place Write(StreamIndex stream, uintptr_t begin = 0, uintptr_t end = 100) { return Touch(stream, begin, end, true); }
  Place Read(StreamIndex stream, uintptr_t begin = 0, uintptr_t end = 100) { return Touch(stream, begin, end, false); }
  Place Touch(StreamIndex stream, uintptr_t begin, uintptr_t end, bool write) {
    const Access access{{begin, end}, write};
    return model_.SubmitUse(stream, 0, {&access, 1});
  }

  std::shared_ptr<Point> Record(StreamIndex stream, std::shared_ptr<Flag> flag = nullptr) {
    Step step;
    step.effect = Effect::kPass;
    step.point = std::make_shared<Point>();
    step.flag = std::move(flag);
    const std::shared_ptr<Point> point = step.point;
    model_.Submit(stream, std::move(step));
    return point;
  }
  void Wait(StreamIndex stream, std::shared_ptr<Point> point) {
    Step step;
    step.effect = Effect::kWaitPoint;
    step.point = std::move(point);
    model_.Submit(stream, std::move(step));
  }
  void WaitFlag(StreamIndex stream, std::shared_ptr<Flag> flag, Effect effect) {
    Step step;
    step.effect = effect;
    step.flag = std::move(flag);
    model_.Submit(stream, std::move(step));
  }
  void Word(StreamIndex stream, Effect effect, uint64_t value) {
    Step step;
    step.effect = effect;
    step.value = value;
    step.word = model_.WordAt(5000);
    model_.Submit(stream, std::move(step));
  }
  void Replay(StreamIndex stream, std::shared_ptr<Graph> graph) {
    Step step;
    step.effect = Effect::kReplay;
    step.graph = std::move(graph);
    model_.Submit(stream, std::move(step));
  }

  std::vector<Conflict> conflicts_;
  Model model_{[this](const Conflict& conflict) { conflicts_.push_back(conflict); }};
  const StreamIndex a_ = model_.AddStream(), b_ = model_.AddStream(), c_ = model_.AddStream();
};

TEST_F(ModelOfOrder, UnorderedUsesConflictUnlessBothRead) {
  Read(a_);
  Read(b_);
  EXPECT_EQ(conflicts_.size(), 0u);
  Write(c_, 50, 60);
  ASSERT_EQ(conflicts_.size(), 2u);
  EXPECT_FALSE(conflicts_[0].earlier_writes);
  EXPECT_TRUE(conflicts_[0].later_writes);
  EXPECT_EQ(conflicts_[0].part.begin, 50u);
  EXPECT_EQ(conflicts_[0].part.end, 60u);
}

TEST_F(ModelOfOrder, OneStreamIsInOrder) {
  Write(a_);
  Read(a_);
  Write(a_, 20, 30);
  EXPECT_EQ(conflicts_.size(), 0u);
}

TEST_F(ModelOfOrder, NeighboursDoNotTouch) {
  Write(a_, 0, 100);
  Write(b_, 100, 200);
  EXPECT_EQ(conflicts_.size(), 0u);
  Write(c_, 99, 101);
  EXPECT_EQ(conflicts_.size(), 2u);
}

TEST_F(ModelOfOrder, AWaitOrdersWhatIsInFrontOfTheRecordOnly) {
  Write(a_, 0, 100);
  const auto point = Record(a_);
  Write(a_, 200, 300);
  Wait(b_, point);
  Read(b_, 0, 100);
  EXPECT_EQ(conflicts_.size(), 0u);
  Read(b_, 200, 300);
  EXPECT_EQ(conflicts_.size(), 1u);
}

TEST_F(ModelOfOrder, OrderIsPassedOn) {
  Write(a_);
  Wait(b_, Record(a_));
  Wait(c_, Record(b_));
  Write(c_);
  EXPECT_EQ(conflicts_.size(), 0u);
}

TEST_F(ModelOfOrder, WhatTheHostSawFinishedIsInFrontOfEverything) {
  const Place place = Write(a_);
  EXPECT_TRUE(model_.Pending(a_));
  model_.Finish(place);
  EXPECT_FALSE(model_.Pending(a_));
  Write(b_);
  EXPECT_EQ(conflicts_.size(), 0u);
}

TEST_F(ModelOfOrder, FinishingAStreamFinishesWhatItWaitedFor) {
  Write(a_);
  Wait(b_, Record(a_));
  model_.Finish(Write(b_, 500, 600));
  EXPECT_FALSE(model_.Pending(a_));
}

TEST_F(ModelOfOrder, AStreamThatWaitsForALaterRecordIsJudgedWhenItComes) {
  const auto flag = std::make_shared<Flag>();
  WaitFlag(b_, flag, Effect::kWaitFlag);
  Read(b_);
  Write(a_);
  EXPECT_NE(model_.HeldAt(b_), nullptr);
  Record(a_, flag);
  EXPECT_EQ(model_.HeldAt(b_), nullptr);
  EXPECT_EQ(conflicts_.size(), 0u);
}

TEST_F(ModelOfOrder, ASetFlagGivesTheOrderOfItsFirstRecord) {
  const auto flag = std::make_shared<Flag>();
  Record(a_, flag);
  Write(a_);
  Record(a_, flag);
  WaitFlag(b_, flag, Effect::kWaitFlag);
  Read(b_);
  EXPECT_EQ(conflicts_.size(), 1u);
}

TEST_F(ModelOfOrder, ATakenFlagServesOneWait) {
  const auto flag = std::make_shared<Flag>();
  Write(a_);
  Record(a_, flag);
  WaitFlag(b_, flag, Effect::kTakeFlag);
  WaitFlag(c_, flag, Effect::kTakeFlag);
  Read(b_);
  EXPECT_EQ(model_.HeldAt(b_), nullptr);
  EXPECT_NE(model_.HeldAt(c_), nullptr);
  EXPECT_EQ(conflicts_.size(), 0u);
}

TEST_F(ModelOfOrder, AWordOrdersBehindTheStoreThatSatisfies) {
  Word(a_, Effect::kStore, 1);
  Write(a_);
  Word(a_, Effect::kStore, 2);
  Word(b_, Effect::kWaitWord, 2);
  Read(b_);
  EXPECT_EQ(conflicts_.size(), 0u);
  Word(c_, Effect::kWaitWord, 1);
  Read(c_);
  EXPECT_EQ(conflicts_.size(), 1u);
}

TEST_F(ModelOfOrder, AWaitThatTheHostSawPassedHoldsNobodyUp) {
  WaitFlag(b_, std::make_shared<Flag>(), Effect::kTakeFlag);
  model_.Finish(Read(b_));
  EXPECT_EQ(model_.HeldAt(b_), nullptr);
  EXPECT_FALSE(model_.Pending(b_));
}

TEST_F(ModelOfOrder, AReplayDoesWhatWasCapturedEveryTime) {
  const auto graph = std::make_shared<Graph>();
  model_.Capture(a_, graph);
  Write(a_);
  EXPECT_FALSE(model_.Pending(a_));
  model_.EndCapture(*graph);
  Replay(a_, graph);
  Replay(b_, graph);  // replays of one graph run one after the other
  EXPECT_EQ(conflicts_.size(), 0u);
  Read(c_);
  ASSERT_EQ(conflicts_.size(), 1u);
  EXPECT_TRUE(model_.IsBranch(conflicts_[0].earlier.place.stream));
  EXPECT_EQ(model_.RunnerOf(conflicts_[0].earlier.place.stream), b_);
  model_.Finish(model_.LastOf(b_));
  Read(c_);
  EXPECT_EQ(conflicts_.size(), 1u);
}

TEST_F(ModelOfOrder, BranchesOfAGraphAreOrderedByTheirEvents) {
  const auto graph = std::make_shared<Graph>();
  model_.Capture(a_, graph);
  Write(a_);
  const auto fork = Record(a_);
  model_.Capture(b_, graph);
  Wait(b_, fork);
  Read(b_);
  const auto join = Record(b_);
  Write(a_, 500, 600);
  Read(b_, 500, 600);  // behind nothing
  Wait(a_, join);
  model_.EndCapture(*graph);
  Replay(c_, graph);
  EXPECT_EQ(conflicts_.size(), 1u);
  Write(c_);
  EXPECT_EQ(conflicts_.size(), 1u);
}

TEST_F(ModelOfOrder, WhatIsFinishedIsForgotten) {
  for (uintptr_t block = 0; block < 100000; ++block) model_.Finish(Write(a_, 10 * block, 10 * block + 5));
  EXPECT_LT(model_.ranges(), 10000u);
}

}  // namespace
}  // namespace ropeway::check
