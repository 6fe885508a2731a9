// Every setting of Ropeway, declared once. From this table values are read and checked, wrong ones are explained, `ropeway doctor` and
// `ropeway exec` get their words (ropewayGetSetting), and docs/config.md its lines (tools/settings_page.py).
//
// settings.cpp is the one file of src/ that reads the environment; tools/check_layers.py sees to that.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ropeway {

inline constexpr int kMaxDevices = 64;

// What a value may be.
struct SettingValues {
  enum Kind {
    kNumber,   // whole, from low to high
    kSeconds,  // the same, with or without a fraction
    kBytes,    // the same, as 64GiB, 512M or 1073741824
    kSwitch,   // 1, on, true, yes; 0, off, false, no or nothing
    kWords,    // one of those in `placeholder`; behind a colon any whole number
    kName,     // any text but none
    kText,     // any text
    kFaults,   // rules of fault_rules.h
  };
  Kind kind;
  const char* placeholder;  // for a value in help texts: "N", "auto|cpu|cuda"; "" for a switch
  double low = 0;
  double high = 0;
};

struct Setting {
  const char* variable;
  const char* stand_in;  // the variable that holds where that one is not set, or cannot be used; null for none
  const char* library;   // which reads it
  SettingValues values;
  const char* standard;  // what holds without it; behind a comma, what else may. Empty: nothing
  const char* meaning;
  const char* page = nullptr;  // of docs/ that says more
  bool secret = false;         // not to be printed
};

namespace settings_table {

inline constexpr const char* kRuntime = "libascendcl.so";
inline constexpr const char* kRanks = "libhccl.so";
inline constexpr const char* kTransfer = "libcann_hixl.so";
inline constexpr const char* kPython = "the module acl";
inline constexpr SettingValues kSwitch{SettingValues::kSwitch, ""}, kName{SettingValues::kName, "NAME"};
inline constexpr SettingValues kDeviceMemory{SettingValues::kBytes, "SIZE", double{1 << 21}, double{1ull << 40}};
constexpr SettingValues Number(double low, double high) { return {SettingValues::kNumber, "N", low, high}; }
constexpr SettingValues Seconds(double low) { return {SettingValues::kSeconds, "SECONDS", low, 1e9}; }
constexpr SettingValues Words(const char* words) { return {SettingValues::kWords, words}; }
inline constexpr SettingValues kFaults{SettingValues::kFaults, "RULES"};
constexpr SettingValues Text(const char* what) { return {SettingValues::kText, what}; }

}  // namespace settings_table

