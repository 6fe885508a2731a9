// Exhaustive checks of the lock-free protocols on small models (tests/model): every interleaving of a few threads. Each
// protocol also has mutants, one forgotten step each, which the checker must catch: a checker that cannot fail is none.
#include <gtest/gtest.h>

#include "model/checker.h"
#include "model/memory_models.h"
#include "model/queue_model.h"
#include "model/replay_model.h"
#include "model/sleep_models.h"
#include "model/volley_model.h"

namespace ropeway_model {
namespace model_test {

template <typename Model>
void ExpectHolds(const Model& model) {
  const Verdict verdict = Check(model, typename Model::State());
  EXPECT_EQ(verdict.broken, "") << verdict.Explain();
  EXPECT_GT(verdict.states, 20u) << "the model hardly did anything";
  EXPECT_GT(verdict.at_rest, 0u) << "the model never comes to rest";
}

template <typename Model>
void ExpectCaught(const Model& mutant) {
  const Verdict verdict = Check(mutant, typename Model::State());
  EXPECT_NE(verdict.broken, "") << "a forgotten step went unnoticed in " << verdict.states << " states";
  EXPECT_FALSE(verdict.schedule.empty());
}

// --- The state word of a queue ------------------------------------------------------------------------------------------

TEST(QueueModelTest, EveryTaskRunsOnceUnderOneOwner) { ExpectHolds(QueueModel()); }

TEST(QueueModelTest, AlsoWithoutHelpAndInlineRuns) {
  QueueModel model;
  model.helper = false;
  model.inline_runs = false;
  ExpectHolds(model);
}

TEST(QueueModelTest, AGateThatOpensAtAnyMomentResumesTheQueue) {
  for (int task = 0; task < 2; ++task) {
    QueueModel model;
    model.opener = true;
    model.gate_task = task;
    ExpectHolds(model);
  }
}

TEST(QueueModelTest, AnAbortAtAnyMomentEndsAndLosesNothing) {
  for (int task = -1; task < 2; ++task) {
    QueueModel model;
    model.tasks = 2;
    model.aborter = true;
    model.gate_task = task;
    ExpectHolds(model);
  }
}

TEST(QueueModelTest, AnAbortAgainstAGateThatOpens) {
  for (int task = 0; task < 2; ++task) {
    QueueModel model;
    model.tasks = 2;
    model.aborter = true;
    model.opener = true;
    model.gate_task = task;
    ExpectHolds(model);
  }
}

TEST(QueueModelTest, MutantWithoutTheSecondLookLosesWork) {
  QueueModel mutant;
  mutant.helper = false;
  mutant.second_look = false;
  ExpectCaught(mutant);
}

TEST(QueueModelTest, MutantThatLooksBeforeItPublishesLosesWork) {
  QueueModel mutant;
  mutant.publish_before_look = false;
  ExpectCaught(mutant);
}

TEST(QueueModelTest, MutantThatTakesOwnershipByAStoreHasTwoOwners) {
  QueueModel mutant;
  mutant.own_by_swap = false;
  ExpectCaught(mutant);
}

TEST(QueueModelTest, MutantThatUnlinksBehindItsLookLosesWork) {
  QueueModel mutant;
  mutant.unlink_before_look = false;
  ExpectCaught(mutant);
}

TEST(QueueModelTest, MutantThatRestartsTheRingWheneverTheQueueIsIdle) {
  QueueModel mutant;
  mutant.helper = false;
  mutant.restart_when_complete = false;
  ExpectCaught(mutant);
}

// --- How lanes fall asleep ----------------------------------------------------------------------------------------------

TEST(LanesModelTest, NoWakeUpIsLost) { ExpectHolds(LanesModel()); }

TEST(LanesModelTest, AlsoWithThreeLanes) {
  LanesModel model;
  model.lanes = 3;
  model.pushers = 1;
  ExpectHolds(model);
}

TEST(LanesModelTest, QueuesThatLanesMakeReadyAreNotForgotten) {
  LanesModel model;
  model.pushers = 1;
  model.makes = 1;
  ExpectHolds(model);
}

TEST(LanesModelTest, ACallForHelpDoesNotSwallowAWakeUp) {
  LanesModel model;
  model.pushers = 1;
  model.help_caller = true;
  ExpectHolds(model);
}

TEST(LanesModelTest, MutantThatDoesNotLookWhenItStopsToLinger) {
  LanesModel mutant;
  mutant.look_behind_linger = false;
  ExpectCaught(mutant);
}

TEST(LanesModelTest, MutantThatLooksBeforeItCountsAsAsleep) {
  LanesModel mutant;
  mutant.look_behind_asleep = false;
  ExpectCaught(mutant);
}

TEST(LanesModelTest, MutantThatLooksAtItsOwnListOnly) {
  LanesModel mutant;
  mutant.look_at_all_lists = false;
  ExpectCaught(mutant);
}

TEST(LanesModelTest, MutantThatLeavesTheClaimOfACallBehind) {
  LanesModel mutant;
  mutant.clear_coming_first = false;
  ExpectCaught(mutant);
}

TEST(LanesModelTest, MutantThatCallsOnceAndFindsNobody) {
  LanesModel mutant;
  mutant.help_caller = true;
  mutant.ask_again = false;
  ExpectCaught(mutant);
}

TEST(LanesModelTest, MutantThatStaysUpAndMissesItsCall) {
  LanesModel mutant;
  mutant.wait_for_the_call = false;
  ExpectCaught(mutant);
}

TEST(LanesModelTest, MutantPusherThatTrustsABusyLane) {
  LanesModel mutant;
  mutant.call_where_nobody_lingers = false;
  ExpectCaught(mutant);
}

// --- How waiters fall asleep --------------------------------------------------------------------------------------------

TEST(WaitersModelTest, NoWaiterSleepsForWhatIsDone) { ExpectHolds(WaitersModel()); }

TEST(WaitersModelTest, AlsoWhenTheLastTaskNeverComes) {
  WaitersModel model;
  model.owner_completes = 2;
  ExpectHolds(model);
}

TEST(WaitersModelTest, AlsoWithAnAbort) {
  WaitersModel model;
  model.aborter = true;
  ExpectHolds(model);
}

TEST(WaitersModelTest, MutantThatReadsProgressLast) {
  WaitersModel mutant;
  mutant.read_progress_first = false;
  ExpectCaught(mutant);
}

TEST(WaitersModelTest, MutantThatLooksBeforeItRegisters) {
  WaitersModel mutant;
  mutant.register_before_look = false;
  ExpectCaught(mutant);
}

TEST(WaitersModelTest, MutantOwnerThatLooksBeforeItCompletes) {
  WaitersModel mutant;
  mutant.complete_before_look = false;
  ExpectCaught(mutant);
}

// --- How a replay goes idle ---------------------------------------------------------------------------------------------

TEST(ReplayModelTest, NoBranchThatComesBackIsForgotten) { ExpectHolds(ReplayModel()); }

TEST(ReplayModelTest, AnAbortThatTakesTheBlockedQueueIsItsOnlyOwner) {
  for (int hasty = 0; hasty < 2; ++hasty) {
    ReplayModel model;
    model.aborter = true;
    model.waits_of[hasty] = 1;
    ExpectHolds(model);
  }
}

TEST(ReplayModelTest, MutantThatLooksBeforeItIsIdle) {
  ReplayModel mutant;
  mutant.idle_before_look = false;
  ExpectCaught(mutant);
}

TEST(ReplayModelTest, MutantWakerThatTellsLast) {
  ReplayModel mutant;
  mutant.woken_before_idle = false;
  ExpectCaught(mutant);
}

TEST(ReplayModelTest, MutantThatClaimsByALoadAndAStoreHasTwoOwners) {
  ReplayModel mutant;
  mutant.claim_by_exchange = false;
  ExpectCaught(mutant);
}

TEST(ReplayModelTest, MutantThatGoesOnWithItsNewsUnasked) {
  ReplayModel mutant;
  mutant.claim_for_news = false;
  ExpectCaught(mutant);
}

TEST(ReplayModelTest, MutantThatLooksAtOneBranchOnly) {
  ReplayModel mutant;
  mutant.look_at_all = false;
  ExpectCaught(mutant);
}

// --- Smaller ones -------------------------------------------------------------------------------------------------------

TEST(RegistrationsModelTest, AReaderNeverMissesAndNeverLeavesItsArray) { ExpectHolds(RegistrationsModel()); }

TEST(RegistrationsModelTest, MutantThatEmptiesTheSetWhileItGrows) {
  RegistrationsModel mutant;
  mutant.zero_count = true;
  ExpectCaught(mutant);
}

TEST(RegistrationsModelTest, MutantThatReadsTheArrayBeforeItsLength) {
  RegistrationsModel mutant;
  mutant.count_before_array = false;
  ExpectCaught(mutant);
}

TEST(AbortMarkModelTest, AbortsThatMeetDropWhatEachOfThemSaw) { ExpectHolds(AbortMarkModel()); }

TEST(AbortMarkModelTest, MutantThatStoresASmallerMark) {
  AbortMarkModel mutant;
  mutant.keep_the_larger = false;
  ExpectCaught(mutant);
}

TEST(OperationsModelTest, NobodyUsesWhatIsFreed) { ExpectHolds(OperationsModel()); }

TEST(OperationsModelTest, MutantThatLooksUpBeforeItSaysThatItRuns) {
  OperationsModel mutant;
  mutant.announce_first = false;
  ExpectCaught(mutant);
}

TEST(OperationsModelTest, MutantThatLeavesBeforeItIsDone) {
  OperationsModel mutant;
  mutant.leave_behind_use = false;
  ExpectCaught(mutant);
}

TEST(OperationsModelTest, MutantThatMovesTheEpochWithoutALook) {
  OperationsModel mutant;
  mutant.look_before_move = false;
  ExpectCaught(mutant);
}

TEST(OperationsModelTest, MutantThatMovesAnEpochThatItDidNotLookAt) {
  OperationsModel mutant;
  mutant.move_from_what_was_seen = false;
  ExpectCaught(mutant);
}

TEST(OperationsModelTest, MutantThatIsContentWithOneMove) {
  OperationsModel mutant;
  mutant.moves = 1;
  ExpectCaught(mutant);
}

// --- Volleys and waits for values ---------------------------------------------------------------------------------------

TEST(VolleyModelTest, AWaiterGoesOnBehindTheWholeVolley) { ExpectHolds(VolleyModel()); }

TEST(VolleyModelTest, MutantThatLooksWhileOneIsOpen) {
  VolleyModel mutant;
  mutant.asks_whether_open = false;
  ExpectCaught(mutant);
}

TEST(VolleyModelTest, MutantThatAsksBeforeItLooks) {
  VolleyModel mutant;
  mutant.asks_behind_the_look = false;
  ExpectCaught(mutant);
}

TEST(VolleyModelTest, MutantThatTellsNobodyOfAVolleyThatWasRefused) {
  VolleyModel mutant;
  mutant.announces_every_close = false;
  ExpectCaught(mutant);
}

}  // namespace model_test
}  // namespace ropeway_model
