// A link that a rule of ROPEWAY_FAULTS cuts: both sides see what they see when the network breaks.
#include <gtest/gtest.h>

#include "base/faults.h"
#include "tests/hccl/link_hosts.h"

namespace link_cut_test {

using namespace link_hosts;

// The rules are the process's; a test leaves none behind.
struct Rules {
  explicit Rules(const char* rules) { ropeway::SetFaults(rules); }
  ~Rules() { ropeway::SetFaults(""); }
};

struct Scene {
  Scene() : pair(LinkKind::kTcp, 0, 1), memory(1 << 16), source(1 << 16, 's') {
    pair.there->Expose(1, {memory.data(), memory.size()});
    pair.here->Expose(2, {source.data(), source.size()});
  }
  TransferEnd Put(size_t size) { return Move(*pair.here, true, {{source.data(), 1, 0, size}}); }
  TransferEnd Get(size_t size) { return Move(*pair.here, false, {{source.data(), 1, 0, size}}); }

  Pair pair;
  std::vector<char> memory, source;
};

TEST(LinkCut, EndsTheTransferAndAllLaterOnes) {
  const Rules rules("*:cut:nth=2");
  Scene scene;
  EXPECT_EQ(scene.Put(64).code, HCCL_SUCCESS);
  const TransferEnd end = scene.Put(64);
  EXPECT_EQ(end.code, HCCL_E_TCP_TRANSFER);
  EXPECT_NE(end.text.find("'*:cut:nth=2'"), std::string::npos) << end.text;
  EXPECT_EQ(scene.Put(64).code, HCCL_E_TCP_TRANSFER);
  EXPECT_EQ(scene.Get(64).code, HCCL_E_TCP_TRANSFER);
}

TEST(LinkCut, TheOtherSideSeesABrokenLinkAndNoFarewell) {
  const Rules rules("get:cut");
  Scene scene;
  ASSERT_EQ(scene.Put(64).code, HCCL_SUCCESS);  // they have met
  EXPECT_EQ(scene.Get(64).code, HCCL_E_TCP_TRANSFER);
  EXPECT_EQ(Move(*scene.pair.there, true, {{scene.memory.data(), 2, 0, 64}}).code, HCCL_E_TCP_TRANSFER);
}

TEST(LinkCut, DirectionSizeAndPeerSelect) {
  const Rules rules("put:cut:size=1KiB;*:cut:peer=7");
  Scene scene;
  EXPECT_EQ(scene.Get(4096).code, HCCL_SUCCESS);
  EXPECT_EQ(scene.Put(1023).code, HCCL_SUCCESS);
  EXPECT_EQ(scene.Put(1024).code, HCCL_E_TCP_TRANSFER);
}

}  // namespace link_cut_test
