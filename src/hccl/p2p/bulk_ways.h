// Bytes of large messages where the network link cannot be had: over a TCP connection of their own per direction, so that
// control messages never wait behind them. Made by the sender on first use. Everything here belongs to the I/O thread.
#pragma once

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

class BulkWays : public std::enable_shared_from_this<BulkWays> {
 public:
  struct Events {
    // Where the bytes of message `number` of `peer` go; null when nobody waits for them.
    std::function<std::shared_ptr<Window>(uint32_t peer, uint64_t number, uint64_t bytes)> begins;
    std::function<void(uint32_t peer, uint64_t number)> ended;
    std::function<void(uint32_t peer, bool sending, const std::string& why)> broke;
  };
  BulkWays(std::weak_ptr<Communicator> communicator, Events events) : communicator_(std::move(communicator)), events_(std::move(events)) {}
  ~BulkWays();

  void Send(uint32_t peer, uint64_t number, std::shared_ptr<Window> window, uint64_t bytes);
  void Enter(uint32_t peer, FileDescriptor fd);

 private:
  struct Message {
    uint64_t number;
    std::shared_ptr<Window> window;
    uint64_t bytes;
  };
  struct Out {
    std::shared_ptr<Caller> caller;
    std::shared_ptr<Connection> connection;
    std::vector<Message> waiting;
  };
  void Call(uint32_t peer);
  void Answered(uint32_t peer, FileDescriptor fd, const std::string& why);

  const std::weak_ptr<Communicator> communicator_;
  const Events events_;
  std::map<uint32_t, Out> out_;
  std::map<uint32_t, std::shared_ptr<Connection>> in_;
};

}  // namespace ropeway::comm
