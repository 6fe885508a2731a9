// What the machine under us is and allows, read from /proc, /sys and the usual limits.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace ropeway::cli {

// The file's first line without the line end; nothing when it cannot be read.
std::optional<std::string> ReadLine(const std::string& path);

std::string CpuModel();
std::string CpuFeatures();                            // the ones that matter for copying: "avx2 avx512f", "neon"; empty when none
int CoresAllowed();                                   // cores this process may run on
std::optional<double> CpuQuota();                     // cores' worth of time that a control group grants; nothing when unlimited
double CoresBusy();                                   // cores' worth of time that the machine is using, looked at for a moment
std::string LastLevelCache();                         // "32 MiB"; empty when unknown
std::string RdmaDevices();                            // "mlx5_0 mlx5_1"; empty when there are none
std::string KernelRelease();                          // "6.1.0-18-amd64"
std::string LibcVersion();                            // "glibc 2.36"
std::string ChosenOption(const std::string& line);    // "madvise" of "always [madvise] never"
std::optional<size_t> MemoryLimit();                  // bytes that a control group grants; nothing when unlimited
std::optional<size_t> MemoryInfo(const char* field);  // bytes of a /proc/meminfo field, such as "MemAvailable"

}  // namespace ropeway::cli
