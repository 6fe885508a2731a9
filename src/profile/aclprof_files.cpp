#include "profile/aclprof_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstring>
#include <ctime>

#include "profile/activity_source.h"

namespace ropeway {
namespace {

bool MakeFolder(const std::string& path) { return mkdir(path.c_str(), 0750) == 0 || errno == EEXIST; }

bool MakeFolders(const std::string& path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (!MakeFolder(path.substr(0, slash))) return false;
  }
  return MakeFolder(path);
}

// PROF_<number of the start>_<local time, to the millisecond>_<process, in letters>
std::string ProfileName() {
  static std::atomic<unsigned> starts{0};
  const int64_t now = RealNs();
  const time_t seconds = now / 1000000000;
  tm local{};
  localtime_r(&seconds, &local);
  char time[32];
  strftime(time, sizeof(time), "%Y%m%d%H%M%S", &local);
  std::string letters;
  for (auto rest = static_cast<uint64_t>(getpid()) << 20 ^ static_cast<uint64_t>(now); letters.size() < 18; rest = rest * 31 + 7)
    letters += static_cast<char>('A' + (rest >> 8) % 26);
  char name[96];
  std::snprintf(name, sizeof(name), "PROF_%06u_%s%03d_%s", starts.fetch_add(1) % 1000000 + 1, time, static_cast<int>(now / 1000000 % 1000),
                letters.c_str());
  return name;
}

// As tables have it: between quotes where it has to be.
std::string Cell(const char* text) {
  if (std::strpbrk(text, ",\"\r\n") == nullptr) return text;
  std::string cell = "\"";
  for (; *text != '\0'; ++text) {
    if (*text == '"') cell += '"';
    cell += *text;
  }
  return cell + "\"";
}

const char* WayName(CopyWay way) {
  constexpr const char* kNames[] = {"", "H2H", "H2D", "D2H", "D2D"};
  return kNames[static_cast<size_t>(way)];
}

const char* MarkName(MarkKind kind) {
  constexpr const char* kNames[] = {"mark", "begin", "end"};
  return kNames[static_cast<size_t>(kind)];
}

constexpr char kCallColumns[] = "call,thread,start_ns,end_ns,code,correlation";
constexpr char kTaskColumns[] = "task,call,stream,submit_ns,start_ns,end_ns,bytes,direction,graph,code,correlation";
constexpr char kCommunicationColumns[] = "call,group,data_type,count,stream,submit_ns,start_ns,end_ns,code,correlation";
constexpr char kBlockColumns[] = "operation,address,bytes,call,start_ns,end_ns,correlation";
constexpr char kHostMarkColumns[] = "kind,text,domain,id,thread,stream,time_ns";
constexpr char kDeviceMarkColumns[] = "kind,text,domain,id,stream,time_ns";

}  // namespace

std::unique_ptr<AclprofFiles> AclprofFiles::Create(const std::string& path, const std::set<int>& devices, const AclprofTables& tables,
                                                   uint64_t mask) {
  std::unique_ptr<AclprofFiles> files(new AclprofFiles);
  files->tables_ = tables;
  files->mask_ = mask;
  files->folder_ = path + (path.back() == '/' ? "" : "/") + ProfileName();
  if (!MakeFolders(path) || mkdir(files->folder_.c_str(), 0750) != 0 || !files->OpenAll(devices)) return nullptr;
  files->WriteInfo("running");
  return files;
}

bool AclprofFiles::Open(const std::string& name, const char* columns, File* file) const {
  file->reset(fopen((folder_ + "/" + name).c_str(), "we"));
  return *file != nullptr && fprintf(file->get(), "%s\n", columns) > 0;
}

bool AclprofFiles::OpenAll(const std::set<int>& devices) {
  if (!MakeFolder(folder_ + "/host")) return false;
  if (tables_.calls && !Open("host/api.csv", kCallColumns, &calls_)) return false;
  if ((tables_.marks || tables_.steps) && !Open("host/mark.csv", kHostMarkColumns, &marks_)) return false;
  return std::all_of(devices.begin(), devices.end(), [this](int device) { return OpenDevice(device); });
}

bool AclprofFiles::OpenDevice(int device) {
  const std::string folder = "device_" + std::to_string(device);
  if (!MakeFolder(folder_ + "/" + folder)) return false;
  DeviceFiles& files = devices_[device];
  const auto open = [&](bool wanted, const char* name, const char* columns, File* file) {
    return !wanted || Open(folder + name, columns, file);
  };
  return open(tables_.tasks, "/task.csv", kTaskColumns, &files.tasks) &&
         open(tables_.blocks, "/memory.csv", kBlockColumns, &files.blocks) &&
         open(tables_.communications, "/communication.csv", kCommunicationColumns, &files.communications) &&
         open(tables_.marks || tables_.steps, "/mark.csv", kDeviceMarkColumns, &files.marks);
}

