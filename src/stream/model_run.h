// One execution of a model built by hand (rules/models.md 3). To the executing stream it is an operation: the stream starts it and waits
// for its end. The tasks run as a replay on a hidden stream, because those that the mark does not wait for go on behind it.
#pragma once

#include <atomic>
#include <memory>

#include "engine/lasting_gate.h"
#include "engine/task_graph.h"
#include "stream/operation.h"
#include "stream/stream.h"

namespace ropeway {

class ModelRun final : public Operation {
 public:
  // Queues the replay on a stream that has nothing else to do; it then waits for the executing stream. What it owns has gone with it, also
  // when this fails.
  Status QueueReplay(Stream& hidden, const FailureScope* scope, Task replay, uint64_t* sequence);
  // The executing stream, once it is queued there.
  void set_executing(const Stream* stream) { executing_.store(stream, std::memory_order_release); }
  // It will not be queued there.
  void Cancel();

  bool started() const { return started_.load(std::memory_order_acquire); }
  // Nobody waits for it any more, although it runs.
  bool abandoned_by(const Stream& stream) const {
    return abandoned_.load(std::memory_order_acquire) && executing_.load(std::memory_order_acquire) == &stream;
  }

 private:
  void Start() override;
  void Abandoned(bool started) override;

  // Where the replay waits for the executing stream.
  class Entrance final : public Marker {
   public:
    explicit Entrance(ModelRun& run) : run_(run) {}
    void Reached() override { const auto self = std::move(run_.held_by_entrance_); }
    void Dropped() override { Reached(); }
    int Failed(bool gate_broke, TaskFailure* failure) const override;

   private:
    ModelRun& run_;
  };
  // The mark, or that it was dropped.
  class Mark final : public Marker {
   public:
    explicit Mark(ModelRun& run) : run_(run) {}
    void Reached() override;
    void Dropped() override;

   private:
    ModelRun& run_;
  };

  Stream* hidden_ = nullptr;
  LastingGate start_;
  Entrance entrance_{*this};
  Mark mark_{*this};
  std::shared_ptr<Operation> held_by_entrance_;
  std::shared_ptr<Operation> held_by_replay_;
  std::atomic<const Stream*> executing_{nullptr};
  std::atomic<bool> started_{false};
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> cancelled_{false};
};

}  // namespace ropeway
