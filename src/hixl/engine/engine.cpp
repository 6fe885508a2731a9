#include "hixl/engine/engine.h"

#include <atomic>

#include "acl/acl.h"
#include "base/bytes.h"
#include "hixl/engine/context_switch.h"
#include "hixl/engine/result.h"
#include "ropeway/ropeway.h"

namespace ropeway::transfer {
namespace {

constexpr size_t kMostNotifies = 4096;
constexpr int64_t kAutoConnectMs = 3000;  // of a transfer without a limit of its own

uint64_t NextRequest() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

void* HandleOf(uint64_t number) { return At(number); }

}  // namespace

// --- Beginning and end --------------------------------------------------------------------------------------------------

Result<std::unique_ptr<Engine>> Engine::Start(const std::string& name, const Texts& given) {
  RW_TRY_SET(const Options options, ReadOptions(given));
  RW_TRY_SET(EngineName own, ParseEngineName(name));
  int32_t device = -1;
  RW_TRY(FromRuntime("aclrtGetDevice", aclrtGetDevice(&device)));
  aclrtContext callers = nullptr, context = nullptr;
  RW_TRY(FromRuntime("aclrtGetCurrentContext", aclrtGetCurrentContext(&callers)));
  RW_TRY(FromRuntime("aclrtCreateContext", aclrtCreateContext(&context, device)));
  aclrtSetCurrentContext(callers);  // a new one is current
  std::unique_ptr<Engine> engine(new Engine(std::move(own), options, context));
  RW_TRY(engine->server_->Start());
  return engine;
}

Engine::Engine(EngineName name, const Options& options, aclrtContext context)
    : name_(std::move(name)), options_(options), context_(context),
      server_(std::make_shared<Server>(
          name_, context_, memory_,
          [this](std::string from, std::string message) { return Notified(std::move(from), std::move(message)); })),
      pool_(options.connect_threads, options.connect_queue) {}

Engine::~Engine() {
  pool_.Stop();
  std::map<std::string, LinkRef> links;
  {
    LockGuard lock(mutex_);
    links.swap(links_);
    requests_.clear();
  }
  for (const auto& [remote, link] : links) link->Close();
  server_->Stop();
  // A device that was reset took it along.
  if (aclrtDestroyContext(context_) != ACL_SUCCESS) aclGetRecentErrMsg();
}

// --- Memory -------------------------------------------------------------------------------------------------------------

Status Engine::RegisterMem(uintptr_t address, size_t size, int type, void** handle) {
  if (address == 0) return Fail(kParamInvalid, "mem.addr is 0");
  if (address + size < address) return Fail(kParamInvalid, "mem.addr %p + mem.len %zu is beyond all addresses", At(address), size);
  if (size == 0) return Fail(kParamInvalid, "mem.len is 0");
  if (type != ::hixl::MEM_DEVICE && type != ::hixl::MEM_HOST)
    return Fail(kParamInvalid, "type %d is neither MEM_DEVICE (0) nor MEM_HOST (1)", type);
  RW_TRY_SET(const LocalRegion region, memory_.Add(address, size, type == ::hixl::MEM_DEVICE));
  *handle = HandleOf(region.number);
  return Ok();
}

Status Engine::DeregisterMem(void* handle) {
  if (handle == nullptr) return Fail(kParamInvalid, "mem_handle is NULL");
  const uint64_t number = Bits(handle);
  {
    LockGuard lock(mutex_);
    for (const auto& [remote, link] : links_)
      if (link) return Fail(kFailed, "this engine is connected to %s: call Disconnect first", remote.c_str());
  }
  if (memory_.Remove(number)) server_->Withdraw(number);
  return Ok();
}

// --- Links --------------------------------------------------------------------------------------------------------------

Status Engine::Connect(const std::string& remote, int32_t limit_ms) { return ConnectUntil(remote, Deadline::AfterMs(limit_ms)); }

Status Engine::ConnectUntil(const std::string& remote, Deadline deadline) {
  if (remote == name_.text) return Fail(kParamInvalid, "%s is this engine itself", remote.c_str());
  {
    LockGuard lock(mutex_);
    if (links_.count(remote) != 0) return Fail(kAlreadyConnected, "%s is connected: call Disconnect to begin anew", remote.c_str());
    links_[remote] = nullptr;
  }
  const auto open = [&]() -> Result<LinkRef> {
    RW_TRY_SET(const EngineName name, ParseEngineName(remote));
    if (!name.listens()) return Fail(kParamInvalid, "%s has no port, so nobody listens there", remote.c_str());
    return Link::Open({context_, &memory_}, name, deadline);
  };
  Result<LinkRef> link = open();
  LockGuard lock(mutex_);
  if (link.ok())
    links_[remote] = link.value();
  else
    links_.erase(remote);
  link_made_.notify_all();
  return link.status();
}

Result<Engine::LinkRef> Engine::FindLink(const std::string& remote) {
  LockGuard lock(mutex_);
  const auto found = links_.find(remote);
  if (found == links_.end() || found->second == nullptr)
    return Fail(kNotConnected, "%s is not connected: call Connect first", remote.c_str());
  return found->second;
}

Result<Engine::LinkRef> Engine::LinkFor(const std::string& remote, Deadline deadline) {
  Result<LinkRef> found = FindLink(remote);
  if (!options_.auto_connect) return found;
  if (found.ok() && !found.value()->broken()) return found;
  if (found.ok()) Drop(remote, found.value().get(), false);
  for (;;) {
    Status connected = ConnectUntil(remote, deadline);
    if (!connected.ok() && connected.code() != kAlreadyConnected) return connected;
    // Another thread was faster, or is about to be.
    LockGuard lock(mutex_);
    const auto decided = [&]() RW_REQUIRES(mutex_) { return links_.count(remote) == 0 || links_[remote] != nullptr; };
    if (!link_made_.wait_until(mutex_, deadline.at(), decided)) return Fail(kTimeout, "%s is not connected in time", remote.c_str());
    if (const auto made = links_.find(remote); made != links_.end()) return made->second;
  }
}

void Engine::Drop(const std::string& remote, const Link* link, bool forget_requests) {
  LinkRef dropped;
  {
    LockGuard lock(mutex_);
    const auto found = links_.find(remote);
    if (found == links_.end() || found->second.get() != link) return;
    dropped = std::move(found->second);
    links_.erase(found);
    if (forget_requests) std::erase_if(requests_, [&](const auto& one) { return one.second.link == dropped; });
  }
  dropped->Close();
}

Status Engine::Disconnect(const std::string& remote) {
  RW_TRY_SET(const LinkRef link, FindLink(remote));
  Drop(remote, link.get(), true);
  return Ok();
}

Status Engine::ConnectLater(const std::string& remote, int32_t limit_ms) {
  return pool_.Add(remote, true, [this, remote, limit_ms] {
    const Status status = Connect(remote, limit_ms);
    return status.ok() || status.code() == kAlreadyConnected;
  });
}

Status Engine::DisconnectLater(const std::string& remote) {
  return pool_.Add(remote, false, [this, remote] { return Disconnect(remote).ok(); });
}

// --- Transfers ----------------------------------------------------------------------------------------------------------

// An engine that connects by itself drops the link with whatever goes wrong, and begins anew with the next transfer.
Status Engine::Settle(Status status, const std::string& remote, const LinkRef& link) {
  if (status.ok()) return status;
  if (options_.auto_connect)
    Drop(remote, link.get(), false);
  else if (status.code() == kFailed || status.code() == kTimeout)
    link->Break(status.text());
  return status;
}

Result<std::shared_ptr<Request>> Engine::Submit(const std::string& remote, int operation, Descriptors descriptors, Deadline connect_by,
                                                int64_t limit_ms, LinkRef* link) {
  for (size_t i = 0; i < descriptors.count; ++i)
    if (descriptors.first[i].local_addr == 0 || descriptors.first[i].remote_addr == 0)
      return Fail(kParamInvalid, "op_descs[%zu] has the address 0 (local %p, remote %p)", i, At(descriptors.first[i].local_addr),
                  At(descriptors.first[i].remote_addr));
  RW_TRY_SET(*link, LinkFor(remote, connect_by));
  const auto submit = [&]() -> Result<std::shared_ptr<Request>> {
    if (descriptors.count == 0) return Fail(kParamInvalid, "op_descs is empty");
    if (operation != ::hixl::READ && operation != ::hixl::WRITE)
      return Fail(kParamInvalid, "operation %d is neither READ (0) nor WRITE (1)", operation);
    return (*link)->Submit(operation == ::hixl::WRITE, descriptors, Deadline::AfterMs(limit_ms));
  };
  Result<std::shared_ptr<Request>> request = submit();
  if (request.ok()) return request;
  return Settle(request.status(), remote, *link);
}

Status Engine::TransferSync(const std::string& remote, int operation, Descriptors descriptors, int32_t limit_ms) {
  LinkRef link;
  RW_TRY_SET(const auto request, Submit(remote, operation, descriptors, Deadline::AfterMs(limit_ms), limit_ms, &link));
  const Request::State state = link->Wait(*request, Deadline::AfterMs(limit_ms));
  if (state == Request::State::kCompleted) return Ok();
  if (state == Request::State::kFailed)
    return Settle(Fail(kFailed, "the transfer with %s failed: %s", remote.c_str(), request->failure().c_str()), remote, link);
  request->GiveUp("it took too long");
  return Settle(Fail(kTimeout, "the transfer with %s is not over after %d ms", remote.c_str(), limit_ms), remote, link);
}

Status Engine::TransferAsync(const std::string& remote, int operation, Descriptors descriptors, const void* user_data, void** handle) {
  LinkRef link;
  RW_TRY_SET(auto request, Submit(remote, operation, descriptors, Deadline::AfterMs(kAutoConnectMs), kAutoConnectMs, &link));
  const uint64_t number = NextRequest();
  LockGuard lock(mutex_);
  requests_.emplace(number, Open{std::move(request), std::move(link), remote, user_data});
  *handle = HandleOf(number);
  return Ok();
}

::hixl::TransferStatus Engine::StateOf(const Open& open) {
  switch (open.link->Look(*open.request)) {
    case Request::State::kWaiting: return ::hixl::TransferStatus::WAITING;
    case Request::State::kCompleted: return ::hixl::TransferStatus::COMPLETED;
    default: break;
  }
  const Status failed = Settle(Fail(kFailed, "the transfer with %s failed: %s", open.remote.c_str(), open.request->failure().c_str()),
                               open.remote, open.link);
  FileFailure("GetTransferStatus", failed, nullptr);  // the call itself succeeds
  return ::hixl::TransferStatus::FAILED;
}

Status Engine::RequestState(void* handle, ::hixl::TransferStatus* status) {
  if (handle == nullptr) return Fail(kFailed, "req is NULL");
  const uint64_t number = Bits(handle);
  Open open;
  {
    LockGuard lock(mutex_);
    const auto found = requests_.find(number);
    if (found == requests_.end())
      return Fail(kParamInvalid, "req %p is no request, or its end was told already, or its link was dropped", handle);
    open = found->second;
  }
  *status = StateOf(open);
  if (*status == ::hixl::TransferStatus::WAITING) return Ok();
  LockGuard lock(mutex_);
  requests_.erase(number);
  return Ok();
}

Status Engine::RequestStates(uint32_t most, bool skip_waiting, std::vector<::hixl::TransferResult>* results) {
  std::map<uint64_t, Open> requests;
  {
    LockGuard lock(mutex_);
    requests = requests_;
  }
  for (const auto& [number, open] : requests) {
    if (results->size() >= most) break;
    const ::hixl::TransferStatus status = StateOf(open);
    const bool waits = status == ::hixl::TransferStatus::WAITING;
    if (waits && skip_waiting) continue;
    if (!waits) {
      LockGuard lock(mutex_);
      if (requests_.erase(number) == 0) continue;  // another thread has told it
    }
    ::hixl::TransferResult& result = results->emplace_back();
    result.req = HandleOf(number);
    result.user_data = open.user_data;
    result.status = status;
  }
  return Ok();
}

// --- Notifies -----------------------------------------------------------------------------------------------------------

Status Engine::SendNotify(const std::string& remote, const std::string& name, const std::string& message, int32_t limit_ms) {
  RW_TRY_SET(const LinkRef link, FindLink(remote));
  return link->Notify(name, message, Deadline::AfterMs(limit_ms));
}

uint32_t Engine::Notified(std::string name, std::string message) {
  LockGuard lock(mutex_);
  if (notifies_.size() >= kMostNotifies) return kExhausted;
  notifies_.emplace_back(std::move(name), std::move(message));
  return 0;
}

void Engine::TakeNotifies(Texts* notifies) {
  LockGuard lock(mutex_);
  notifies->swap(notifies_);
}

}  // namespace ropeway::transfer
