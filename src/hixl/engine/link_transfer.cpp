// Transfers of a link: which way each piece goes, and how it gets there.
#include <algorithm>
#include <map>

#include "base/bytes.h"
#include "hixl/engine/context_switch.h"
#include "hixl/engine/link.h"
#include "hixl/engine/result.h"

namespace ropeway::transfer {
namespace {

// Descriptors that go on where the last one ended, on both sides, are one.
::hixl::TransferOpDesc NextRun(Descriptors descriptors, size_t* next) {
  ::hixl::TransferOpDesc run = descriptors.first[(*next)++];
  for (; *next < descriptors.count; ++*next) {
    const ::hixl::TransferOpDesc& more = descriptors.first[*next];
    if (more.len == 0 || more.local_addr != run.local_addr + run.len || more.remote_addr != run.remote_addr + run.len) break;
    run.len += more.len;
  }
  return run;
}

Status NotRegistered(const char* side, uintptr_t address, size_t size) {
  return Fail(kParamInvalid, "%s [%p, + %zu bytes) is not registered: call RegisterMem %s", side, At(address), size,
              side[0] == 'l' ? "first" : "in the other engine");
}

}  // namespace

// --- Planning -----------------------------------------------------------------------------------------------------------

// `unknown`: the other engine may have registered it since.
Status Link::MakePlan(bool write, Descriptors descriptors, Plan* plan, bool* unknown) const {
  const TableRef<LocalRegion> locals = home_.memory->all();
  const TableRef<RemoteRegion> remotes = regions();
  const LocalRegion* local = nullptr;
  const RemoteRegion* remote = nullptr;
  *plan = {};
  plan->copies.write = write;
  for (size_t next = 0; next < descriptors.count;) {
    ::hixl::TransferOpDesc run = NextRun(descriptors, &next);
    if (run.len == 0)
      return Fail(kParamInvalid, "the len of a descriptor is 0 (local %p, remote %p)", At(run.local_addr), At(run.remote_addr));
    while (run.len > 0) {
      local = FindRegion(*locals, run.local_addr, local);
      if (local == nullptr) return NotRegistered("local", run.local_addr, run.len);
      remote = FindRegion(*remotes, run.remote_addr, remote);
      *unknown = remote == nullptr;
      if (remote == nullptr) return NotRegistered("remote", run.remote_addr, run.len);
      const size_t size =
          std::min({run.len, local->address + local->size - run.local_addr, remote->address + remote->size - run.remote_addr});
      RW_TRY(AddPiece(*local, run.local_addr, *remote, run.remote_addr, size, plan));
      run = {run.local_addr + size, run.remote_addr + size, run.len - size};
    }
  }
  return Ok();
}

Status Link::AddPiece(const LocalRegion& local, uintptr_t local_address, const RemoteRegion& remote, uintptr_t remote_address, size_t size,
                      Plan* plan) const {
  const uintptr_t offset = remote_address - remote.address;
  Copies& copies = plan->copies;
  if (remote.way == Way::kAddress || remote.way == Way::kMapping) {
    const Place here{local_address, local.device ? local.device_id : -1};
    const Place there{remote.here + offset, remote.device ? remote.device_id : -1};
    auto& list = local.device != remote.device ? copies.over_the_bus : local.device ? copies.inside_devices : copies.inside_host;
    list.push_back(copies.write ? Copy{there, here, size} : Copy{here, there, size});
    return Ok();
  }
  char* const view = local.base() + (local_address - local.address);
  // The other process reads and writes what its host code reaches; the link does more.
  if (remote.way == Way::kLink || local.context != nullptr) {
    plan->items.push_back({view, remote.number, offset, size, local.context});
    return Ok();
  }
  const Place here{Bits(view), -1}, there{remote_address, -1};
  copies.of_process.push_back(copies.write ? Copy{there, here, size} : Copy{here, there, size});
  return Ok();
}

// --- Doing --------------------------------------------------------------------------------------------------------------

Result<std::shared_ptr<Request>> Link::Submit(bool write, Descriptors descriptors, Deadline deadline) {
  LockGuard lock(mutex_);
  RW_TRY(RequireWhole());
  Plan plan;
  bool unknown = false;
  Status status = MakePlan(write, descriptors, &plan, &unknown);
  if (!status.ok() && unknown) {
    RW_TRY(LearnRegions(deadline));
    status = MakePlan(write, descriptors, &plan, &unknown);
  }
  RW_TRY(std::move(status));
  const auto request = std::make_shared<Request>((plan.copies.empty() ? 0 : 1) + (plan.items.empty() ? 0 : 1));
  {
    LockGuard listing(state_mutex_);
    std::erase_if(under_way_, [](const std::weak_ptr<Request>& one) { return one.expired(); });
    under_way_.push_back(request);
  }
  RW_TRY(RequireWhole());  // who broke it since has not seen this request
  Status queued = Queue(write, std::move(plan), request);
  if (queued.ok()) return request;
  request->GiveUp("it could not be queued");
  Break(queued.text());
  return queued;
}

Status Link::Queue(bool write, Plan plan, const std::shared_ptr<Request>& request) {
  if (!plan.items.empty()) {
    OpenPeer();
    peer_->Move(write, std::move(plan.items), request->lease(), [request, weak = weak_from_this()](const comm::TransferEnd& end) {
      const auto self = weak.lock();
      if (end.code != HCCL_SUCCESS && self) self->Break(end.text);
      request->Done(end.code == HCCL_SUCCESS ? "" : end.text);
    });
  }
  if (plan.copies.empty()) return Ok();
  const ContextSwitch own(home_.context);
  return stream_.Queue(std::move(plan.copies), process_, request);
}

Request::State Link::Wait(Request& request, Deadline deadline) {
  {
    const ContextSwitch own(home_.context);
    stream_.Wait(deadline);
  }
  return request.WaitUntil(deadline);
}

Request::State Link::Look(Request& request) {
  if (const Request::State state = request.state(); state != Request::State::kWaiting) return state;
  {
    const ContextSwitch own(home_.context);
    stream_.Look();
  }
  return request.state();
}

// --- Connections for bytes ----------------------------------------------------------------------------------------------

void Link::OpenPeer() {
  if (peer_) return;
  peer_ = comm::NewTcpPeer(number_);
  const std::weak_ptr<Link> weak = weak_from_this();
  const std::weak_ptr<comm::Peer> peer = peer_;
  peer_->Meet("", [weak, peer] {
    if (const auto held = peer.lock()) CallForBytes(weak, held, false);
  });
  CallForBytes(weak, peer_, true);
}

// The first one must come; without the others it goes on.
void Link::CallForBytes(const std::weak_ptr<Link>& weak, const std::shared_ptr<comm::Peer>& peer, bool first) {
  comm::IoThread::Get().Post([weak, peer, first] {
    static auto& calls = *new std::map<uint64_t, std::shared_ptr<comm::Caller>>;  // each ends by itself
    static uint64_t last = 0;
    const auto link = weak.lock();
    if (!link) return;
    const uint64_t number = ++last;
    const auto answered = [peer, first, number](comm::SecureSocket fd, comm::Verdict, const std::string& why) {
      calls.erase(number);
      if (fd) return peer->Enter(std::move(fd));
      if (first) peer->Close({HCCL_E_REMOTE, "the other engine takes no connection for bytes: " + why});
    };
    calls[number] = CallDoor(link->remote_, link->secret_, comm::Purpose::kLink, link->number_, answered);
  });
}

}  // namespace ropeway::transfer
