#include "hccl/transport/door.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "base/settings.h"

namespace ropeway::comm {
namespace {

constexpr std::chrono::milliseconds kAcceptPause(50);

// Strangers may have a quarter of the descriptors that the process may have: the rest is the program's and the ranks'.
size_t MostStrangers() { return std::clamp<size_t>(DescriptorLimit() / 4, 1, 1024); }

// How many ports HCCL_IF_BASE_PORT stands for: as many as a server has ranks.
constexpr unsigned kPorts = 16;

// Whoever does not ask for a port gets the one that the user has opened to the ranks, if there are such.
FileDescriptor ListenWhereAllowed(Address* address, std::string* why) {
  const auto base = static_cast<unsigned>(SettingNumber("HCCL_IF_BASE_PORT"));
  if (address->port != 0 || base == 0) return Listen(address, why);
  for (unsigned port = base; port < base + kPorts; ++port) {
    Address tried = *address;
    tried.port = static_cast<uint16_t>(port);
    FileDescriptor fd = Listen(&tried, why);
    if (!fd) continue;
    *address = tried;
    return fd;
  }
  *why += ", nor at the " + std::to_string(kPorts - 1) + " ports below: HCCL_IF_BASE_PORT=" + std::to_string(base) +
          " leaves no free one; set it to another number, or not at all";
  return FileDescriptor();
}

}  // namespace

Listener::~Listener() {
  IoThread::Get().Cancel(pause_);
  IoThread::Get().Forget(fd_.get());
}

bool Listener::Watch() {
  return IoThread::Get().Watch(fd_.get(), EPOLLIN, [this](uint32_t) { Ready(); });
}

void Listener::Ready() {
  Address from;
  FileDescriptor fd = Accept(fd_.get(), &from);
  if (fd) return Door::Get().Arrived(std::move(fd), from);
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
  if (Door::Get().Refused(errno)) return;
  // No descriptors or no memory: the caller stays in the backlog, and asking again at once would only burn a core.
  IoThread::Get().Change(fd_.get(), 0);
  pause_ = IoThread::Get().At(Deadline::After(kAcceptPause), [this] { IoThread::Get().Change(fd_.get(), EPOLLIN); });
}

Door& Door::Get() {
  static Door* const door = new Door;  // the I/O thread may need it after static destructors
  return *door;
}

std::shared_ptr<Listener> Door::Open(const Address& wanted, std::string* why) {
  if (TlsWanted() && !TlsThere(why)) return nullptr;
  const std::string key = wanted.Text();
  for (const auto& [asked, weak] : open_) {
    const std::shared_ptr<Listener> open = weak.lock();
    if (open && (asked == key || open->address().Text() == key)) return open;
  }
  Address address = wanted;
  FileDescriptor fd = ListenWhereAllowed(&address, why);
  if (!fd) return nullptr;
  auto listener = std::make_shared<Listener>(std::move(fd), address);
  if (!listener->Watch()) {
    *why = "the kernel watches no more descriptors";
    return nullptr;
  }
  open_[key] = listener;
  return listener;
}

void Door::Admit(const std::string& communicator, uint32_t to, Guests guests) { guests_[{communicator, to}] = std::move(guests); }

void Door::Revoke(const std::string& communicator, uint32_t to) { guests_.erase({communicator, to}); }

void Door::Arrived(FileDescriptor fd, const Address& from) {
  auto find = [this](const Hello& hello) { return guests_.find({hello.communicator, hello.to}); };
  auto judge = [this, find](const Hello& hello, std::string* secret) {
    const auto found = find(hello);
    if (found == guests_.end()) return false;
    *secret = found->second.secret;
    return true;
  };
  auto decide = [this, find](const Hello& hello) {
    const auto found = find(hello);
    return found == guests_.end() ? Verdict::kRefused : found->second.decide(hello);
  };
  auto done = [this, find, place = from.Text()](Acceptor* self, const Hello& hello, SecureSocket entered) {
    auto& neighbours = strangers_[place];
    stranger_count_ -= std::erase_if(neighbours, [self](const auto& stranger) { return stranger.get() == self; });
    if (neighbours.empty()) strangers_.erase(place);
    const auto found = find(hello);
    if (!entered || found == guests_.end()) return;
    const auto enter = found->second.enter;  // it may revoke itself
    enter(hello, std::move(entered));
  };
  strangers_[from.Text()].push_back(Acceptor::Start(std::move(fd), judge, decide, done));
  ++stranger_count_;
  while (stranger_count_ > MostStrangers()) HangUpOnOne();
}

// The oldest of those that most of them come from.
bool Door::HangUpOnOne() {
  const auto fewer = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  const auto most = std::max_element(strangers_.begin(), strangers_.end(), fewer);
  if (most == strangers_.end()) return false;
  most->second.pop_front();
  --stranger_count_;
  if (most->second.empty()) strangers_.erase(most);
  return true;
}

bool Door::Refused(int error) {
  if (error == EMFILE && HangUpOnOne()) return true;
  trouble_ = error;
  trouble_lasts_ = Deadline::After(4 * kAcceptPause);
  return false;
}

std::string Door::trouble() const {
  const bool lasts = trouble_ != 0 && !trouble_lasts_.Passed();
  return lasts ? "connections cannot be accepted: " + SystemError(trouble_) : "";
}

}  // namespace ropeway::comm
