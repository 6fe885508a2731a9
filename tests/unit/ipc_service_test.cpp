// The service: who is let in, what is carried, and what ends a connection. Exporter and importer are this process; strangers
// speak to the socket by hand.
#include <sys/mman.h>
#include <sys/wait.h>

#include <deque>

#include "acl/error_codes/rt_error_codes.h"
#include "ipc/service.h"
#include "unit/ipc_fixture.h"

namespace ropeway_unit {
namespace ipc_service_test {

using namespace ropeway;
using namespace ropeway::ipc;

class IpcServiceTest : public testing::Test {
 protected:
  void SetUp() override {
    Result<Service*> service = Service::Get();
    ASSERT_TRUE(service.ok());
    service_ = service.value();
    Result<Key> key = service_->Publish(offer_);
    ASSERT_TRUE(key.ok());
    key_ = key.value();
  }
  void TearDown() override {
    service_->Withdraw(key_);
    while (service_->connections() != 0) sched_yield();
  }

  Result<Joined> Connect(const Key& key, uint32_t type = kTestType) { return service_->Connect(key, type, listener_, Deadline::Never()); }
  // 0 for an import that worked, and was closed again.
  int CodeOf(const Key& key, uint32_t type = kTestType) {
    Result<Joined> joined = Connect(key, type);
    if (joined.ok()) joined.value().connection->Close();
    return joined.status().code();
  }

