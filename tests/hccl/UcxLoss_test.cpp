// A connection of UCX's own that breaks while the authenticated one beside it stands.
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "tests/hccl/link_hosts.h"

#ifdef RW_UCX_HOSTS
namespace ucx_loss_test {

using namespace link_hosts;

// A host that never moves again once a test has stopped it: UCX 1.13 would end the process when it finds a request whose sender is gone.
constexpr size_t kStoppedHost = 4;

int Option(int fd, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}
bool IsTcpConnection(int fd) {
  return Option(fd, SO_DOMAIN) == AF_INET && Option(fd, SO_TYPE) == SOCK_STREAM && Option(fd, SO_ACCEPTCONN) == 0;
}

// Two peers whose own connection is known, so that all others can be broken.
struct Known {
  Known() {
    auto ends = NewConnection();
    own = {ends.first.get(), ends.second.get()};
    there->Meet(here->Introduction(), nullptr);
    here->Meet(there->Introduction(), [] {});
    there->Enter(std::move(ends.second));
    here->Enter(std::move(ends.first));
  }
  void BreakAllOthers() const {
    std::vector<int> others;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
      const int fd = std::stoi(entry.path().filename().string());
      if (fd != own.first && fd != own.second && IsTcpConnection(fd)) others.push_back(fd);
    }
    for (const int fd : others) shutdown(fd, SHUT_RDWR);
  }
  const std::shared_ptr<Peer> here = NewEnd(LinkKind::kUcx, 0), there = NewEnd(LinkKind::kUcx, kStoppedHost);
  std::vector<char> source = Pattern(64 << 10, 3);
  std::pair<int, int> own;
};

// Comes back when the thread has done all that was posted before; `forever`: and does nothing else any more.
void Reach(IoThread& thread, bool forever) {
  auto* const reached = new std::promise<void>;
  std::future<void> done = reached->get_future();
  thread.Post([reached, forever] {
    reached->set_value();
    while (forever) pause();
    delete reached;
  });
  done.wait();
}

TEST(UcxLoss, AGetWhoseBytesAreLostIsNoSuccess) {
  static auto* const pair = new Known;  // the stopped host has it for ever
  std::vector<char> target(pair->source.size(), 't');
  pair->there->Expose(1, {pair->source.data(), pair->source.size()});
  ASSERT_EQ(Move(*pair->here, false, {{target.data(), 1, 0, 1}}).code, HCCL_SUCCESS);  // its key is here now
  Reach(ThreadOf(kStoppedHost), true);
  auto get = Begin(*pair->here, false, {{target.data(), 1, 0, target.size()}});
  Reach(ThreadOf(0), false);
  pair->BreakAllOthers();
  const TransferEnd end = get.get();
  EXPECT_EQ(end.code, HCCL_E_ROCE_TRANSFER) << end.text;
}

}  // namespace ucx_loss_test
#endif
