// What this library tells a trace of the runtime: which call of the program it is inside of, whom it waits for, what it carries. Without a
// trace each is a call that does nothing.
#pragma once

#include <cstdint>

#include "ropeway/ropeway.h"

namespace ropeway::comm {

// What the runtime is asked for meanwhile is `call`'s doing, which the program made at `caller`.
class InsideCall {
 public:
  InsideCall(const char* call, const void* caller) : told_(ropewayIsTraced() != 0) {
    if (told_) ropewayTellCaller(call, caller);
  }
  ~InsideCall() {
    if (told_) ropewayTellCaller(nullptr, nullptr);
  }
  InsideCall(const InsideCall&) = delete;
  InsideCall& operator=(const InsideCall&) = delete;

 private:
  const bool told_;
};

// The calling thread waits for a rank, or for all.
class RankWait {
 public:
  explicit RankWait(uint32_t rank = ROPEWAY_ALL_RANKS) : rank_(rank) { ropewayTellWait(rank_, &begun_); }
  ~RankWait() {
    if (begun_ != 0) ropewayTellWait(rank_, &begun_);
  }
  RankWait(const RankWait&) = delete;
  RankWait& operator=(const RankWait&) = delete;

 private:
  const uint32_t rank_;
  uint64_t begun_ = 0;
};

// What the calling thread submits meanwhile is this transfer. Without a link there is nothing to tell.
class Carrying {
 public:
  explicit Carrying(const ropewayTransfer& transfer) : told_(transfer.link != ROPEWAY_LINK_NONE && ropewayIsTraced() != 0) {
    if (told_) ropewayTellTransfer(nullptr, &transfer);
  }
  ~Carrying() {
    if (told_) ropewayTellTransfer(nullptr, nullptr);
  }
  Carrying(const Carrying&) = delete;
  Carrying& operator=(const Carrying&) = delete;

 private:
  const bool told_;
};

// What the calling thread submits meanwhile is a call of a communicator.
class Communicating {
 public:
  explicit Communicating(const ropewayCommunication& communication) : told_(ropewayIsTraced() != 0) {
    if (told_) ropewayTellCommunication(&communication);
  }
  ~Communicating() {
    if (told_) ropewayTellCommunication(nullptr);
  }
  Communicating(const Communicating&) = delete;
  Communicating& operator=(const Communicating&) = delete;

 private:
  const bool told_;
};

}  // namespace ropeway::comm
