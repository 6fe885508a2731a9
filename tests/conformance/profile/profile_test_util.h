// What the tests of profiles share: a folder that goes away, tables as aclprof writes them, and buffers for mspti that know where they are.
#pragma once

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <set>
#include <sstream>

#include "acl/acl_prof.h"
#include "mspti/mspti.h"
#include "mstx/ms_tools_ext.h"
#include "tests/conformance/runtime/runtime_test_util.h"

namespace ropeway_test::profile {

inline uint64_t RealNow() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

// Copies of one stream, each of its own size, waited for; when that was.
inline uint64_t MakeCopies(aclrtStream stream, int number) {
  constexpr size_t kSize = 1024;
  DeviceBuffer device(kSize);
  PinnedBuffer host(kSize);
  for (int i = 0; i < number; ++i)
    EXPECT_EQ(aclrtMemcpyAsync(device.get(), kSize, host.get(), 1 + static_cast<size_t>(i) % kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream),
              ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  return RealNow();
}

// --- aclprof ------------------------------------------------------------------------------------------------------------

class Folder {
 public:
  Folder() {
    std::string name = testing::TempDir() + "ropeway_profile_XXXXXX";
    EXPECT_NE(mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

  std::vector<std::string> Profiles() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path());
    std::sort(names.begin(), names.end());
    return names;
  }
  std::string Profile() const {
    const std::vector<std::string> all = Profiles();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? "" : all[0];
  }

 private:
  std::string path_;
};

using Row = std::map<std::string, std::string>;

// Rows by the names of their columns. Texts with commas or quotes in them are between quotes.
inline std::vector<Row> ReadTable(const std::string& path) {
  const auto split = [](const std::string& line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
        cells.back() += line[i++];
      } else if (line[i] == '"') {
        quoted = !quoted;
      } else if (line[i] == ',' && !quoted) {
        cells.emplace_back();
      } else {
        cells.back() += line[i];
      }
    }
    return cells;
  };
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> columns = split(line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> cells = split(line);
    EXPECT_EQ(cells.size(), columns.size()) << line;
    Row row;
    for (size_t i = 0; i < std::min(cells.size(), columns.size()); ++i) row[columns[i]] = cells[i];
    rows.push_back(row);
  }
  return rows;
}

inline uint64_t NumberIn(const Row& row, const char* column) { return std::stoull(row.at(column)); }

class Config {
 public:
  explicit Config(uint64_t mask, std::vector<uint32_t> devices = {0}, int metrics = ACL_AICORE_NONE)
      : config_(aclprofCreateConfig(devices.data(), static_cast<uint32_t>(devices.size()), static_cast<aclprofAicoreMetrics>(metrics),
                                    nullptr, mask)) {
    EXPECT_NE(config_, nullptr);
  }
  ~Config() { EXPECT_EQ(aclprofDestroyConfig(config_), ACL_SUCCESS); }
  Config(const Config&) = delete;
  Config& operator=(const Config&) = delete;
  const aclprofConfig* get() const { return config_; }

 private:
  aclprofConfig* config_;
};

// A stream of device 0, and no profile behind it.
class AclprofTest : public StreamTest {
 protected:
  void TearDown() override {
    EXPECT_EQ(aclprofFinalize(), ACL_SUCCESS);
    StreamTest::TearDown();
  }
  aclError Init() { return aclprofInit(folder_.path().c_str(), folder_.path().size()); }
  Folder folder_;
};

// --- mspti --------------------------------------------------------------------------------------------------------------

// All that the program was given, each buffer looked at as it came.
class Buffers {
 public:
  static Buffers& Get() {
    static Buffers buffers;
    return buffers;
  }
  void Reset(size_t size, size_t most = 0) {
    std::lock_guard<std::mutex> lock(mutex_);
    size_ = size;
    most_ = most;
    requested_ = completed_ = 0;
    records_.clear();
    inside_ = nullptr;
  }
  void SetSize(size_t size) {
    std::lock_guard<std::mutex> lock(mutex_);
    size_ = size;
  }
  // Called with every buffer that comes back, before it is read.
  void OnComplete(void (*inside)()) { inside_ = inside; }

