#include "engine/numa.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdio>

namespace ropeway {
namespace {

constexpr int kMostNodes = 1024;
constexpr int kWordBits = sizeof(unsigned long) * CHAR_BIT;

bool IsListed(int node) {
  char path[64];
  snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", node);
  return access(path, F_OK) == 0;
}

// A machine that lists no nodes has one.
bool HasOneNode() {
  for (int node = 1; node < kMostNodes; ++node) {
    if (IsListed(node)) return false;
  }
  return true;
}

}  // namespace

bool NumaNodeExists(int node) { return node >= 0 && node < kMostNodes && (node == 0 || IsListed(node)); }

bool PreferNumaNode(const SharedPages& pages, int node) {
  if (HasOneNode()) return true;
  // The policy belongs to the pages, not to this mapping of them, and outlives it.
  void* view = mmap(nullptr, pages.size(), PROT_NONE, MAP_SHARED, pages.descriptor(), 0);
  if (view == MAP_FAILED) return false;
  unsigned long nodes[kMostNodes / kWordBits] = {};
  nodes[node / kWordBits] = 1ul << (node % kWordBits);
  const long failed = syscall(SYS_mbind, view, pages.size(), MPOL_PREFERRED, nodes, kMostNodes + 1, 0);
  munmap(view, pages.size());
  return failed == 0;
}

}  // namespace ropeway
