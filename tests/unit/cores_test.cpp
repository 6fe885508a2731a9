// Cores that may be used: what control groups of both versions grant, and lists of cores and nodes.
#include "base/cores.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ropeway {
namespace cores_test {

// A folder with files, gone in the end.
class Folder {
 public:
  Folder() {
    std::string name = "/tmp/ropeway-cores-XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path(path_ + "/" + file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(CoresTest, AGroupOfVersion2GrantsAShareOfAPeriod) {
  const Folder root;
  root.Write("a/b/cpu.max", "150000 100000\n");
  EXPECT_EQ(CpuQuota("0::/a/b\n", root.path()), 1.5);
  EXPECT_EQ(CpuQuota("0::/a\n", root.path()), std::nullopt);
  EXPECT_EQ(CpuQuota("0::/\n", root.path()), std::nullopt);
}

TEST(CoresTest, TheSmallestLimitOnTheWayUpHolds) {
  const Folder root;
  root.Write("cpu.max", "max 100000\n");
  root.Write("a/cpu.max", "200000 100000\n");
  root.Write("a/b/cpu.max", "800000 100000\n");
  root.Write("a/b/c/cpu.max", "max 100000\n");
  EXPECT_EQ(CpuQuota("0::/a/b/c\n", root.path()), 2.0);
  root.Write("cpu.max", "50000 100000\n");
  EXPECT_EQ(CpuQuota("0::/a/b/c\n", root.path()), 0.5);
}

TEST(CoresTest, AGroupOfVersion1HasTwoFiles) {
  const Folder root;
  root.Write("cpu/docker/cpu.cfs_quota_us", "300000\n");
  root.Write("cpu/docker/cpu.cfs_period_us", "100000\n");
  root.Write("cpu/free/cpu.cfs_quota_us", "-1\n");
  root.Write("cpu/free/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(CpuQuota("5:memory:/docker\n4:cpu,cpuacct:/docker\n0::/\n", root.path()), 3.0);
  EXPECT_EQ(CpuQuota("4:cpuacct,cpu:/docker\n", root.path()), 3.0);
  EXPECT_EQ(CpuQuota("4:cpu,cpuacct:/free\n", root.path()), std::nullopt);
  EXPECT_EQ(CpuQuota("4:cpuset:/docker\n", root.path()), std::nullopt);
}

TEST(CoresTest, NonsenseIsNoLimit) {
  const Folder root;
  root.Write("a/cpu.max", "lots\n");
  root.Write("b/cpu.max", "100000 0\n");
  for (const char* text : {"", "\n", "0:", "0::", "0::/a\n", "0::/b\n", "0::/none\n", "no colons"})
    EXPECT_EQ(CpuQuota(text, root.path()), std::nullopt) << text;
}

TEST(CoresTest, ListsOfCores) {
  const auto count = [](const char* list) {
    const cpu_set_t cores = CoresInList(list);
    return CPU_COUNT(&cores);
  };
  EXPECT_EQ(count("0"), 1);
  EXPECT_EQ(count("0-3"), 4);
  EXPECT_EQ(count("0-1,8-9,11\n"), 5);
  EXPECT_EQ(count(""), 0);
  EXPECT_EQ(count("3-1"), 0);
  EXPECT_EQ(count("x"), 0);
  EXPECT_EQ(count("0-99999999"), CPU_SETSIZE);
}

TEST(CoresTest, CoresOnOneNodeNeedNoCare) {
  const Folder nodes;
  EXPECT_FALSE(CoresOfThisNode(nodes.path()).has_value());
  nodes.Write("online", "0\n");
  nodes.Write("node0/cpulist", "0-1023\n");
  EXPECT_FALSE(CoresOfThisNode(nodes.path()).has_value());
}

// Two nodes, and this thread on the one or the other: whichever it is, the other's cores are left out.
TEST(CoresTest, OfSeveralNodesTheOwnIsTaken) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "one core only";
  const int here = sched_getcpu();
  cpu_set_t only = CoresInList(std::to_string(here));
  ASSERT_EQ(sched_setaffinity(0, sizeof(only), &only), 0);  // not to be moved between the looks
  ASSERT_EQ(sched_setaffinity(0, sizeof(allowed), &allowed), 0);
  const Folder nodes;
  nodes.Write("online", "0-1\n");
  for (int node : {0, 1}) {
    std::string own, other;
    for (size_t core = 0; core < CPU_SETSIZE; ++core) (core % 2 == 0 ? own : other) += std::to_string(core) + ",";
    nodes.Write("node0/cpulist", node == 0 ? own : other);
    nodes.Write("node1/cpulist", node == 0 ? other : own);
    const auto cores = CoresOfThisNode(nodes.path());
    ASSERT_TRUE(cores.has_value());
    cpu_set_t taken = *cores;
    EXPECT_LT(CPU_COUNT(&taken), CPU_COUNT(&allowed));
    EXPECT_GE(CPU_COUNT(&taken), 1);
  }
}

TEST(CoresTest, ThereIsAtLeastOne) {
  EXPECT_GE(UsableCores(), 1);
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  EXPECT_LE(UsableCores(), CPU_COUNT(&allowed));
}

}  // namespace cores_test
}  // namespace ropeway
