// Gates: who passes, who is parked, who is released in which order.
#include "engine/gate.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

namespace ropeway {
namespace gate_test {

class Visitor final : public Gate::Waiter {
 public:
  explicit Visitor(std::vector<int>* order = nullptr, int number = 0) : order_(order), number_(number) {}
  void Opened() override {
    ++opened;
    if (order_ != nullptr) order_->push_back(number_);
    if (then) then();
  }
  std::atomic<int> opened{0};
  std::function<void()> then;

 private:
  std::vector<int>* order_;
  int number_;
};

TEST(GateTest, ABrokenGateHoldsNobodyUpAndTellsWhoMetNoOpening) {
  Gate gate(Gate::Mode::kAutoReset);
  Visitor in_time, first, second, later;
  gate.Open();
  EXPECT_TRUE(gate.PassOrPark(&in_time));
  EXPECT_FALSE(gate.PassOrPark(&first));
  EXPECT_FALSE(gate.PassOrPark(&second));
  gate.Break();
  EXPECT_EQ(first.opened, 1);
  EXPECT_EQ(second.opened, 1);
  EXPECT_TRUE(first.broke_through() && second.broke_through());
  EXPECT_FALSE(in_time.broke_through()) << "its opening was there before the gate broke";
  gate.Open();
  EXPECT_TRUE(gate.PassOrPark(&later));
  EXPECT_FALSE(later.broke_through()) << "an opening still counts";
  EXPECT_TRUE(gate.PassOrPark(&later));
  EXPECT_TRUE(later.broke_through()) << "once";
  gate.Renew();
  EXPECT_FALSE(gate.PassOrPark(&later));
  EXPECT_FALSE(later.broke_through());
  EXPECT_TRUE(gate.Unpark(&later));
}

class Follower final : public Gate::Waiter {
 public:
  explicit Follower(bool follows) { follows_ = follows; }
  void Opened() override { ++opened; }
  void Foretold() override { ++foretold; }
  int opened = 0, foretold = 0;
};

TEST(GateTest, AForetoldGateLetsThoseGoWhoFollowAndStaysClosed) {
  Gate gate;
  Follower others[] = {Follower(false), Follower(true), Follower(false), Follower(true)}, last(false);
  for (Follower& waiter : others) EXPECT_FALSE(gate.PassOrPark(&waiter));
  const auto point = std::make_shared<DevicePoint>();
  gate.Foretell(point);
  for (const Follower& waiter : others) EXPECT_EQ(waiter.opened, 0);
  EXPECT_EQ(others[0].foretold + others[2].foretold, 0);
  EXPECT_EQ(others[1].foretold * others[3].foretold, 1);
  EXPECT_FALSE(gate.open());
  EXPECT_EQ(gate.foretold(), point);
  EXPECT_FALSE(gate.PassOrPark(&last));
  gate.Open();
  EXPECT_EQ(others[0].opened + others[2].opened + last.opened, 3);
  EXPECT_EQ(others[1].opened + others[3].opened, 0);
  EXPECT_EQ(gate.foretold(), nullptr);
  gate.Foretell(point);
  EXPECT_EQ(gate.foretold(), nullptr) << "an open gate has nothing to foretell";
  EXPECT_EQ(point.use_count(), 1);
}

// Between its last look and its parking the gate was foretold: it would be the only one whom nobody tells.
TEST(GateTest, AFollowerThatComesBehindTheForetellingIsToldAtOnce) {
  Gate gate;
  Follower late(true);
  gate.Foretell(std::make_shared<DevicePoint>());
  EXPECT_FALSE(gate.PassOrPark(&late));
  EXPECT_EQ(late.foretold, 1);
  EXPECT_FALSE(gate.Unpark(&late));
  gate.Open();
  EXPECT_EQ(late.opened, 0);
}

TEST(GateTest, AStickyGateStaysOpenUntilItIsClosed) {
  Gate gate;
  Visitor visitor;
  EXPECT_FALSE(gate.open());
  gate.Open();
  EXPECT_TRUE(gate.open());
  EXPECT_TRUE(gate.PassOrPark(&visitor));
  EXPECT_TRUE(gate.PassOrPark(&visitor));
  gate.Close();
  EXPECT_FALSE(gate.open());
  EXPECT_FALSE(gate.PassOrPark(&visitor));
  EXPECT_TRUE(gate.Unpark(&visitor));
  EXPECT_EQ(visitor.opened, 0) << "passing is not being opened";
}

TEST(GateTest, OpeningAStickyGateReleasesAllInOrder) {
  std::vector<int> order;
  Gate gate;
  std::deque<Visitor> visitors;
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(gate.PassOrPark(&visitors.emplace_back(&order, i)));
  gate.Open();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  gate.Open();
  EXPECT_EQ(order.size(), 5u) << "nobody is released twice";
  EXPECT_FALSE(gate.Unpark(&visitors[0]));
}

TEST(GateTest, AnAutoResetGateLetsOnePassPerOpening) {
  Gate gate(Gate::Mode::kAutoReset);
  Visitor visitor;
  gate.Open();
  gate.Open();  // one bit: the second opening adds nothing
  EXPECT_TRUE(gate.open());
  EXPECT_TRUE(gate.PassOrPark(&visitor));
  EXPECT_FALSE(gate.open());
  EXPECT_FALSE(gate.PassOrPark(&visitor));
  EXPECT_TRUE(gate.Unpark(&visitor));
}

TEST(GateTest, AnAutoResetGateReleasesTheOldestAndStaysClosed) {
  std::vector<int> order;
  Gate gate(Gate::Mode::kAutoReset);
  std::deque<Visitor> visitors;
  for (int i = 0; i < 3; ++i) gate.PassOrPark(&visitors.emplace_back(&order, i));
  gate.Open();
  EXPECT_EQ(order, (std::vector<int>{0}));
  EXPECT_FALSE(gate.open());
  gate.Open();
  gate.Open();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2}));
  EXPECT_FALSE(gate.open()) << "each opening was used by somebody";
  gate.Open();
  EXPECT_TRUE(gate.open());
}