inline constexpr auto kSettings = [] {
  using namespace settings_table;
  return std::to_array<Setting>({
      {"ROPEWAY_ENGINE", nullptr, kRuntime, Words("auto|cpu|cuda"), "auto",
       "what moves the bytes: cpu, cuda (an error where no GPU answers), or auto, a GPU where one answers", "cuda.md"},
      {"ROPEWAY_DEVICES", nullptr, kRuntime, Number(1, kMaxDevices), "8, or as many as there are GPUs",
       "devices of the machine; more than there are GPUs share them"},
      {"ROPEWAY_DEVICE_MEMORY", nullptr, kRuntime, kDeviceMemory, "64GiB, or its share of the GPU's",
       "memory of each device, committed when touched", "tools.md"},
      {"ROPEWAY_SOC", "SOC_VERSION", kRuntime, kName, "Ascend910B1", "the product, and the name that aclrtGetSocName answers",
       "products.md"},
      {"ROPEWAY_LANES", nullptr, kRuntime, Number(1, 64), "as many as move more bytes here",
       "worker threads of the CPU engine; at most one per core that the process may use, unless it is set", "lanes.md"},
      {"ROPEWAY_COPY_METHOD", nullptr, kRuntime, Words("auto|avx512|avx2|sse2|rep_movsb|neon|libc"), "auto",
       "how the CPU engine copies; auto: as the table of CPUs has it, or what ropeway tune measured", "performance.md"},
      {"ROPEWAY_CUDA_CTAS", nullptr, kRuntime, Number(1, 1024), "16", "blocks of threads that a batch takes from a GPU", "cuda.md"},
      {"ROPEWAY_HOST_ACCESS", nullptr, kRuntime, kSwitch, "0", "let host code read and write device addresses", "memory.md"},
      {"ROPEWAY_STRICT_ALIGNMENT", nullptr, kRuntime, kSwitch, "0",
       "refuse asynchronous copies and items of batches (107000) unless both addresses are 64-byte aligned"},
      {"ROPEWAY_SCHEDULE", nullptr, kRuntime, Words("fast|earliest|latest|random:SEED"), "fast", "when tasks run", "lanes.md"},
      {"ROPEWAY_TRACE", nullptr, kRuntime, Text("FILE"), "",
       "the file to which a trace of every task is written; %p, %r and %h in it stand for process, rank and host", "trace.md"},
      {"ROPEWAY_FAULTS", nullptr, kRuntime, kFaults, "", "what shall go wrong: calls, tasks, memory, devices and links", "faults.md"},
      {"ROPEWAY_LOG_LEVEL", "ASCEND_GLOBAL_LOG_LEVEL", kRuntime, Number(0, 4), "3", "0 debug, 1 info, 2 warning, 3 error, 4 nothing"},
      {"ASCEND_SLOG_PRINT_TO_STDOUT", nullptr, kRuntime, kSwitch, "0", "send the log to stdout, not to stderr"},
      {"ASCEND_RT_VISIBLE_DEVICES", nullptr, kRuntime, Text("LIST"), "",
       "ids of the devices that exist for the process, rising, between commas; the list ends at the first that is no id of a device"},
      {"ASCEND_HOME_PATH", nullptr, kRuntime, Text("FOLDER"), "", "where version queries look, at each call"},
      {"PROFILING_MODE", nullptr, kRuntime, Text("MODE"), "", "dynamic: aclprofInit refuses (200006), for a command is to profile",
       "profiling.md"},
      {"ROPEWAY_PYTHON_EXTENSIONS", nullptr, kPython, Words("0|1"), "1", "0: the module acl has the documented functions only", "pyacl.md"},
      {"HCCL_OP_EXPANSION_MODE", nullptr, kRanks, Text("MODE"), "", "HOST_TS: dispatchers made from now on record no subgraphs", "hccl.md"},
      {"HCCL_DETERMINISTIC", nullptr, kRanks, Words("false|true|strict"), "",
       "what HcclGetConfig answers: 0, 1 or 2; HcclSetConfig does not change it", "collectives.md"},
      {"HCCL_CONNECT_TIMEOUT", nullptr, kRanks, Seconds(0.001), "120",
       "how long ranks wait for each other when a communicator is made, and for a control channel", "ranks.md"},
      {"HCCL_EXEC_TIMEOUT", nullptr, kRanks, Seconds(0), "1836", "how long a send, receive or barrier waits for the others; 0: for ever",
       "ranks.md"},
      {"HCCL_IF_IP", nullptr, kRanks, Text("ADDRESS"), "",
       "the address that a rank offers to the others; calls fail where it is not numeric", "ranks.md"},
      {"HCCL_SOCKET_IFNAME", nullptr, kRanks, Text("NAMES"), "",
       "the interfaces whose addresses a rank may offer; calls fail where none fits", "ranks.md"},
      {"HCCL_IF_BASE_PORT", nullptr, kRanks, Number(1024, 65520), "any free port",
       "the first of 16 ports; a process listens at the first of them that is free, and nowhere else but where a rank table says so",
       "ranks.md"},
      {"HCCL_RDMA_TIMEOUT", nullptr, kRanks, Number(5, 24), "20",
       "how long a peer on another host may be silent with work pending: 4.096 us * 2^this * (HCCL_RDMA_RETRY_CNT + 1)", "ranks.md"},
      {"HCCL_RDMA_RETRY_CNT", nullptr, kRanks, Number(1, 7), "7", "see HCCL_RDMA_TIMEOUT", "ranks.md"},
      {"HCCL_INTRA_ROCE_ENABLE", nullptr, kRanks, Words("0|1"), "0", "1: ranks of one host use the network as well", "one_sided.md"},
      {"ROPEWAY_HCCL_LINK", nullptr, kRanks, Words("tcp|ucx"), "tcp",
       "what moves bytes between hosts: tcp, or ucx where a network that is trusted has RDMA; the same for all ranks", "one_sided.md"},
      {"ROPEWAY_HCCL_SECRET", nullptr, kRanks, Text("TEXT"), "", "what only the ranks know, for communicators by rank table", "ranks.md",
       true},
      {"ROPEWAY_HCCL_TLS", nullptr, kRanks, Words("0|1"), "0",
       "1: everything that goes between ranks over TCP is encrypted (TLS 1.3); the same for all ranks", "security.md"},
      {"ROPEWAY_HCCL_LINK_TIMEOUT", nullptr, kRanks, Number(1, 3600), "15", "seconds after which a silent link counts as cut", "ranks.md"},
      {"ROPEWAY_HIXL_SECRET", nullptr, kTransfer, Text("TEXT"), "",
       "what only the engines know; without it they accept processes of the same user on the same host alone", "security.md", true},
  });
}();

// A row by its variable; one that the table does not have does not compile.
class SettingName {
 public:
  consteval SettingName(const char* variable) : row_(0) {
    while (std::string_view(kSettings.at(row_).variable) != variable) ++row_;
  }
  const Setting& operator*() const { return kSettings[row_]; }

 private:
  size_t row_;
};

// What a value must be, for people: "a number from 1 to 64".
std::string Wanted(const Setting& setting);
bool Usable(const Setting& setting, std::string_view value);

// What a variable says; null when it is not set. Null for a lookup is the environment, and there a value that cannot be used is said on
// stderr, once, whatever the log level is.
using Lookup = const char* (*)(const char* variable);

// The first value that can be used, of the variable and of its stand-in.
std::optional<std::string> GivenSetting(SettingName name, Lookup lookup = nullptr);
// The same, or the standard.
std::string SettingText(SettingName name, Lookup lookup = nullptr);
// The same of numbers, seconds, bytes and switches; 0 when the standard is not a number.
double SettingNumber(SettingName name, Lookup lookup = nullptr);

// What is wrong with the values of a setting, one line each.
std::vector<std::string> Complaints(const Setting& setting, Lookup lookup);

// A variable that is another's (UCX, the loader): ours to look at, with no range of ours.
const char* ForeignVariable(const char* variable);

// Where the user's programs keep their settings (XDG_CONFIG_HOME, else .config at home); empty: nowhere.
std::string UserConfigFolder();

}  // namespace ropeway