  Service* service_ = nullptr;
  std::shared_ptr<TestOffer> offer_ = std::make_shared<TestOffer>();
  std::shared_ptr<TestListener> listener_ = std::make_shared<TestListener>();
  Key key_;
};

TEST_F(IpcServiceTest, AnImporterIsWelcomedWithValuesAndADescriptor) {
  const int memory = memfd_create("test", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(memory, 4096), 0);
  offer_->fd = memory;
  Result<Joined> joined = Connect(key_);
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(joined.value().welcome.value[0], 42u);
  EXPECT_EQ(joined.value().connection->peer().pid, getpid());
  ASSERT_TRUE(joined.value().fd);
  EXPECT_NE(joined.value().fd.get(), memory);
  EXPECT_EQ(lseek(joined.value().fd.get(), 0, SEEK_END), 4096);
  joined.value().connection->Close();
  close(memory);
}

TEST_F(IpcServiceTest, CallsAreAnswered) {
  Result<Joined> joined = Connect(key_);
  ASSERT_TRUE(joined.ok());
  for (uint64_t i = 0; i < 100; ++i) {
    Result<Message> reply = joined.value().connection->Call({kTwice, 0, {i}}, Deadline::Never());
    ASSERT_TRUE(reply.ok());
    EXPECT_EQ(reply.value().value[1], 2 * i);
  }
  joined.value().connection->Close();
}

TEST_F(IpcServiceTest, AnUnansweredCallEndsAtItsDeadline) {
  Result<Joined> joined = Connect(key_);
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(joined.value().connection->Call({kIgnore, 0, {}}, Deadline::AfterMs(1)).status().code(), ACL_ERROR_RT_IPC_ERROR);
  EXPECT_TRUE(joined.value().connection->Call({kTwice, 0, {4}}, Deadline::Never()).ok()) << "the connection stays good";
  joined.value().connection->Close();
}

TEST_F(IpcServiceTest, MessagesCarryDescriptorsBothWays) {
  Result<Joined> joined = Connect(key_);
  ASSERT_TRUE(joined.ok());
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  EXPECT_TRUE(joined.value().connection->Post({kShout, 0, {5}}, pipes[1]));
  int returned = -1;
  EXPECT_EQ(listener_->ear.AwaitMessage(0, &returned).value[0], 5u);
  char byte = 'x';
  EXPECT_EQ(write(returned, &byte, 1), 1);
  EXPECT_EQ(read(pipes[0], &byte, 1), 1);
  joined.value().connection->Close();
  close(pipes[0]);
  close(pipes[1]);
}

TEST_F(IpcServiceTest, MoreThanASocketHoldsArrivesInOrder) {
  Result<Joined> joined = Connect(key_);
  ASSERT_TRUE(joined.ok());
  constexpr uint64_t kMany = 3000;
  for (uint64_t i = 0; i < kMany; ++i) ASSERT_TRUE(joined.value().connection->Post({kShout, 0, {i}}));
  for (uint64_t i = 0; i < kMany; ++i) ASSERT_EQ(listener_->ear.AwaitMessage(i).value[0], i);
  joined.value().connection->Close();
  offer_->ear.AwaitGoodbyes(1);
}

TEST_F(IpcServiceTest, ForgedAndWithdrawnKeysOpenNothing) {
  for (size_t word = 0; word < 3; ++word) {
    Key forged = key_;
    forged.secret[word] ^= 1;
    EXPECT_EQ(CodeOf(forged), ACL_ERROR_RT_PARAM_INVALID);
  }
  Key elsewhere = key_;
  elsewhere.service ^= 1;
  EXPECT_EQ(CodeOf(elsewhere), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(CodeOf(key_, kTestType + 1), ACL_ERROR_RT_PARAM_INVALID) << "a key of another type";
  service_->Withdraw(key_);
  EXPECT_EQ(CodeOf(key_), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(IpcServiceTest, AForgedKeyWithdrawsNothing) {
  Key forged = key_;
  forged.secret[2] ^= 1;
  service_->Withdraw(forged);
  EXPECT_EQ(CodeOf(key_), 0);
}

TEST_F(IpcServiceTest, AWithdrawnOfferServesThoseWhoWereAdmitted) {
  Result<Joined> joined = Connect(key_);
  ASSERT_TRUE(joined.ok());
  std::weak_ptr<TestOffer> offer = offer_;
  service_->Withdraw(key_);
  offer_.reset();
  EXPECT_TRUE(joined.value().connection->Call({kTwice, 0, {1}}, Deadline::Never()).ok());
  EXPECT_FALSE(offer.expired());
  joined.value().connection->Close();
  while (!offer.expired()) sched_yield();
}

TEST_F(IpcServiceTest, ALeavingImporterIsToldApartFromADyingOne) {
  Result<Joined> joined = Connect(key_);
  ASSERT_TRUE(joined.ok());
  joined.value().connection->Close();
  offer_->ear.AwaitGoodbyes(1);
  EXPECT_FALSE(joined.value().connection->Post({kShout, 0, {}}));
  {
    Stranger dying(key_.service);
    dying.SayHello(key_);
    EXPECT_EQ(dying.Hear().kind, uint32_t{kWelcome});
  }
  offer_->ear.AwaitDeaths(1);
}

// Something unread in the importer's socket makes the kernel report a reset; the goodbye in front of it still counts.
TEST_F(IpcServiceTest, AGoodbyeCountsEvenWhenSomethingWasLeftUnread) {
  {
    Stranger leaving(key_.service);
    leaving.SayHello(key_);
    const Message shout{kShout, 0, {}};
    leaving.Say(&shout, sizeof(shout));
    offer_->ear.AwaitMessage(0);  // its answers lie in the stranger's socket
    const Message goodbye{kGoodbye, 0, {}};
    leaving.Say(&goodbye, sizeof(goodbye));
  }
  offer_->ear.AwaitGoodbyes(1);
}

TEST_F(IpcServiceTest, GarbageIsHungUpOn) {
  const char noise[200] = "noise";
  for (size_t size : {size_t{1}, sizeof(Message) - 1, sizeof(Message), sizeof(Message) + 1, sizeof(noise)}) {
    Stranger stranger(key_.service);
    stranger.Say(noise, size);
    EXPECT_EQ(stranger.Hear().kind, 0u) << size;
  }
  Stranger newer(key_.service);
  newer.SayHello(key_, kProtocol + 1);
  EXPECT_EQ(newer.Hear().kind, 0u);
  for (size_t size : {size_t{3}, sizeof(noise)}) {
    Stranger admitted(key_.service);
    admitted.SayHello(key_);
    EXPECT_EQ(admitted.Hear().kind, uint32_t{kWelcome});
    admitted.Say(noise, size);
    EXPECT_EQ(admitted.Hear().kind, 0u) << size;
  }
  offer_->ear.AwaitDeaths(2);
  EXPECT_EQ(CodeOf(key_), 0) << "the service goes on";
}

TEST_F(IpcServiceTest, ASecondHelloIsNonsense) {
  Stranger stranger(key_.service);
  stranger.SayHello(key_);
  EXPECT_EQ(stranger.Hear().kind, uint32_t{kWelcome});
  stranger.SayHello(key_);
  EXPECT_EQ(stranger.Hear().kind, 0u);
}

TEST_F(IpcServiceTest, SilentPeersHoldUpNobodyAndAreBounded) {
  std::deque<Stranger> silent;
  for (int i = 0; i < 80; ++i) ASSERT_TRUE(silent.emplace_back(key_.service).connected());
  EXPECT_EQ(CodeOf(key_), 0);
  EXPECT_EQ(silent.front().Hear().kind, 0u) << "the oldest has to make room";
  silent.back().SayHello(key_);
  EXPECT_EQ(silent.back().Hear().kind, uint32_t{kWelcome}) << "a late hello is a hello";
}

// Runs in a forked child: system calls only.
int SayAs(uid_t uid, const Key& key) {
  if (seteuid(uid) != 0) return 77;
  Stranger stranger(key.service);
  stranger.SayHello(key);
  return stranger.Hear().kind == 0 ? 0 : 1;
}

TEST_F(IpcServiceTest, AnotherUserIsNotEvenAnswered) {
  offer_->AdmitEverybody();
  const pid_t child = fork();
  if (child == 0) _exit(SayAs(65534, key_));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "needs root";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// What another process is told: its kind of answer.
int AskFromChild(const Key& key) {
  const pid_t child = fork();
  if (child == 0) {
    Stranger stranger(key.service);
    stranger.SayHello(key);
    const Message answer = stranger.Hear();
    _exit(answer.kind == kRefused ? 100 + static_cast<int>(answer.value[0]) : static_cast<int>(answer.kind));
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WEXITSTATUS(status);
}

TEST_F(IpcServiceTest, OnlyListedProcessesAreAdmittedUnlessTheListIsOff) {
  EXPECT_EQ(AskFromChild(key_), 100 + static_cast<int>(kNotListed));
  const int32_t others[] = {1, getpid() + 100000};
  offer_->AdmitToo(others, 2);
  EXPECT_EQ(AskFromChild(key_), 100 + static_cast<int>(kNotListed));
  EXPECT_EQ(CodeOf(key_), 0) << "the own process needs no place on the list";
  offer_->AdmitEverybody();
  EXPECT_EQ(AskFromChild(key_), static_cast<int>(kWelcome));
}

// A child that lives on must not keep the parent's connections open.
TEST_F(IpcServiceTest, AForkedChildHoldsNoneOfTheConnections) {
  Result<Joined> joined = Connect(key_);
  ASSERT_TRUE(joined.ok());
  const pid_t child = fork();
  if (child == 0) {
    char bytes[8];
    const bool closed = recv(joined.value().connection->fd_for_test(), bytes, sizeof(bytes), MSG_DONTWAIT) < 0 && errno == EBADF;
    _exit(closed ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_TRUE(joined.value().connection->Call({kTwice, 0, {1}}, Deadline::Never()).ok());
  joined.value().connection->Close();
}

TEST_F(IpcServiceTest, ManyImportsLeaveNothingBehind) {
  constexpr int kRounds = 2000;
  offer_->fd = 0;
  const auto round = [&] {
    Result<Joined> joined = Connect(key_);
    ASSERT_TRUE(joined.ok());
    joined.value().connection->Close();
  };
  round();
  DescriptorCount descriptors(service_);
  const size_t before = descriptors.Now();
  for (int i = 0; i < kRounds; ++i) round();
  offer_->ear.AwaitGoodbyes(1 + kRounds);
  EXPECT_EQ(descriptors.Now(), before);
}

}  // namespace ipc_service_test
}  // namespace ropeway_unit
