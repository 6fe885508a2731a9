// Frames with bytes behind them, among others that have none, over a connection whose other end is one, too.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "hccl/transport/io_thread.h"
#include "hccl/transport/rank_connection.h"
#include "hccl/transport/wire.h"
#include "tests/hccl/link_hosts.h"

namespace connection_test {

using namespace ropeway;
using namespace ropeway::comm;

// Runs `function` on the I/O thread, to its end.
void OnThread(const std::function<void()>& function) {
  std::promise<void> over;
  IoThread::Get().Post([&] {
    function();
    over.set_value();
  });
  over.get_future().wait();
}

class ConnectionTest : public ::testing::Test {
 protected:
  static constexpr uint16_t kLast = 99;

  void SetUp() override {
    auto ends = link_hosts::NewConnection();
    OnThread([&] {
      here_ = Connection::Open(std::move(ends.first), {});
      there_ = Connection::Open(std::move(ends.second), Receiver());
    });
  }
  void TearDown() override {
    here_->Abort();
    there_->Abort();
    OnThread([] {});  // what ends with them
  }
  Connection::Events Receiver() {
    Connection::Events events;
    events.received = [this](Frame frame) {
      if (frame.type == kLast) return heard_all_.set_value();
      heard_.push_back("frame " + frame.body);
    };
    events.bulk_begins = [this](const Frame&, uint64_t size) {
      bytes_.assign(size, '\0');
      came_ = 0;
      Bulk bulk(bytes_.data(), size, std::make_shared<Lease>());
      // As many as it says are there, each time.
      bulk.came = [this](uint64_t there) {
        EXPECT_GE(there, came_);
        EXPECT_EQ(std::string_view(bytes_).substr(0, there).find('\0'), std::string_view::npos);
        came_ = there;
      };
      return bulk;
    };
    events.bulk_ended = [this](const Frame& frame, uint64_t size, bool) {
      EXPECT_EQ(came_, size);
      heard_.push_back("bulk " + frame.body + " " + bytes_);
    };
    return events;
  }
  static Frame FrameOf(const std::string& body) { return {1, 0, body}; }
  std::vector<std::string> Heard() {
    OnThread([&] { here_->Send({kLast, 0, ""}); });
    heard_all_.get_future().wait();
    return heard_;
  }

