// From "who are the others" to a communicator: opens the door, joins at the root, and hands out the communicator when
// everybody is there.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hccl/membership/communicator.h"

namespace ropeway::comm {

struct Outcome {
  HcclResult result = HCCL_SUCCESS;
  std::string why;
  std::shared_ptr<Communicator> communicator;
};

// Everything that one rank has to know before it can join.
struct Plan {
  std::vector<Address> roots;  // where the root's service listens: at each of them, or at the first that answers
  std::string communicator;    // 16 bytes that name it
  std::string secret;          // 32 bytes
  std::string name;
  uint32_t rank = 0;
  uint32_t size = 0;
  std::optional<uint32_t> world_rank;  // empty until CompletePlan
  int32_t device = 0;
  std::string host;                    // empty: HostIdentity()
  std::optional<Address> own_address;  // empty: ChooseLocalAddress()
  bool serves = false;                 // this rank starts the root's service, at all of `roots`
  HcclOpExpansionMode op_expansion_mode = HCCL_OP_EXPANSION_MODE_HOST;
  std::string algorithm;
  std::optional<double> exec_timeout_s;  // empty: HCCL_EXEC_TIMEOUT
};

// Which rank offers an address that another one cannot get to; empty when none does.
std::string WhoCannotBeReached(const std::vector<PeerInfo>& peers);

// Starts to join; the future is ready at the latest when HCCL_CONNECT_TIMEOUT has passed. Any thread but the I/O
// thread.
std::future<Outcome> BeginJoin(Plan plan);

// Tells the others and ends what is pending; the communicator is an empty shell afterwards. Any thread but the I/O
// thread.
void Dissolve(const std::shared_ptr<Communicator>& communicator);

// The 16 and 32 bytes of a communicator that is made from another one, or from a text that all ranks have.
std::string DeriveName(const std::string& secret, const std::string& label);
std::string DeriveSecret(const std::string& secret, const std::string& label);

// Starts the service for a new communicator in this process: its name and secret are random. HCCL_SUCCESS, or why not.
struct RootTicket {
  Address root;
  std::string communicator;
  std::string secret;
};
Outcome OpenRoot(RootTicket* ticket);

// What the communicator was made with; sub-communicators are derived from it.
RootTicket TicketOf(const std::shared_ptr<Communicator>& communicator);

// Runs `function` on the I/O thread and waits for it.
void RunOnIo(const std::function<void()>& function);

}  // namespace ropeway::comm