TEST(GateTest, UnparkTakesAnyOneOut) {
  for (int out = 0; out < 3; ++out) {
    std::vector<int> order;
    Gate gate;
    std::deque<Visitor> visitors;
    for (int i = 0; i < 3; ++i) gate.PassOrPark(&visitors.emplace_back(&order, i));
    EXPECT_TRUE(gate.Unpark(&visitors[static_cast<size_t>(out)]));
    EXPECT_FALSE(gate.Unpark(&visitors[static_cast<size_t>(out)]));
    Visitor last(&order, 3);
    gate.PassOrPark(&last);
    gate.Open();
    std::vector<int> expected{0, 1, 2, 3};
    expected.erase(expected.begin() + out);
    EXPECT_EQ(order, expected);
  }
}

TEST(GateTest, UnparkOfAStrangerIsFalse) {
  Gate gate, other;
  Visitor here, elsewhere;
  gate.PassOrPark(&here);
  other.PassOrPark(&elsewhere);
  EXPECT_FALSE(gate.Unpark(&elsewhere));
  EXPECT_TRUE(other.Unpark(&elsewhere));
  EXPECT_TRUE(gate.Unpark(&here));
}

TEST(GateTest, CloseKeepsTheParkedParked) {
  Gate gate;
  Visitor visitor;
  gate.PassOrPark(&visitor);
  gate.Close();
  EXPECT_EQ(visitor.opened, 0);
  gate.Open();
  EXPECT_EQ(visitor.opened, 1);
}

TEST(GateTest, AReleasedWaiterMayParkAgainAtOnce) {
  Gate gate(Gate::Mode::kAutoReset), next;
  std::deque<Visitor> visitors(3);
  for (Visitor& visitor : visitors) {
    visitor.then = [&] { next.PassOrPark(&visitor); };
    gate.PassOrPark(&visitor);
  }
  for (int i = 0; i < 3; ++i) gate.Open();
  for (Visitor& visitor : visitors) {
    EXPECT_EQ(visitor.opened, 1);
    EXPECT_TRUE(next.Unpark(&visitor));
  }
}

TEST(GateTest, ReleasedWaitersMayParkAtTheSameStickyGate) {
  Gate gate;
  std::deque<Visitor> visitors(3);
  for (Visitor& visitor : visitors) {
    visitor.then = [&] {
      gate.Close();
      if (visitor.opened == 1) EXPECT_FALSE(gate.PassOrPark(&visitor));
    };
    gate.PassOrPark(&visitor);
  }
  gate.Open();
  for (Visitor& visitor : visitors) EXPECT_EQ(visitor.opened, 1);
  gate.Open();
  for (Visitor& visitor : visitors) EXPECT_EQ(visitor.opened, 2);
}

// Whatever the interleaving: parked means opened once or unparked once, and never both.
TEST(GateTest, ThreadsThatOpenParkAndUnparkAgree) {
  constexpr int kRounds = 1000;
  for (Gate::Mode mode : {Gate::Mode::kSticky, Gate::Mode::kAutoReset}) {
    Gate gate(mode);
    std::atomic<bool> stop{false};
    std::thread opener([&] {
      while (!stop) {
        gate.Open();
        gate.Close();
      }
    });
    auto visit = [&] {
      Visitor visitor;
      int expected = 0, wrong = 0;
      for (int round = 0; round < kRounds; ++round) {
        if (gate.PassOrPark(&visitor)) continue;
        if (round % 2 == 0 && gate.Unpark(&visitor)) {
          wrong += visitor.opened != expected;
          continue;
        }
        ++expected;
        while (visitor.opened < expected) std::this_thread::yield();
        wrong += visitor.opened != expected;
      }
      EXPECT_EQ(wrong, 0);
    };
    std::thread first(visit), second(visit);
    first.join();
    second.join();
    stop = true;
    opener.join();
  }
}

}  // namespace gate_test
}  // namespace ropeway