  static void Request(uint8_t** buffer, size_t* size, size_t* most) {
    Buffers& self = Get();
    std::lock_guard<std::mutex> lock(self.mutex_);
    *size = self.size_;
    *most = self.most_;
    *buffer = self.size_ == 0 ? nullptr : new uint8_t[self.size_];
    if (*buffer == nullptr) return;
    ++self.requested_;
    self.out_.insert(*buffer);
  }
  static void Complete(uint8_t* buffer, size_t size, size_t valid) {
    Buffers& self = Get();
    if (self.inside_ != nullptr) self.inside_();
    {
      std::lock_guard<std::mutex> lock(self.mutex_);
      ++self.completed_;
      EXPECT_EQ(self.out_.erase(buffer), 1u) << "a buffer that is not out";
      EXPECT_LE(valid, size);
    }
    std::vector<std::string> found;
    msptiActivity* record = nullptr;
    size_t bytes = 0;
    msptiResult result;
    for (; (result = msptiActivityGetNextRecord(buffer, valid, &record)) == MSPTI_SUCCESS; bytes += found.back().size())
      found.emplace_back(reinterpret_cast<const char*>(record), SizeOf(record->kind));
    EXPECT_EQ(result, MSPTI_ERROR_MAX_LIMIT_REACHED);
    EXPECT_EQ(bytes, valid);
    {
      std::lock_guard<std::mutex> lock(self.mutex_);
      if (self.most_ != 0) {
        EXPECT_LE(found.size(), self.most_);
      }
      self.records_.insert(self.records_.end(), found.begin(), found.end());
    }
    delete[] buffer;
  }

  template <typename Record>
  std::vector<Record> All(msptiActivityKind kind) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Record> all;
    for (const std::string& bytes : records_) {
      msptiActivityKind found;
      std::memcpy(&found, bytes.data(), sizeof(found));
      if (found != kind) continue;
      all.emplace_back();
      EXPECT_EQ(bytes.size(), sizeof(Record));
      std::memcpy(&all.back(), bytes.data(), sizeof(Record));
    }
    return all;
  }
  size_t requested() const { return requested_; }
  size_t completed() const { return completed_; }
  size_t out() {
    std::lock_guard<std::mutex> lock(mutex_);
    return out_.size();
  }

 private:
  static size_t SizeOf(msptiActivityKind kind) {
    switch (kind) {
      case MSPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: return 24;
      case MSPTI_ACTIVITY_KIND_MEMORY: return 64;
      case MSPTI_ACTIVITY_KIND_API:
      case MSPTI_ACTIVITY_KIND_ACL_API:
      case MSPTI_ACTIVITY_KIND_RUNTIME_API: return 48;
      default: return 56;
    }
  }
  std::mutex mutex_;
  size_t size_ = 0, most_ = 0;
  size_t requested_ = 0, completed_ = 0;
  std::set<uint8_t*> out_;
  std::vector<std::string> records_;
  void (*inside_)() = nullptr;
};

class MsptiTest : public StreamTest {
 protected:
  static constexpr size_t kBuffer = 64 << 10;
  void SetUp() override {
    StreamTest::SetUp();
    Buffers::Get().Reset(kBuffer);
    ASSERT_EQ(msptiActivityRegisterCallbacks(&Buffers::Request, &Buffers::Complete), MSPTI_SUCCESS);
  }
  void TearDown() override {
    for (int kind = 1; kind < MSPTI_ACTIVITY_KIND_COUNT; ++kind)
      EXPECT_EQ(msptiActivityDisable(static_cast<msptiActivityKind>(kind)), MSPTI_SUCCESS);
    Flush();
    EXPECT_EQ(Buffers::Get().out(), 0u) << "a buffer was kept";
    EXPECT_EQ(Buffers::Get().requested(), Buffers::Get().completed());
    StreamTest::TearDown();
  }
  static void Enable(std::vector<msptiActivityKind> kinds) {
    for (const msptiActivityKind kind : kinds) ASSERT_EQ(msptiActivityEnable(kind), MSPTI_SUCCESS);
  }
  static void Flush() { ASSERT_EQ(msptiActivityFlushAll(0), MSPTI_SUCCESS); }
  template <typename Record>
  static std::vector<Record> All(msptiActivityKind kind) {
    return Buffers::Get().All<Record>(kind);
  }
  static std::vector<msptiActivityMemcpy> Copies() { return All<msptiActivityMemcpy>(MSPTI_ACTIVITY_KIND_MEMCPY); }
  static std::vector<msptiActivityApi> Calls(msptiActivityKind kind = MSPTI_ACTIVITY_KIND_API) { return All<msptiActivityApi>(kind); }
  static std::vector<msptiActivityMarker> Marks() { return All<msptiActivityMarker>(MSPTI_ACTIVITY_KIND_MARKER); }
  uint32_t StreamNumber() const {
    int32_t id = 0;
    EXPECT_EQ(aclrtStreamGetId(stream_, &id), ACL_SUCCESS);
    return static_cast<uint32_t>(id);
  }
};

}  // namespace ropeway_test::profile
