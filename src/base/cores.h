// How many cores this process may keep busy, and which of them are close to its memory.
#pragma once

#include <sched.h>

#include <optional>
#include <string>

namespace ropeway {

// Cores that the process is allowed on, or fewer where a control group grants less time than theirs.
int UsableCores();

// Cores' worth of time that the control groups in `membership` (the text of /proc/self/cgroup) grant; nothing when there is no limit.
// Version 1 and 2, and every group above: the smallest limit holds. `root` is where they are mounted.
std::optional<double> CpuQuota(const std::string& membership, const std::string& root);

// "0-3,8" as a set; empty when it is not such a list.
cpu_set_t CoresInList(const std::string& list);

// The allowed cores of the NUMA node on which the calling thread runs; nothing where all allowed cores are on one node. `nodes` is the
// folder that lists them.
std::optional<cpu_set_t> CoresOfThisNode(const std::string& nodes = "/sys/devices/system/node");

}  // namespace ropeway
