// The engine as others see it: who has connected, the memory that they are told of, and what they say.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "acl/acl_rt.h"
#include "base/status.h"
#include "hccl/link/peer_link.h"
#include "hccl/transport/door.h"
#include "hccl/transport/rank_connection.h"
#include "hccl/transport/wire.h"
#include "hixl/engine/engine_name.h"
#include "hixl/engine/memory_table.h"
#include "hixl/engine/secrets.h"

namespace ropeway::transfer {

class Server : public std::enable_shared_from_this<Server> {
 public:
  // A notify has come: 0, or the code of the refusal. On the I/O thread.
  using Notified = std::function<uint32_t(std::string name, std::string message)>;
  Server(EngineName own, aclrtContext context, const LocalMemory& memory, Notified notified)
      : own_(std::move(own)), context_(context), memory_(memory), notified_(std::move(notified)) {}

  // Listens from now on; FAILED.
  Status Start();
  // All that have connected lose their connections, and nobody touches memory any more.
  void Stop();
  // When it returns, no transfer of the others goes to the region, unless one has begun; whoever does not answer within a second is left.
  void Withdraw(uint64_t region);

 private:
  // Who has connected.
  struct Guest {
    std::shared_ptr<comm::Connection> connection;
    std::shared_ptr<comm::Peer> peer;  // over which bytes go where nothing else does
    bool greeted = false;
    bool same_host = false;
    bool same_process = false;
    int32_t pid = 0;
    std::map<uint64_t, std::string> told;  // regions, with the key of a mapping or ""
  };
  using Goodbyes = std::set<std::pair<uint32_t, uint64_t>>;  // guest, region

  // All below is for the I/O thread.
  std::string Open();
  void Admit(const comm::Hello& hello, comm::SecureSocket fd);
  void Greet(comm::SecureSocket fd);
  void Received(uint32_t number, const comm::Frame& frame);
  std::string AnswerHello(uint32_t number, Guest& guest, const std::string& body);
  std::string AnswerRegions(Guest& guest);
  std::string AnswerNotify(const std::string& body) const;
  void Describe(Guest& guest, const LocalRegion& region, comm::Writer* table);
  std::string ExportFor(const Guest& guest, const LocalRegion& region) const;
  void CloseExport(const std::string& key) const;
  void Leave(uint32_t number);
  void Heard(uint32_t number, uint64_t region);

  const EngineName own_;
  const aclrtContext context_;
  const LocalMemory& memory_;
  const Notified notified_;
  std::string secret_;
  std::shared_ptr<comm::Listener> listener_;
  std::unique_ptr<SecretTeller> teller_;
  std::map<uint32_t, Guest> guests_;
  uint32_t last_guest_ = 0;
  Goodbyes unheard_;
  std::map<uint64_t, std::shared_ptr<std::promise<void>>> withdrawing_;  // by region
};

}  // namespace ropeway::transfer