  std::shared_ptr<Connection> here_, there_;
  std::string bytes_;
  uint64_t came_ = 0;
  std::vector<std::string> heard_;
  std::promise<void> heard_all_;
};

TEST_F(ConnectionTest, BytesGoInOrderWithOtherFrames) {
  std::string first = "first", second = "second";
  int gone = 0;
  OnThread([&] {
    here_->Send(FrameOf("a"));
    EXPECT_TRUE(here_->SendWithBulk(FrameOf("b"), Bulk(first.data(), first.size(), std::make_shared<Lease>()), [&] { ++gone; }));
    here_->Send(FrameOf("c"));
    here_->Send(FrameOf("d"));
    EXPECT_TRUE(here_->SendWithBulk(FrameOf("e"), Bulk(second.data(), second.size(), std::make_shared<Lease>()), [&] { ++gone; }));
  });
  EXPECT_EQ(Heard(), (std::vector<std::string>{"frame a", "bulk b first", "frame c", "frame d", "bulk e second"}));
  EXPECT_EQ(gone, 2);
}

// What was to go with it goes alone, and nobody is told that bytes went.
TEST_F(ConnectionTest, BytesThatWereTakenBackTakeNoOtherFrameAlong) {
  std::string bytes = "bytes";
  const auto lease = std::make_shared<Lease>();
  lease->Close();
  bool gone = false;
  OnThread([&] {
    EXPECT_FALSE(here_->SendWithBulk(FrameOf("never"), Bulk(bytes.data(), bytes.size(), lease), [&] { gone = true; }));
    here_->Send(FrameOf("a"));
    here_->Send(FrameOf("b"));
    EXPECT_FALSE(here_->SendWithBulk(FrameOf("never"), Bulk(bytes.data(), bytes.size(), lease), [&] { gone = true; }));
    here_->Send(FrameOf("c"));
  });
  EXPECT_EQ(Heard(), (std::vector<std::string>{"frame a", "frame b", "frame c"}));
  EXPECT_FALSE(gone);
}

// A reader that is woken for more than a byte is woken for the last ones of them all the same, and for what comes behind.
TEST_F(ConnectionTest, BytesMayComeInAnyParts) {
  auto ends = link_hosts::NewConnection();
  std::shared_ptr<Connection> reader;
  OnThread([&] { reader = Connection::Open(std::move(ends.first), Receiver()); });
  const std::string bytes(400'000, 'x'),
      behind = Writer().Number(uint32_t{1}).Number(uint16_t{1}).Number(uint16_t{0}).Number(uint64_t{0}).Number(uint64_t{0}).Raw("c").Take();
  const std::string last = Writer().Number(uint32_t{0}).Number(kLast).Number(uint16_t{0}).Number(uint64_t{0}).Number(uint64_t{0}).Take();
  const std::string all = Writer()
                              .Number(uint32_t{1})
                              .Number(uint16_t{1})
                              .Number(uint16_t{0})
                              .Number(uint64_t{0})
                              .Number(uint64_t{bytes.size()})
                              .Raw("b")
                              .Raw(bytes)
                              .Raw(behind)
                              .Take();
  const auto write = [&](std::string_view part) {
    for (size_t at = 0; at < part.size();) {
      const long sent = send(ends.second.get(), part.data() + at, part.size() - at, MSG_NOSIGNAL);
      if (sent > 0) at += static_cast<size_t>(sent);
      std::this_thread::yield();
    }
  };
  for (size_t at = 0; at < all.size(); at += 3000) write(std::string_view(all).substr(at, 3000));
  write(last);
  heard_all_.get_future().wait();
  EXPECT_EQ(heard_, (std::vector<std::string>{"bulk b " + bytes, "frame c"}));
  reader->Abort();
  OnThread([] {});
}

// The thread finds the end among its events before it comes to what was posted.
TEST_F(ConnectionTest, WhatAVisitorHasLeftComesBeforeTheEnd) {
  auto ends = link_hosts::NewConnection();
  std::shared_ptr<Connection> writer, reader;
  OnThread([&] {
    writer = Connection::Open(std::move(ends.second), {});
    writer->Send(FrameOf("a"));
    writer->Send(FrameOf("b"));
    writer->Close();
  });
  pollfd ended{ends.first.get(), POLLRDHUP, 0};
  ASSERT_EQ(poll(&ended, 1, 20'000), 1);
  IoThread& io = IoThread::Get();
  std::promise<void> closed;
  Connection::Events events;
  events.received = [&](const Frame& frame) {
    const auto hear = [&, body = frame.body] { heard_.push_back(body); };
    io.IsVisited() ? io.LeaveToThread(hear) : hear();
  };
  events.closed = [&](bool, const std::string&) {
    heard_.push_back("end");
    closed.set_value();
  };
  events.by_visitors = true;
  const auto visit = [&] {
    reader = Connection::Open(std::move(ends.first), std::move(events));
    reader->Look();
  };
  while (!io.Try(visit)) std::this_thread::yield();
  closed.get_future().wait();
  EXPECT_EQ(heard_, (std::vector<std::string>{"a", "b", "end"}));
}

// More than the socket takes: the rest is copied when the memory is taken back in the middle, and what follows is whole.
TEST_F(ConnectionTest, BytesThatAreTakenBackOnTheirWayAreAllThere) {
  std::string bytes(8 << 20, 'x');
  const auto lease = std::make_shared<Lease>();
  OnThread([&] {
    EXPECT_TRUE(here_->SendWithBulk(FrameOf("b"), Bulk(bytes.data(), bytes.size(), lease), nullptr));
    lease->Close();
    bytes.assign(bytes.size(), 'y');
    here_->Send(FrameOf("c"));
  });
  EXPECT_EQ(Heard(), (std::vector<std::string>{"bulk b " + std::string(bytes.size(), 'x'), "frame c"}));
}

}  // namespace connection_test
