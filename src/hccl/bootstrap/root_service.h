// The service that HcclGetRootInfo starts: gathers the ranks of one communicator, hands the list out, and stays as the
// place where barriers meet and departures are announced, until the last rank has left. Everything here belongs to the
// I/O thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "hccl/membership/communicator.h"
#include "hccl/transport/door.h"
#include "hccl/transport/rank_connection.h"

namespace ropeway::comm {

class RootService : public std::enable_shared_from_this<RootService> {
 public:
  // Admits ranks that know the secret. It keeps itself, and the listeners that ranks reach it by, alive.
  static void Start(const std::string& communicator, const std::string& secret, std::vector<std::shared_ptr<Listener>> listeners);
  // Ends a service whose communicator did not come about. No effect when there is none, or when it has its ranks.
  static void StopUnlessComplete(const std::string& communicator);

 private:
  struct Member {
    std::shared_ptr<Connection> connection;
    PeerInfo info;
    bool joined = false;
    bool ready = false;
  };

  RootService(const std::string& communicator, std::vector<std::shared_ptr<Listener>> listeners)
      : communicator_(communicator), listeners_(std::move(listeners)) {}
  Verdict Decide(const Hello& hello);
  void Enter(uint32_t rank, SecureSocket fd);
  void Received(uint32_t rank, const Frame& frame);
  void Join(uint32_t rank, const Frame& frame);
  void Refuse(uint32_t rank, HcclResult code, const std::string& why);
  void Complete();
  void Ready(uint32_t rank);
  // Tells a rank that gives up, and everybody else the first time.
  void TellMissing(uint32_t rank);
  std::string MissingText() const;
  void Arrive(uint32_t rank, uint64_t barrier);
  void Abort(uint64_t barrier);
  // `why` as in Service::peer_ended.
  void Ended(uint32_t rank, HcclResult why);
  void Broadcast(uint16_t type, uint64_t id, const std::string& body);
  void Stop();

  const std::string communicator_;
  const std::vector<std::shared_ptr<Listener>> listeners_;
  uint32_t size_ = 0;  // what the first rank to join said
  uint32_t joined_ = 0;
  uint32_t ready_ = 0;
  bool complete_ = false;  // the table is out
  bool somebody_gone_ = false;
  bool missing_told_ = false;
  bool replaced_ = false;
  std::string mismatch_;  // a setting that differs between ranks: nobody can join any more
  std::map<uint32_t, Member> members_;
  std::set<uint32_t> gave_up_;             // joined, and left before all had
  std::map<uint64_t, uint32_t> barriers_;  // number of arrivals at each that is not complete
  std::set<uint64_t> aborted_;
};

}  // namespace ropeway::comm
