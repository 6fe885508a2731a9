// `ropeway doctor`: what this machine offers and what is in force, one line each, with a next step where something is
// wrong.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cli/acl_objects.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/json_rows.h"
#include "cli/machine.h"
#include "cli/opencl_peer.h"
#include "cli/settings.h"
#include "cli/table.h"
#include "cli/tree.h"

extern char** environ;

namespace ropeway::cli {
namespace {

enum class Health { kOk, kNote, kProblem };

// Collects the lines; a next step goes under its line when it is printed.
class Findings {
 public:
  void Add(Health health, std::string subject, std::string finding, std::string next_step = "") {
    lines_.push_back({health, std::move(subject), std::move(finding), std::move(next_step)});
  }
  void Ok(std::string subject, std::string finding) { Add(Health::kOk, std::move(subject), std::move(finding)); }

  size_t problems() const {
    return static_cast<size_t>(
        std::count_if(lines_.begin(), lines_.end(), [](const Line& line) { return line.health == Health::kProblem; }));
  }

  void Print() const {
    Table table({{""}, {""}, {""}});
    for (const Line& line : lines_) {
      table.AddRow({Word(line.health), line.subject, line.finding});
      if (!line.next_step.empty()) table.AddRow({"", "", "-> " + line.next_step});
    }
    table.Print(stdout);
    std::printf(problems() == 0 ? "\nno problems found\n" : "\n%zu problem%s found\n", problems(), problems() == 1 ? "" : "s");
  }

  void PrintAsJson() const {
    std::vector<JsonRow> rows;
    for (const Line& line : lines_)
      rows.push_back({{"health", Word(line.health)}, {"subject", line.subject}, {"finding", line.finding}, {"next_step", line.next_step}});
    PrintJson({{"problems", uint64_t{problems()}}}, {{"findings", rows}});
  }

 private:
  struct Line {
    Health health;
    std::string subject;
    std::string finding;
    std::string next_step;
  };

  static const char* Word(Health health) { return health == Health::kOk ? "ok" : health == Health::kNote ? "note" : "problem"; }

