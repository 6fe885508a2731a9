// A rank's end of the lifeline: joins a communicator at the root's service, meets the others at barriers, hears who has
// gone, and says good-bye. Everything here belongs to the I/O thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hccl/membership/communicator.h"
#include "hccl/transport/handshake.h"
#include "hccl/transport/rank_connection.h"

namespace ropeway::comm {

class Membership : public std::enable_shared_from_this<Membership> {
 public:
  struct Terms {
    std::vector<Address> roots;  // of one root: called in turn, until one answers
    std::string communicator;
    std::string secret;
    uint32_t rank = 0;
    uint32_t size = 0;
  };
  struct Events {
    // The ranks are known. When this returns, the rank answers its peers; or why it will not.
    std::function<std::string(const std::string& session, std::vector<PeerInfo>)> gathered;
    // Once: everybody is ready, or why it came to nothing. Not after Leave.
    std::function<void(HcclResult, const std::string& why)> joined;
    // `why` as in Service::peer_ended.
    std::function<void(uint32_t rank, HcclResult why)> gone;
    // The service can say nothing any more; `root_process`: the ranks there are gone, too.
    std::function<void(uint64_t root_process, HcclResult why)> root_lost;
  };
  using Met = std::function<void(HcclResult, const std::string& why)>;

  Membership(Terms terms, Events events) : terms_(std::move(terms)), events_(std::move(events)) {}
  // Tries until the deadline: the root may not be there yet.
  void Join(const PeerInfo& self, Deadline deadline);
  // Meets all ranks at barrier `number`. The ranks count their barriers alike.
  void Arrive(uint64_t number, Met met);
  void Cancel(uint64_t number);
  // `done` is called when the others have been told, or cannot be.
  void Leave(std::function<void()> done);

 private:
  void TimeOut();
  void TakeMissing(const Frame& frame);
  void Call();
  void Answered(SecureSocket fd, Verdict verdict, const std::string& why);
  void Received(const Frame& frame);
  void TakeTable(const Frame& frame);
  void RankGone(uint32_t rank, HcclResult why);
  void Lost(bool clean, const std::string& why);
  void Finish(HcclResult result, const std::string& why);
  void EndBarriers(HcclResult result, const std::string& why);
  void EndBarrier(uint64_t number, HcclResult result, const std::string& why);

  const Terms terms_;
  Events events_;
  std::string join_body_;
  std::string last_failure_ = "no answer";
  std::string missing_;  // what the root said of the ranks that have not come
  bool timed_out_ = false;
  IoThread::Timer deadline_;
  IoThread::Timer retry_;
  std::chrono::milliseconds pause_{2};
  size_t calls_ = 0;
  std::shared_ptr<Caller> caller_;
  std::shared_ptr<Connection> connection_;
  uint64_t root_process_ = 0;
  std::map<uint64_t, Met> barriers_;
  bool somebody_gone_ = false;
  std::function<void()> left_;
};

}  // namespace ropeway::comm
