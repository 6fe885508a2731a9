// Work between ranks as one item of a stream: starts when the stream comes to it, ends it well or badly, and ends by
// itself when its time is over. Captured into a graph, it is a pattern: every replay has one made after it, with numbers of its own, in the
// order in which replays are submitted. Everything but Launch, Capture and Again happens on the I/O thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "acl/acl_base.h"
#include "hccl/membership/communicator.h"
#include "hccl/transport/io_thread.h"
#include "hccl/transport/waiter_looks.h"
#include "ropeway/ropeway.h"

namespace ropeway::comm {

class StreamOp : public std::enable_shared_from_this<StreamOp> {
 public:
  explicit StreamOp(std::shared_ptr<Communicator> communicator) : communicator_(std::move(communicator)) {}
  virtual ~StreamOp() = default;
  // Queues it, once. The runtime's own code when it does not take it.
  aclError Launch(void* stream);
  // Stores it as a pattern, once, in a stream that is being captured.
  aclError Capture(void* stream);

 protected:
  // Another one after this pattern, ready to be launched. Its numbers are taken, whether it will ever start or not.
  virtual std::shared_ptr<StreamOp> Again() = 0;
  // Of what Again gives: it fails when it comes to start, and tells its peers. For memory that was freed since.
  void SetUnfit(const std::string& why) { unfit_ = why; }
  // The stream is here.
  virtual void Started() = 0;
  // Whether that is short and asks nothing of the runtime: then any thread may stand in for the I/O thread.
  virtual bool StartsAnywhere() const { return false; }
  // Whether its end comes over a socket, and soon: then those who wait for the stream look for it.
  virtual bool ExpectsNews() const { return false; }
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
  Communicator& communicator() const { return *communicator_; }

 private:
  static void* OnRepeat(void* pattern);
  static void OnForget(void* pattern);
  static void OnStart(void* argument, ropewayOperation operation);
  static void OnDrop(void* argument, int32_t started);
  void Start(ropewayOperation operation);
  void Tell();
  void Drop();
  void TimeOut();

  const std::shared_ptr<Communicator> communicator_;
  uint64_t number_ = 0;
  std::string unfit_;
  ropewayOperation operation_ = nullptr;  // from the start to the finish
  IoThread::Timer timer_;
  bool finished_ = false;
  NewsExpected news_;
};

// Whether work for this stream goes into a graph.
bool IsCaptured(void* stream);

}  // namespace ropeway::comm