void AclprofFiles::WriteInfo(const char* state) {
  const File file(fopen((folder_ + "/host/info.json").c_str(), "we"));
  if (file == nullptr) return;
  fprintf(file.get(), "{\"state\":\"%s\",\"pid\":%d,\"mask\":\"0x%" PRIx64 "\",\"clock\":\"CLOCK_REALTIME\",\"lost\":%" PRIu64 "}\n", state,
          static_cast<int>(getpid()), mask_, lost_);
}

AclprofFiles::DeviceFiles* AclprofFiles::Of(int device) {
  auto found = devices_.find(device);
  if (found == devices_.end() && all_devices_ && device >= 0 && OpenDevice(device)) found = devices_.find(device);
  return found == devices_.end() ? nullptr : &found->second;
}

void AclprofFiles::Write(const Activity& activity) {
  switch (activity.kind) {
    case Activity::Kind::kCall: return WriteCall(activity);
    case Activity::Kind::kTask: return WriteTask(activity);
    case Activity::Kind::kCommunication: WriteTask(activity); return WriteCommunication(activity);
    case Activity::Kind::kBlock: return WriteBlock(activity);
    case Activity::Kind::kMark: return WriteMark(activity);
    case Activity::Kind::kExternal: return;
  }
}

void AclprofFiles::WriteCall(const Activity& call) {
  if (calls_ == nullptr) return;
  fprintf(calls_.get(), "%s,%u,%" PRId64 ",%" PRId64 ",%d,%" PRIu64 "\n", call.name, call.thread, call.start_ns, call.end_ns, call.code,
          call.correlation);
}

void AclprofFiles::WriteTask(const Activity& task) {
  const DeviceFiles* const files = Of(task.device);
  if (files == nullptr || files->tasks == nullptr) return;
  fprintf(files->tasks.get(), "%s,%s,%u,%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%s,%d,%d,%" PRIu64 "\n", TaskKindName(task.task),
          task.name, task.stream, task.submit_ns, task.start_ns, task.end_ns, task.bytes, WayName(task.way), task.inside_graph ? 1 : 0,
          task.code, task.correlation);
}

void AclprofFiles::WriteCommunication(const Activity& task) {
  const DeviceFiles* const files = Of(task.device);
  if (files == nullptr || files->communications == nullptr) return;
  fprintf(files->communications.get(), "%s,%s,%u,%" PRIu64 ",%u,%" PRId64 ",%" PRId64 ",%" PRId64 ",%d,%" PRIu64 "\n", task.name,
          Cell(task.domain).c_str(), task.value, task.id, task.stream, task.submit_ns, task.start_ns, task.end_ns, task.code,
          task.correlation);
}

void AclprofFiles::WriteBlock(const Activity& block) {
  const DeviceFiles* const files = Of(block.device);
  if (files == nullptr || files->blocks == nullptr) return;
  fprintf(files->blocks.get(), "%s,0x%" PRIx64 ",%" PRIu64 ",%s,%" PRId64 ",%" PRId64 ",%" PRIu64 "\n", block.freed ? "free" : "malloc",
          block.address, block.bytes, block.name, block.start_ns, block.end_ns, block.correlation);
}

void AclprofFiles::WriteMark(const Activity& mark) {
  const bool step = std::strcmp(mark.domain, kStepDomain) == 0;
  if (step ? !tables_.steps : !tables_.marks) return;
  const std::string text = Cell(mark.name), domain = Cell(mark.domain);
  if (!mark.in_stream) {
    if (marks_ == nullptr) return;
    fprintf(marks_.get(), "%s,%s,%s,%" PRIu64 ",%u,%u,%" PRId64 "\n", MarkName(mark.mark), text.c_str(), domain.c_str(), mark.id,
            mark.thread, mark.stream, mark.start_ns);
    return;
  }
  const DeviceFiles* const files = Of(mark.device);
  if (files == nullptr || files->marks == nullptr) return;
  fprintf(files->marks.get(), "%s,%s,%s,%" PRIu64 ",%u,%" PRId64 "\n", MarkName(mark.mark), text.c_str(), domain.c_str(), mark.id,
          mark.stream, mark.start_ns);
}

}  // namespace ropeway
