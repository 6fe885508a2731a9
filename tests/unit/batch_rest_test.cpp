// Batches that are handed over before they are whole: whoever comes first collects the rest, and nobody looks at half of it.
#include "engine/batch_rest.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/batch.h"

namespace ropeway::batch_rest_test {

constexpr size_t kSteps = 3;
char g_bytes[4096];

// Adds one piece a step.
class CountedRest final : public BatchRest {
 public:
  explicit CountedRest(Batch& batch) : batch_(batch) {}
  size_t steps() const { return steps_; }

 private:
  bool Collect() noexcept override {
    batch_.Add(g_bytes + 100 + 10 * steps_, g_bytes + 2000 + 10 * steps_, 10);
    return ++steps_ < kSteps;
  }
  Batch& batch_;
  size_t steps_ = 0;
};

struct Scene {
  Scene() {
    batch->Add(g_bytes + 90, g_bytes + 1990, 10);
    rest = std::make_shared<CountedRest>(*batch);
    batch->SetRest(rest);
  }
  std::unique_ptr<Batch> batch = std::make_unique<Batch>(1 + kSteps);
  std::shared_ptr<CountedRest> rest;
};

TEST(BatchRest, RunnerGetsThePiecesStepByStep) {
  Scene scene;
  Batch& batch = *scene.batch;
  batch.Begin();
  EXPECT_EQ(batch.ExpectedBytes(), 40u);
  for (size_t pieces = 1; pieces <= kSteps; ++pieces) {
    EXPECT_EQ(batch.pieces().size(), pieces) << "neighbours of pieces that may have been started are not merged with them";
    EXPECT_TRUE(batch.More());
  }
  EXPECT_EQ(batch.pieces().size(), 1 + kSteps);
  EXPECT_FALSE(batch.More());
  scene.rest->Complete();
  EXPECT_EQ(scene.rest->steps(), kSteps);
}

TEST(BatchRest, SubmitterCompletesWhatNobodyRuns) {
  Scene scene;
  scene.rest->Complete();
  scene.batch->Begin();
  EXPECT_FALSE(scene.batch->More());
  EXPECT_EQ(scene.batch->bytes(), 40u);
  EXPECT_EQ(scene.batch->ExpectedBytes(), 40u);
}

TEST(BatchRest, DroppedBatchIsNotCollected) {
  Scene scene;
  scene.batch.reset();
  scene.rest->Complete();
  EXPECT_EQ(scene.rest->steps(), 0u);
}

TEST(BatchRest, BatchThatIsLeftHalfWayKeepsNobodyWaiting) {
  Scene scene;
  scene.batch->Begin();
  EXPECT_TRUE(scene.batch->More());
  scene.batch.reset();
  scene.rest->Complete();
}

TEST(BatchRest, BatchWithoutOneHasNoMore) {
  Batch batch(4);
  batch.Add(g_bytes, g_bytes + 100, 10);
  batch.Begin();
  EXPECT_FALSE(batch.More());
  EXPECT_EQ(batch.ExpectedBytes(), 10u);
}

// The runner, or whoever drops the batch, beside the submitter.
TEST(BatchRest, TwoThreadsAgreeWhoCollects) {
  for (int round = 0; round < 300; ++round) {
    Scene scene;
    size_t bytes = 0;
    std::thread runner([&, batch = std::move(scene.batch)]() mutable {
      if (round % 3 == 0) return batch.reset();
      batch->Begin();
      while (batch->More()) {
      }
      bytes = batch->bytes();
      batch.reset();
    });
    scene.rest->Complete();
    runner.join();
    EXPECT_EQ(bytes, round % 3 == 0 ? 0u : 40u);
  }
}

}  // namespace ropeway::batch_rest_test
