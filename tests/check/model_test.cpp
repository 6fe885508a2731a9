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

  std::shared_ptr<Function> Call(StreamIndex stream, bool holds = true) {
    Step step;
    step.effect = Effect::kCall;
    step.function = std::make_shared<Function>();
    step.function->holds_its_stream = holds;
    const std::shared_ptr<Function> function = step.function;
    model_.Submit(stream, std::move(step));
    return function;
  }
  // How many unfinished uses a write of the host passes.
  int Passed(uintptr_t begin, uintptr_t end, const Function::Run* by = nullptr) {
    int passed = 0;
    model_.PassUses({begin, end}, true, by, [&](const Use&, bool, const Range&) { ++passed; });
    return passed;
  }
  int Ended(uintptr_t begin, uintptr_t end) {
    int passed = 0;
    model_.PassEnd({begin, end}, [&](const Use&, bool, const Range&) { ++passed; });
    return passed;
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

TEST_F(ModelOfOrder, AFunctionPassesNothingThatWaitsForIt) {
  Write(a_, 0, 100);
  const auto function = Call(a_);
  Read(a_, 0, 100);
  Wait(b_, Record(a_));
  Read(b_, 0, 100);
  Read(c_, 0, 100);  // and one that nobody made wait: a race with the write, too
  const auto run = model_.Begin(*function);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(Passed(0, 100, run.get()), 1);
  EXPECT_EQ(Passed(0, 100), 3);  // for other threads all of it is pending
  EXPECT_EQ(Ended(0, 100), 3);
  model_.End(run);
}

TEST_F(ModelOfOrder, NobodyWaitsForACallbackThatDoesNotHoldItsStream) {
  const auto function = Call(a_, false);
  Read(a_);
  const auto run = model_.Begin(*function);
  EXPECT_EQ(Passed(0, 100, run.get()), 1);
}

TEST_F(ModelOfOrder, AFunctionThatRunsSaysThatWhatHeldItsStreamIsOver) {
  WaitFlag(a_, std::make_shared<Flag>(), Effect::kTakeFlag);
  Write(a_);
  const auto function = Call(a_);
  Read(a_, 500, 600);
  EXPECT_NE(model_.HeldAt(a_), nullptr);
  const auto run = model_.Begin(*function);
  EXPECT_EQ(model_.HeldAt(a_), nullptr);
  EXPECT_EQ(Passed(0, 100), 0);
  EXPECT_EQ(Passed(500, 600), 1);
}

TEST_F(ModelOfOrder, EveryReplayRunsItsFunctionOnce) {
  const auto graph = std::make_shared<Graph>();
  model_.Capture(a_, graph);
  Write(a_);
  const auto function = Call(a_);
  model_.EndCapture(*graph);
  Replay(a_, graph);
  Replay(a_, graph);
  model_.End(model_.Begin(*function));
  EXPECT_EQ(Passed(0, 100), 1);  // the second replay's
  model_.End(model_.Begin(*function));
  EXPECT_EQ(Passed(0, 100), 0);
  EXPECT_EQ(model_.Begin(*function), nullptr);
}

TEST_F(ModelOfOrder, ALaunchThatWasRefusedLeavesNothing) {
  const auto function = Call(a_);
  model_.Withdraw(a_, *function);
  EXPECT_FALSE(model_.Pending(a_));
  WaitFlag(b_, std::make_shared<Flag>(), Effect::kTakeFlag);
  const Place last = model_.LastOf(b_);
  const auto behind_a_wait = Call(b_);
  model_.Withdraw(b_, *behind_a_wait);
  EXPECT_EQ(model_.LastOf(b_).number, last.number);
}

TEST_F(ModelOfOrder, AWordThatWasSetBackDoesNotReleaseByItsOldValue) {
  Write(a_);
  Word(a_, Effect::kStore, 1);
  Word(b_, Effect::kWaitWord, 1);
  Word(b_, Effect::kStore, 0);
  Word(b_, Effect::kWaitWord, 1);
  EXPECT_NE(model_.HeldAt(b_), nullptr);
  Wait(a_, Record(c_));
  Write(a_, 200, 300);
  Word(a_, Effect::kStore, 1);
  EXPECT_EQ(model_.HeldAt(b_), nullptr);
  Read(b_, 200, 300);
  EXPECT_EQ(conflicts_.size(), 0u);
}

TEST_F(ModelOfOrder, StoresThatTheHostSawOverwrittenAreForgotten) {
  for (uint64_t value = 1; value <= 1000; ++value) {
    Word(a_, Effect::kStore, value);
    model_.Finish(model_.LastOf(a_));
  }
  EXPECT_LE(model_.WordAt(5000)->stores.size(), 2u);
}

TEST_F(ModelOfOrder, AViewShowsTheBytesOfItsOriginal) {
  model_.AddView({1000, 1100}, 0);
  Write(a_, 0, 100);
  Read(b_, 1050, 1150);
  ASSERT_EQ(conflicts_.size(), 1u);
  EXPECT_EQ(conflicts_[0].part.begin, 50u);
  EXPECT_EQ(conflicts_[0].part.end, 100u);
  EXPECT_EQ(Passed(1000, 1010), 1);  // the write of the original
  EXPECT_EQ(Ended(1000, 1010), 0);   // the view's end does not concern it
  EXPECT_EQ(Ended(1050, 1100), 1);
}

TEST_F(ModelOfOrder, AViewEndsWithItsOriginal) {
  model_.AddView({1000, 1100}, 0);
  model_.Forget({0, 100});
  Write(a_, 0, 100);
  Read(b_, 1000, 1100);
  EXPECT_EQ(conflicts_.size(), 0u);
}

TEST_F(ModelOfOrder, AReplayWaitsForWhatIsSubmittedBehindIt) {
  const auto flag = std::make_shared<Flag>();
  const auto graph = std::make_shared<Graph>();
  model_.Capture(a_, graph);
  WaitFlag(a_, flag, Effect::kTakeFlag);
  Read(a_);
  model_.EndCapture(*graph);
  Replay(a_, graph);
  EXPECT_NE(model_.HeldAt(a_), nullptr);
  Write(b_);
  Record(b_, flag);
  EXPECT_EQ(model_.HeldAt(a_), nullptr);
  EXPECT_EQ(conflicts_.size(), 0u);
}

TEST_F(ModelOfOrder, ReplaysAreFinishedWithoutWhatIsBehindThem) {
  const auto graph = std::make_shared<Graph>();
  model_.Capture(a_, graph);
  Write(a_);
  model_.EndCapture(*graph);
  Replay(b_, graph);
  Write(c_, 500, 600);
  Wait(b_, Record(c_));
  Write(b_, 200, 300);
  model_.FinishReplays(*graph);
  EXPECT_EQ(Passed(0, 100), 0);
  EXPECT_EQ(Passed(200, 300), 1);
  EXPECT_EQ(Passed(500, 600), 1);
}

TEST_F(ModelOfOrder, WhoPassedWhileTheReleaseWasOnItsWayGetsItsOrder) {
  const auto flag = std::make_shared<Flag>();
  WaitFlag(b_, flag, Effect::kTakeFlag);
  Write(a_);
  flag->coming = 1;
  model_.Finish(model_.LastOf(b_));  // the host saw that it passed
  Read(b_);
  EXPECT_EQ(conflicts_.size(), 1u);
  Record(a_, flag);
  EXPECT_FALSE(flag->set) << "it was taken";
  EXPECT_FALSE(model_.Pending(a_));
  flag->coming = 0;
  WaitFlag(c_, flag, Effect::kTakeFlag);
  EXPECT_NE(model_.HeldAt(c_), nullptr);
}

TEST_F(ModelOfOrder, WhatPassedWithoutAReleaseTakesNoLaterOne) {
  const auto flag = std::make_shared<Flag>();
  WaitFlag(b_, flag, Effect::kTakeFlag);
  model_.Finish(model_.LastOf(b_));  // by another process
  Record(a_, flag);
  EXPECT_TRUE(flag->set);
}

TEST_F(ModelOfOrder, MemoryOfAStreamIsNoWorkOfIt) {
  model_.Own(a_, {0, 100}, 0);
  EXPECT_FALSE(model_.Pending(a_));
  Write(b_, 0, 100);
  EXPECT_EQ(conflicts_.size(), 0u);
  Write(a_, 500, 600);
  model_.Own(a_, {200, 300}, 0);
  Write(b_, 200, 300);
  EXPECT_EQ(conflicts_.size(), 1u);
}

TEST_F(ModelOfOrder, SaysWhoHasWhatAStreamWaitsFor) {
  const auto one = std::make_shared<Flag>(), other = std::make_shared<Flag>();
  WaitFlag(a_, one, Effect::kTakeFlag);
  Record(a_, other);
  WaitFlag(b_, other, Effect::kTakeFlag);
  EXPECT_EQ(model_.HolderOf(*model_.HeldAt(b_)), a_);
  EXPECT_EQ(model_.HolderOf(*model_.HeldAt(a_)), std::nullopt);
  Record(b_, one);
  EXPECT_EQ(model_.HolderOf(*model_.HeldAt(a_)), b_);
}

TEST_F(ModelOfOrder, AStreamThatIsOverLeavesItsIndexToAnother) {
  Write(a_);
  Wait(b_, Record(a_));
  model_.Retire(a_);  // it has work: nothing happens
  const StreamIndex other = model_.AddStream();
  EXPECT_NE(other, a_);
  model_.Finish(model_.LastOf(a_));
  model_.Retire(a_);
  ASSERT_EQ(model_.AddStream(), a_);
  EXPECT_FALSE(model_.Pending(a_));
  const Place first = Write(a_);
  EXPECT_EQ(model_.NumberOf(first), 1u);
  Read(b_);  // its wait was for the stream before
  EXPECT_EQ(conflicts_.size(), 1u);
}

TEST_F(ModelOfOrder, WhatIsFinishedIsForgotten) {
  for (uintptr_t block = 0; block < 100000; ++block) model_.Finish(Write(a_, 10 * block, 10 * block + 5));
  EXPECT_LT(model_.ranges(), 10000u);
}

// --- What numbers in memory decide --------------------------------------------------------------------------------------

class ModelOfControl : public ModelOfOrder {
 protected:
  static Step Deciding(Effect effect) {
    Step step;
    step.effect = effect;
    step.control = std::make_shared<Control>();
    return step;
  }
  // A stream that keeps its tasks for a model.
  StreamIndex Keeper() {
    const StreamIndex stream = model_.AddStream();
    const auto tasks = std::make_shared<Graph>();
    tasks->kept = true;
    model_.Capture(stream, tasks);
    return stream;
  }
  void Bind(StreamIndex stream, bool head) { built_->lanes.push_back({stream, head, model_.CaptureOf(stream)}); }
  void Activate(StreamIndex stream, StreamIndex target) {
    Step step = Deciding(Effect::kActivate);
    step.control->target = target;
    model_.Submit(stream, std::move(step));
  }
  void Switch(StreamIndex stream, StreamIndex target, uint8_t comparison) {
    Step step = Deciding(Effect::kSwitch);
    step.control->target = target;
    step.control->comparison = comparison;
    model_.Submit(stream, std::move(step));
  }
  void Label(StreamIndex stream, const void* label) {
    Step step = Deciding(Effect::kLabel);
    step.control->label = label;
    model_.Submit(stream, std::move(step));
  }
  void Jump(StreamIndex stream, std::vector<const void*> labels) {
    Step step = Deciding(Effect::kJump);
    step.control->labels = std::move(labels);
    model_.Submit(stream, std::move(step));
  }
  void Mark(StreamIndex stream) { model_.Submit(stream, Deciding(Effect::kFinish)); }

  std::shared_ptr<Graph> built_ = std::make_shared<Graph>();
  const StreamIndex one_ = Keeper(), other_ = Keeper();
  const char labels_[3] = {};
};

TEST_F(ModelOfControl, BodiesOfAConditionNeverMeet) {
  const auto graph = std::make_shared<Graph>();
  model_.Capture(a_, graph);
  Step choose = Deciding(Effect::kChoose);
  for (int i = 0; i < 2; ++i) choose.control->bodies.push_back(std::make_shared<Graph>());
  const auto bodies = choose.control->bodies;
  model_.Submit(a_, std::move(choose));
  for (const auto& body : bodies) {
    model_.Capture(c_, body);
    Write(c_);
    model_.EndCapture(*body);
  }
  Read(a_);
  model_.EndCapture(*graph);
  Replay(a_, graph);
  Replay(a_, graph);
  EXPECT_TRUE(conflicts_.empty());
  Write(b_, 50, 60);
  EXPECT_FALSE(conflicts_.empty()) << "a body may run";
}

TEST_F(ModelOfControl, ExecutionIsOverAtItsMark) {
  Bind(one_, true);
  Bind(other_, false);
  Activate(one_, other_);
  Write(one_, 0, 10);
  Mark(one_);
  Write(other_, 10, 20);
  Replay(a_, built_);
  EXPECT_TRUE(conflicts_.empty());
  Read(a_, 0, 10);
  EXPECT_TRUE(conflicts_.empty());
  Read(a_, 10, 20);
  EXPECT_EQ(conflicts_.size(), 1u) << "the other stream was not joined";
  model_.Finish(model_.LastOf(a_));
  EXPECT_EQ(Passed(0, 10), 0);
  EXPECT_EQ(Passed(10, 20), 1);
  model_.FinishReplays(*built_);
  EXPECT_EQ(Passed(10, 20), 0);
}

TEST_F(ModelOfControl, StreamThatNobodyStartsDoesNothing) {
  Bind(one_, true);
  Bind(other_, false);
  Write(other_);
  Mark(one_);
  Replay(a_, built_);
  Write(b_);
  EXPECT_TRUE(conflicts_.empty());
}

TEST_F(ModelOfControl, WaysThatExcludeEachOtherNeverMeet) {
  Bind(one_, true);
  Bind(other_, false);
  Jump(one_, {&labels_[0], &labels_[1]});
  Label(one_, &labels_[0]);
  Activate(one_, other_);
  Jump(one_, {&labels_[2]});
  Label(one_, &labels_[1]);
  Write(one_);
  Label(one_, &labels_[2]);
  Mark(one_);
  Write(other_);
  for (int i = 0; i < 4; ++i) Replay(a_, built_);
  EXPECT_TRUE(conflicts_.empty());
}

TEST_F(ModelOfControl, EveryWayHasItsTurn) {
  Bind(one_, true);
  Bind(other_, false);
  Switch(one_, other_, 4);  // left is less
  Mark(one_);
  Write(other_);
  Mark(other_);
  for (int i = 0; i < 3; ++i) Replay(a_, built_);
  Write(b_);
  EXPECT_EQ(conflicts_.size(), 1u);
}

TEST_F(ModelOfControl, LoopWithoutAnEndIsLeft) {
  Bind(one_, true);
  Label(one_, &labels_[0]);
  Write(one_);
  Jump(one_, {&labels_[0]});
  Mark(one_);
  Replay(a_, built_);
  Read(a_);
  EXPECT_TRUE(conflicts_.empty());
  Read(b_);
  EXPECT_EQ(conflicts_.size(), 1u);
}

TEST_F(ModelOfControl, StreamsOfAModelWaitForEachOther) {
  const auto flag = std::make_shared<Flag>();
  Bind(one_, true);
  Bind(other_, true);
  WaitFlag(one_, flag, Effect::kTakeFlag);
  Read(one_);
  Mark(one_);
  Write(other_);
  Record(other_, flag);
  for (int i = 0; i < 3; ++i) Replay(a_, built_);
  EXPECT_TRUE(conflicts_.empty());
}

}  // namespace
}  // namespace ropeway::check
