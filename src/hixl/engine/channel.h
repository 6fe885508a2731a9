// The control connection to another engine, seen from who connects: questions and their answers. Any thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/status.h"
#include "hccl/transport/handshake.h"
#include "hccl/transport/rank_connection.h"
#include "hixl/engine/engine_name.h"

namespace ropeway::transfer {

// Calls an engine's door on the I/O thread; `done` is called there once. Hold what it returns until then.
std::shared_ptr<comm::Caller> CallDoor(const EngineName& remote, const std::string& secret, comm::Purpose purpose, uint32_t link,
                                       comm::Caller::Done done);

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  struct Events {  // on the I/O thread
    std::function<void(uint64_t region)> gone;
    std::function<void(const std::string& why)> closed;  // not after Close
  };
  // Waits for the connection: TIMEOUT, or FAILED.
  static Result<std::shared_ptr<Channel>> Open(const EngineName& remote, const std::string& secret, Events events, Deadline deadline);

  // The body of the answer. TIMEOUT, or FAILED when the connection ends first.
  Result<std::string> Ask(uint16_t type, std::string body, Deadline deadline);
  void Close();

 private:
  struct Answer;
  using AnswerRef = std::shared_ptr<Answer>;
  explicit Channel(Events events) : events_(std::move(events)) {}

  // All below belongs to the I/O thread.
  void Enter(comm::SecureSocket fd);
  void Received(const comm::Frame& frame);
  void Ended(const std::string& why);

  Events events_;
  std::shared_ptr<comm::Caller> caller_;
  std::shared_ptr<comm::Connection> connection_;
  std::string end_;  // why there is none any more
  std::map<uint64_t, AnswerRef> asked_;
  uint64_t last_ = 0;
};

}  // namespace ropeway::transfer
