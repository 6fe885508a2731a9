// Work between ranks as one item of a stream: starts when the stream comes to it, ends it well or badly, and ends by
// itself when its time is over. Everything but Launch happens on the I/O thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "acl/acl_base.h"
#include "hccl/membership/communicator.h"
#include "hccl/transport/io_thread.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {

class StreamOp : public std::enable_shared_from_this<StreamOp> {
 public:
  explicit StreamOp(std::shared_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {}
  virtual ~StreamOp() = default;
  // Queues it, once. The runtime's own code when it does not take it.
  aclError Launch(void* stream);

 protected:
  // The stream is here.
  virtual void Started() = 0;
  // The stream waits no longer, or the time is over: what was begun must end, without a word to anybody but the peers.
  // Started may not have been called.
  virtual void Dropped() = 0;
  // On whatever thread gives the stream up, before its memory can be freed: nothing may touch the buffers afterwards.
  virtual void Revoked() {}
  // Ends it; only the first call counts. A failure fails the stream and becomes the communicator's asynchronous error.
  void Finish(HcclResult result, const std::string& why);
  // What it carries, as far as it is known: asked at the start and at the end.
  virtual ropewayTransfer Description() const { return {ROPEWAY_LINK_NONE, ROPEWAY_ALL_RANKS, 0, 1}; }
  // From the start on: a part of it, under the number that its other end tells, too.
  void TellMessage(uint64_t message, bool sends) { ropewayTellMessage(operation_, message, sends ? 1 : 0); }
  Communicator& communicator() { return *communicator_; }

 private:
  static void OnStart(void* argument, ropewayOperation operation);
  static void OnDrop(void* argument, int32_t started);
  void Start(ropewayOperation operation);
  void Tell();
  void Drop();
  void TimeOut();

  const std::shared_ptr<Communicator> communicator_;
  uint64_t number_ = 0;
  ropewayOperation operation_ = nullptr;  // from the start to the finish
  IoThread::Timer timer_ = 0;
  bool finished_ = false;
};

}  // namespace ropeway::comm