  std::vector<Line> lines_;
};

// The library's messages have several lines; a finding has one.
std::string OneLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string Limit(rlim_t value) { return value == RLIM_INFINITY ? "unlimited" : FormatBytes(value); }

void LookAtProcessor(Findings& findings) {
  const std::string features = CpuFeatures();
  const bool fast = features.find("avx2") != std::string::npos || features.find("neon") != std::string::npos;
  findings.Add(fast ? Health::kOk : Health::kNote, "processor", CpuModel() + (features.empty() ? "" : " (" + features + ")"),
               fast ? "" : "no AVX2: large copies go at the speed of libc's memcpy");
  const int cores = CoresAllowed();
  findings.Add(cores > 1 ? Health::kOk : Health::kNote, "cores", Format("%d for this process", cores),
               cores > 1 ? "" : "one core: copies and the program take turns");
  if (const std::optional<double> quota = CpuQuota()) {
    findings.Add(*quota >= cores ? Health::kOk : Health::kNote, "CPU quota", Format("%.1f cores' worth of time", *quota),
                 *quota >= cores ? "" : "a control group throttles: there are no more lanes than that");
  }
  findings.Ok("cache", LastLevelCache().empty() ? "unknown" : LastLevelCache() + " last level");
}

void LookAtPages(Findings& findings) {
  const std::string pages = ChosenOption(ReadLine("/sys/kernel/mm/transparent_hugepage/enabled").value_or("not there"));
  const bool huge = pages == "always" || pages == "madvise";
  findings.Add(huge ? Health::kOk : Health::kNote, "huge pages", pages,
               huge ? "" : "scattered copies gain from: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
  const std::string overcommit = ReadLine("/proc/sys/vm/overcommit_memory").value_or("unknown");
  findings.Add(overcommit == "2" ? Health::kProblem : Health::kOk, "overcommit", overcommit,
               overcommit == "2" ? "strict accounting refuses memory that is not touched yet: sysctl vm.overcommit_memory=0, or a "
                                   "smaller ROPEWAY_DEVICE_MEMORY"
                                 : "");
  const size_t available = MemoryInfo("MemAvailable").value_or(0);
  findings.Ok("memory", FormatBytes(MemoryInfo("MemTotal").value_or(0)) + ", " + FormatBytes(available) + " available");
}

void LookAtMapCount(Findings& findings) {
  const size_t allowed = std::strtoul(ReadLine("/proc/sys/vm/max_map_count").value_or("0").c_str(), nullptr, 10);
  std::ifstream maps("/proc/self/maps");
  size_t used = 0;
  for (std::string line; std::getline(maps, line);) ++used;
  const bool enough = allowed >= 65530;
  findings.Add(enough ? Health::kOk : Health::kNote, "mappings", Format("%zu allowed, %zu in use", allowed, used),
               enough ? "" : "programs with many blocks need more: sysctl vm.max_map_count=262144");
}

void LookAtLimits(Findings& findings) {
  rlimit limit = {};
  getrlimit(RLIMIT_MEMLOCK, &limit);
  findings.Ok("locked memory", Limit(limit.rlim_cur));
  getrlimit(RLIMIT_AS, &limit);
  findings.Ok("address space", Limit(limit.rlim_cur));
}

// What ranks on other hosts are reached over.
void LookAtNetwork(Findings& findings) {
  const std::string devices = RdmaDevices();
  if (devices.empty()) return findings.Ok("RDMA", "no devices: ranks on other hosts are reached over TCP");
  const char* link = std::getenv("ROPEWAY_HCCL_LINK");
  const bool used = link != nullptr && std::strcmp(link, "ucx") == 0;
  findings.Add(used ? Health::kOk : Health::kNote, "RDMA", devices,
               used ? "" : "on a network that is trusted, ranks on other hosts are reached over them with ROPEWAY_HCCL_LINK=ucx");
}

// What moves the bytes on the CPU, and who says so.
void LookAtCopies(Findings& findings) {
  const std::string profile = ropewayGetCopyProfile();
  const bool ignored = profile.find("is ignored: ") != std::string::npos || profile.find("cannot be used: ") != std::string::npos;
  const bool known = profile.find("is not known") == std::string::npos;
  findings.Add(ignored || !known ? Health::kNote : Health::kOk, "copies", profile, known ? "" : "measure this machine: ropeway tune");
}

// What the devices of this process got of them.
void LookAtAddresses(Findings& findings) {
  const std::string reason = ropewayGetAddressReason();
  const bool scarce = reason.find("scarce") != std::string::npos;
  findings.Add(scarce ? Health::kNote : Health::kOk, "addresses", reason,
               scarce ? "devices reserve their whole memory as addresses: fewer or smaller ones (ROPEWAY_DEVICES, ROPEWAY_DEVICE_MEMORY), "
                        "or a higher limit (ulimit -v)"
                      : "");
}

void LookAtTree(Findings& findings) {
  const Tree tree = FindTree();
  findings.Ok("library", LibraryInUse() + ", version " + ropewayGetVersion());
  if (tree.complete) {
    findings.Ok("tree", tree.root);
  } else {
    findings.Add(Health::kNote, "tree", tree.root + " is not a drop-in tree",
                 "programs are built against an installed tree: run its bin/ropeway");
  }
  const char* home = std::getenv("ASCEND_HOME_PATH");
  if (home != nullptr && tree.complete && tree.root != home)
    findings.Add(Health::kNote, "builds", std::string("go to ") + home, "for this tree: eval \"$(" + tree.root + "/bin/ropeway env)\"");
}

void LookAtSettings(Findings& findings) {
  for (const ropewaySetting& setting : Settings()) {
    const char* value = std::getenv(setting.variable);
    const std::string standard = *setting.standard == '\0' ? "not set" : std::string(setting.standard) + "  (built in)";
    const std::string shown = value == nullptr ? "" : std::string(setting.secret != 0 ? "set" : value) + "  (environment";
    if (value == nullptr)
      findings.Ok(setting.variable, setting.standsFor == nullptr ? standard : std::string("not set; stands in for ") + setting.standsFor);
    else if (Usable(setting, value))
      findings.Ok(setting.variable, shown + ")");
    else
      findings.Add(Health::kProblem, setting.variable, shown + ", ignored)", std::string(setting.wanted) + " is wanted");
  }
}

// The library has not started yet, and this process is not what the user wants a trace of, or to see fail.
void StandAside() {
  unsetenv("ROPEWAY_TRACE");
  const char* const faults = std::getenv("ROPEWAY_FAULTS");
  if (faults != nullptr && Usable(*FindSetting("ROPEWAY_FAULTS"), faults)) unsetenv("ROPEWAY_FAULTS");  // else the library says why not
}

void LookForTypos(Findings& findings) {
  const std::string prefix = "ROPEWAY_";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable(*entry, std::strcspn(*entry, "="));
    if (variable.compare(0, prefix.size(), prefix) != 0 || FindSetting(variable) != nullptr) continue;
    findings.Add(Health::kProblem, variable, "no such setting", "see ropeway exec --help for the names");
  }
}

bool LookAtEngine(Findings& findings) {
  const bool there = std::strcmp(ropewayGetEngineName(), "none") != 0;
  findings.Add(there ? Health::kOk : Health::kProblem, "engine", ropewayGetEngineReason(),
               there ? "" : "every call that needs a device fails; ROPEWAY_ENGINE=auto takes the CPU where no GPU answers");
  return there;
}

// The library reads the list up to the first entry that is no id of a device.
void LookAtVisibility(Findings& findings, uint32_t visible) {
  const char* list = std::getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (list == nullptr) return;
  const auto entries = std::count(list, list + std::strlen(list), ',') + 1;
  if (entries == visible) return;
  findings.Add(Health::kProblem, "visible devices",
               Format("entries from number %u of ASCEND_RT_VISIBLE_DEVICES on are ignored", visible + 1),
               "rising numbers below ROPEWAY_DEVICES are wanted, separated by commas");
}

// Memory is committed when it is touched, so devices may have more than there is; who fills them is in trouble.
void LookAtPromise(Findings& findings, uint32_t count) {
  int64_t each = 0;
  const size_t there = std::min(MemoryInfo("MemTotal").value_or(SIZE_MAX), MemoryLimit().value_or(SIZE_MAX));
  if (std::strcmp(ropewayGetEngineName(), "cpu") != 0) return;
  if (aclrtGetDeviceInfo(0, ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE, &each) != ACL_SUCCESS) return;
  const size_t promised = static_cast<size_t>(each) * count;
  if (promised <= there) return findings.Ok("device memory", FormatBytes(promised) + " in all");
  findings.Add(Health::kNote, "device memory", FormatBytes(promised) + " in all, more than the " + FormatBytes(there) + " that there are",
               "a program that fills it is ended by the system: ROPEWAY_DEVICE_MEMORY and ROPEWAY_DEVICES make it less");
}

void LookAtDevices(Findings& findings) {
  if (!LookAtEngine(findings)) return;
  uint32_t count = 0;
  const aclError counted = aclrtGetDeviceCount(&count);
  if (counted != ACL_SUCCESS) {
    findings.Add(Health::kProblem, "devices", Format("aclrtGetDeviceCount returned %d", counted),
                 "look at ASCEND_RT_VISIBLE_DEVICES: rising numbers below ROPEWAY_DEVICES, separated by commas");
    return;
  }
  const char* soc = aclrtGetSocName();
  LookAtVisibility(findings, count);
  LookAtPromise(findings, count);
  findings.Ok("devices", Format("%u x %s, engine %s", count, soc == nullptr ? "?" : soc, ropewayGetEngineName()));
  for (uint32_t id = 0; id < count; ++id) {
    const std::string subject = Format("device %u", id);
    try {
      DeviceScope device(static_cast<int32_t>(id));
      size_t free_bytes = 0;
      size_t total_bytes = 0;
      RW_ACL(aclrtGetMemInfo(ACL_HBM_MEM, &free_bytes, &total_bytes));
      findings.Ok(subject, FormatBytes(total_bytes) + ", " + FormatBytes(free_bytes) + " free");
    } catch (const AclFailure& failure) {
      findings.Add(Health::kProblem, subject, OneLine(failure.what()), "fewer or smaller devices: ROPEWAY_DEVICES, ROPEWAY_DEVICE_MEMORY");
    }
  }
}

// The proof of the pudding: bytes to the device and back through a stream.
void TryCopy(Findings& findings) {
  if (std::strcmp(ropewayGetEngineName(), "none") == 0) return;
  try {
    DeviceScope device(0);
    constexpr size_t kSize = 4096;
    PinnedBlock there(kSize);
    PinnedBlock back(kSize);
    DeviceBlock block(kSize);
    Stream stream;
    std::memset(there.data(), 0x5A, kSize);
    std::memset(back.data(), 0, kSize);
    RW_ACL(aclrtMemcpyAsync(block.data(), kSize, there.data(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream.get()));
    RW_ACL(aclrtMemcpyAsync(back.data(), kSize, block.data(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, stream.get()));
    stream.Synchronize();
    const bool same = std::memcmp(there.data(), back.data(), kSize) == 0;
    findings.Add(same ? Health::kOk : Health::kProblem, "a copy", same ? "4 KiB there and back, same bytes" : "bytes differ",
                 same ? "" : "this is a bug of Ropeway: please report it with this page");
  } catch (const AclFailure& failure) {
    findings.Add(Health::kProblem, "a copy", OneLine(failure.what()), "the lines above may tell why");
  }
}

void LookForPeer(Findings& findings) {
  rlimit addresses = {};
  getrlimit(RLIMIT_AS, &addresses);
  if (addresses.rlim_cur != RLIM_INFINITY) {
    findings.Add(Health::kNote, "bench peer", "not looked for: PoCL ends a process that has too few addresses for it");
    return;
  }
  std::string why_not;
  if (const auto peer = OpenClPeer::Open(&why_not)) {
    findings.Ok("bench peer", peer->name());
  } else {
    findings.Add(Health::kNote, "bench peer", "no PoCL: " + why_not, "only needed to compare with in ropeway bench");
  }
}

int RunDoctor(bool as_json) {
  Findings findings;
  LookAtProcessor(findings);
  findings.Ok("system", "Linux " + KernelRelease() + ", " + LibcVersion());
  LookAtPages(findings);
  LookAtMapCount(findings);
  LookAtLimits(findings);
  LookAtNetwork(findings);
  LookAtTree(findings);
  LookAtSettings(findings);
  LookForTypos(findings);
  StandAside();
  LookAtDevices(findings);
  LookAtAddresses(findings);
  LookAtCopies(findings);
  TryCopy(findings);
  LookForPeer(findings);
  as_json ? findings.PrintAsJson() : findings.Print();
  return findings.problems() == 0 ? kDone : kFound;
}

}  // namespace

void AddDoctor(CLI::App& app, int* status) {
  CLI::App* command = app.add_subcommand("doctor", "tell what this machine offers and which settings are in force");
  auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json, "for machines");
  command->callback([as_json, status] { *status = RunDoctor(*as_json); });
}

}  // namespace ropeway::cli
