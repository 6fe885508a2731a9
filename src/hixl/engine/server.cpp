#include "hixl/engine/server.h"

#include <chrono>

#include "acl/acl.h"
#include "base/bytes.h"
#include "base/settings.h"
#include "hccl/transport/host_identity.h"
#include "hixl/engine/io_call.h"
#include "hixl/engine/process_memory.h"
#include "hixl/engine/result.h"
#include "hixl/engine/wire.h"

namespace ropeway::transfer {
namespace {

using comm::Door;
using comm::Frame;
using comm::Reader;
using comm::Writer;

constexpr size_t kKeyBytes = 64;
constexpr std::chrono::seconds kPatience(1);

}  // namespace

// --- Coming and going ---------------------------------------------------------------------------------------------------

Status Server::Start() {
  if (!own_.listens()) return Ok();
  secret_ = NewSecret(own_);
  const std::string why = OnIoThread([this] { return Open(); });
  return why.empty() ? Ok() : Fail(kFailed, "%s", why.c_str());
}

// The teller comes first: its name is as unique as the port, and the door shares ports inside a process.
std::string Server::Open() {
  std::string why;
  teller_ = SecretTeller::Open(own_, secret_, &why);
  if (teller_) listener_ = Door::Get().Open(own_.address, &why);
  if (!listener_) {
    teller_.reset();
    return why;
  }
  const auto self = weak_from_this();
  Door::Get().Admit(DoorName(own_.text), 0,
                    {secret_,
                     [self](const comm::Hello& hello) {
                       const auto server = self.lock();
                       const bool known = hello.purpose == comm::Purpose::kControl || (server && server->guests_.count(hello.from) != 0);
                       return server && known ? comm::Verdict::kWelcome : comm::Verdict::kRefused;
                     },
                     [self](const comm::Hello& hello, comm::SecureSocket fd) {
                       if (const auto server = self.lock()) server->Admit(hello, std::move(fd));
                     }});
  return "";
}

void Server::Stop() {
  if (!own_.listens()) return;
  OnIoThread([this] {
    if (listener_) Door::Get().Revoke(DoorName(own_.text), 0);
    listener_.reset();
    teller_.reset();
    while (!guests_.empty()) Leave(guests_.begin()->first);
  });
}

void Server::Admit(const comm::Hello& hello, comm::SecureSocket fd) {
  if (hello.purpose == comm::Purpose::kControl) return Greet(std::move(fd));
  if (const auto found = guests_.find(hello.from); found != guests_.end()) found->second.peer->Enter(std::move(fd));
}

void Server::Greet(comm::SecureSocket fd) {
  const uint32_t number = ++last_guest_;
  Guest& guest = guests_[number];
  guest.peer = comm::NewTcpPeer(number);
  guest.peer->Meet("", nullptr);
  const auto self = weak_from_this();
  comm::Connection::Events events;
  events.received = [self, number](const Frame& frame) {
    if (const auto server = self.lock()) server->Received(number, frame);
  };
  events.closed = [self, number](bool, const std::string&) {
    if (const auto server = self.lock()) server->Leave(number);
  };
  guest.connection = comm::Connection::Open(std::move(fd), std::move(events));
}

void Server::Leave(uint32_t number) {
  const auto node = guests_.extract(number);
  if (!node) return;
  Guest& guest = node.mapped();
  guest.peer->Close({HCCL_E_REMOTE, "the other engine dropped the link"});
  guest.connection->Close();
  for (const auto& [region, key] : guest.told) CloseExport(key);
  for (const auto& [who, region] : Goodbyes(unheard_))
    if (who == number) Heard(number, region);
}

// --- Questions ----------------------------------------------------------------------------------------------------------

// Who does not keep to the protocol is hung up on.
void Server::Received(uint32_t number, const Frame& frame) {
  const auto found = guests_.find(number);
  if (found == guests_.end()) return;
  Guest& guest = found->second;
  if (frame.type == kGoneHeard) return Heard(number, frame.id);
  std::string answer;
  if (frame.type == kHello) answer = AnswerHello(number, guest, frame.body);
  if (frame.type == kRegions && guest.greeted) answer = AnswerRegions(guest);
  if (frame.type == kNotify && guest.greeted) answer = AnswerNotify(frame.body);
  if (answer.empty()) return Leave(number);
  guest.connection->Send({kAnswer, frame.id, answer});
}

std::string Server::AnswerHello(uint32_t number, Guest& guest, const std::string& body) {
  Reader reader(body);
  const std::string host = reader.String();
  const auto process = reader.Number<uint64_t>();
  guest.pid = reader.Number<int32_t>();
  if (!reader.AtEnd()) return "";
  guest.greeted = true;
  guest.same_host = host == comm::HostIdentity() && SettingText("HCCL_INTRA_ROCE_ENABLE") != "1";
  guest.same_process = guest.same_host && process == comm::ProcessNumber();
  return Writer().Number(number).Number(uint8_t{guest.same_host}).Raw(ProcessMemory::TellOwn()).Take();
}

std::string Server::AnswerNotify(const std::string& body) const {
  Reader reader(body);
  std::string name = reader.String(), message = reader.String();
  if (!reader.AtEnd()) return "";
  return Writer().Number(notified_(std::move(name), std::move(message))).Take();
}

std::string Server::AnswerRegions(Guest& guest) {
  const TableRef<LocalRegion> regions = memory_.all();
  Writer table;
  table.Number(static_cast<uint32_t>(regions->size()));
  for (const LocalRegion& region : *regions) Describe(guest, region, &table);
  return table.Take();
}

// A region is exposed before anybody hears of it.
void Server::Describe(Guest& guest, const LocalRegion& region, Writer* table) {
  const auto [told, is_new] = guest.told.try_emplace(region.number);
  if (is_new) {
    comm::Exposed exposed{region.base(), region.size};
    exposed.context = region.context;
    guest.peer->Expose(region.number, std::move(exposed));
    told->second = ExportFor(guest, region);
  }
  Way way = Way::kLink;
  if (guest.same_process)
    way = Way::kAddress;
  else if (!told->second.empty())
    way = Way::kMapping;
  table->Number(region.number).Number(uint64_t{region.address}).Number(uint64_t{region.size}).Number(uint8_t{region.device});
  table->Number(region.device_id).Number(static_cast<uint8_t>(way)).String(told->second);
}

std::string Server::ExportFor(const Guest& guest, const LocalRegion& region) const {
  if (!guest.same_host || guest.same_process || !region.device) return "";
  char key[kKeyBytes + 1] = {};
  int32_t pid = guest.pid;
  const bool exported = aclrtSetCurrentContext(context_) == ACL_SUCCESS &&
                        aclrtIpcMemGetExportKey(At(region.address), region.size, key, sizeof key, 0) == ACL_SUCCESS &&
                        aclrtIpcMemSetImportPid(key, &pid, 1) == ACL_SUCCESS;
  if (exported) return key;
  aclGetRecentErrMsg();  // connections do it, too
  CloseExport(key);
  return "";
}

void Server::CloseExport(const std::string& key) const {
  if (key.empty()) return;
  // A context that is gone took its exports along.
  if (aclrtSetCurrentContext(context_) == ACL_SUCCESS) aclrtIpcMemClose(key.c_str());
  aclGetRecentErrMsg();
}

// --- Memory that goes ---------------------------------------------------------------------------------------------------

void Server::Withdraw(uint64_t region) {
  if (!own_.listens()) return;
  const auto heard = std::make_shared<std::promise<void>>();
  OnIoThread([&] {
    withdrawing_[region] = heard;
    for (auto& [number, guest] : guests_) {
      const auto node = guest.told.extract(region);
      if (!node) continue;
      guest.peer->Withdraw(region);
      CloseExport(node.mapped());
      unheard_.insert({number, region});
      guest.connection->Send({kGone, region, ""});
    }
    Heard(0, region);
  });
  heard->get_future().wait_for(kPatience);
}

// The last one ends the wait.
void Server::Heard(uint32_t number, uint64_t region) {
  unheard_.erase({number, region});
  for (const auto& [guest, other] : unheard_)
    if (other == region) return;
  if (const auto node = withdrawing_.extract(region)) node.mapped()->set_value();
}

}  // namespace ropeway::transfer
