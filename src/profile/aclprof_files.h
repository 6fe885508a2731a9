// What aclprof leaves: a folder PROF_... with tables of what happened, as text (docs/profiling.md has the columns).
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "profile/activity.h"

namespace ropeway {

// What is told of, by bit of the program's mask.
struct AclprofTables {
  bool calls = false;
  bool tasks = false;
  bool blocks = false;
  bool communications = false;
  bool marks = false;
  bool steps = false;
};

// The domain of marks that are steps.
inline constexpr char kStepDomain[] = "step";

class AclprofFiles {
 public:
  // Makes the folder, and those of `path` that are missing. Null with errno where it cannot be written.
  static std::unique_ptr<AclprofFiles> Create(const std::string& path, const std::set<int>& devices, const AclprofTables& tables,
                                              uint64_t mask);
  // From now on every device gets its folder when something happens on it.
  void TakeAllDevices() { all_devices_ = true; }
  AclprofFiles(const AclprofFiles&) = delete;
  AclprofFiles& operator=(const AclprofFiles&) = delete;

  void Write(const Activity& activity);
  void CountLost(uint64_t lost) { lost_ += lost; }
  // Nothing more of this device.
  void Close(int device) { devices_.erase(device); }
  void Complete() { WriteInfo("complete"); }

 private:
  struct CloseFile {
    void operator()(FILE* file) const { fclose(file); }
  };
  using File = std::unique_ptr<FILE, CloseFile>;
  struct DeviceFiles {
    File tasks, blocks, marks, communications;
  };
  AclprofFiles() = default;
  bool Open(const std::string& name, const char* columns, File* file) const;
  bool OpenAll(const std::set<int>& devices);
  bool OpenDevice(int device);
  void WriteInfo(const char* state);
  void WriteCall(const Activity& call);
  void WriteTask(const Activity& task);
  void WriteCommunication(const Activity& task);
  void WriteBlock(const Activity& block);
  void WriteMark(const Activity& mark);
  DeviceFiles* Of(int device);

  std::string folder_;
  AclprofTables tables_;
  uint64_t mask_ = 0;
  bool all_devices_ = false;
  uint64_t lost_ = 0;
  File calls_, marks_;
  std::map<int, DeviceFiles> devices_;
};

}  // namespace ropeway
