// aclInit with configuration files. Each case has a process of its own: the first content binds the process.
#include <filesystem>
#include <fstream>
#include <thread>

#include "acl/acl.h"
#include "acl/acl_prof.h"
#include "tests/process/process_test.h"

namespace {

using process_test::InChild;

class TempFolder {
 public:
  TempFolder() {
    char name[] = "/tmp/ropeway_config_XXXXXX";
    if (mkdtemp(name) == nullptr) std::abort();
    path_ = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::string Write(const char* name, const std::string& content) const {
    std::ofstream(path_ / name) << content;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

std::string Nested(char open, char close, int depth) {
  std::string inner(static_cast<size_t>(depth), open), outer(static_cast<size_t>(depth), close);
  if (open == '[') return "{\"a\":" + inner + outer + "}";
  std::string text;
  for (int i = 1; i < depth; ++i) text += "{\"a\":";
  return text + "{}" + std::string(static_cast<size_t>(depth - 1), '}');
}

// One content, one process, one code; a refused first call leaves the library as if it had not been made.
void CheckCode(const TempFolder& folder, const char* what, const std::string& content, aclError expected) {
  bool good = InChild([&] {
    std::string path = folder.Write("config.json", content);
    RW_CHECK_EQ(aclInit(path.c_str()), expected);
    if (expected == ACL_SUCCESS) {
      RW_CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    } else {
      RW_CHECK_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
      RW_CHECK_EQ(aclInit(nullptr), ACL_SUCCESS);
    }
  });
  if (!good) process_test::Fail(__FILE__, __LINE__, what);
}

void Contents(const TempFolder& folder) {
  const struct {
    const char* what;
    std::string content;
    aclError expected;
  } cases[] = {
      {"zero length", "", ACL_SUCCESS},
      {"empty object", "{}", ACL_SUCCESS},
      {"unknown keys", R"({"what":[1,2],"ever":{"x":null}})", ACL_SUCCESS},
      {"not JSON", "{\"a\":", ACL_ERROR_PARSE_FILE},
      {"text", "hello", ACL_ERROR_PARSE_FILE},
      {"ten objects deep", Nested('{', '}', 10), ACL_SUCCESS},
      {"eleven objects deep", Nested('{', '}', 11), ACL_ERROR_PARSE_FILE},
      {"ten arrays deep", Nested('[', ']', 10), ACL_SUCCESS},
      {"eleven arrays deep", Nested('[', ']', 11), ACL_ERROR_PARSE_FILE},
      {"very deep", Nested('{', '}', 100000), ACL_ERROR_PARSE_FILE},
      {"err_msg_mode 0", R"({"err_msg_mode":"0"})", ACL_SUCCESS},
      {"err_msg_mode 1", R"({"err_msg_mode":"1"})", ACL_SUCCESS},
      {"err_msg_mode 2", R"({"err_msg_mode":"2"})", ACL_ERROR_INVALID_PARAM},
      {"err_msg_mode empty", R"({"err_msg_mode":""})", ACL_ERROR_INVALID_PARAM},
      {"event_mode 0", R"({"acl_graph":{"event_mode":"0"}})", ACL_SUCCESS},
      {"event_mode 7", R"({"acl_graph":{"event_mode":"7"}})", ACL_ERROR_INVALID_PARAM},
      {"default_device 0", R"({"defaultDevice":{"default_device":"0"}})", ACL_SUCCESS},
      {"default_device -1", R"({"defaultDevice":{"default_device":"-1"}})", ACL_ERROR_FAILURE},
      {"default_device 01", R"({"defaultDevice":{"default_device":"01"}})", ACL_ERROR_FAILURE},
      {"default_device x", R"({"defaultDevice":{"default_device":"x"}})", ACL_ERROR_FAILURE},
      {"default_device empty", R"({"defaultDevice":{"default_device":""}})", ACL_ERROR_FAILURE},
      {"stack size", R"({"StackSize":{"aicore_stack_size":65536}})", ACL_SUCCESS},
      {"max_opqueue_num", R"({"max_opqueue_num":"10000"})", ACL_SUCCESS},
      {"no profile", R"({"profiler":{"switch":"off","output":"/proc/none"}})", ACL_SUCCESS},
      {"a profiler without a switch", R"({"profiler":{"output":"/proc/none"}})", ACL_SUCCESS},
      {"a profiler's switch that is none", R"({"profiler":{"switch":"maybe"}})", ACL_ERROR_INVALID_PROFILING_CONFIG},
      {"a profile in no folder", R"({"profiler":{"switch":"on","output":7}})", ACL_ERROR_INVALID_PROFILING_CONFIG},
      {"a profile where nothing can be written", R"({"profiler":{"switch":"on","output":"/proc/none"}})", ACL_ERROR_INVALID_FILE},
  };
  for (const auto& c : cases) CheckCode(folder, c.what, c.content, c.expected);
}

void Paths(const TempFolder& folder) {
  RW_CHECK(InChild([&] {
    RW_CHECK_EQ(aclInit("/nonexistent/config.json"), ACL_ERROR_INVALID_FILE);
    RW_CHECK_EQ(aclInit(folder.path().c_str()), ACL_ERROR_INVALID_FILE);
    std::string big = folder.Write("big.json", "{\"a\":\"" + std::string(size_t{10} << 20, 'x') + "\"}");
    RW_CHECK_EQ(aclInit(big.c_str()), ACL_ERROR_INVALID_FILE);
    RW_CHECK_EQ(aclInit(nullptr), ACL_SUCCESS);
  }));
}

void OtherContentIsRefused(const TempFolder& folder) {
  std::string one = folder.Write("one.json", R"({"max_opqueue_num":"1000"})");
  std::string two = folder.Write("two.json", R"({"max_opqueue_num":"2000"})");
  std::string same = folder.Write("same.json", R"({"max_opqueue_num":"1000"})");
  RW_CHECK(InChild([&] {
    RW_CHECK_EQ(aclInit(one.c_str()), ACL_SUCCESS);
    RW_CHECK_EQ(aclInit(two.c_str()), ACL_ERROR_REPEAT_INITIALIZE);
    RW_CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    RW_CHECK_EQ(aclInit(two.c_str()), ACL_ERROR_INVALID_PARAM);
    RW_CHECK_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
    RW_CHECK_EQ(aclInit(same.c_str()), ACL_SUCCESS);
    RW_CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    RW_CHECK_EQ(aclInit(one.c_str()), ACL_SUCCESS);
  }));
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// The file has a profile made from aclInit to aclFinalize, and aclprof's own calls are refused meanwhile.
void ProfileByFile(const TempFolder& folder) {
  const std::filesystem::path output = folder.path() + "/profiles";
  const std::string path =
      folder.Write("profile.json", R"({"profiler":{"switch":"on","aic_metrics":"","output":")" + output.string() + "\"}}");
  const bool good = InChild([&] {
    constexpr size_t kSize = 4096;
    void *host = nullptr, *device = nullptr;
    RW_CHECK_EQ(aclInit(path.c_str()), ACL_SUCCESS);
    RW_CHECK_EQ(aclprofInit("here", 4), ACL_ERROR_PROF_ALREADY_RUN);
    RW_CHECK(std::string(aclGetRecentErrMsg()).find("configuration file of aclInit") != std::string::npos);
    RW_CHECK_EQ(aclprofStart(nullptr), ACL_ERROR_PROF_ALREADY_RUN);
    RW_CHECK_EQ(aclprofStop(nullptr), ACL_ERROR_PROF_ALREADY_RUN);
    RW_CHECK_EQ(aclprofFinalize(), ACL_ERROR_PROF_ALREADY_RUN);
    RW_CHECK_EQ(aclprofModelSubscribe(1, nullptr), ACL_ERROR_PROF_ALREADY_RUN);
    RW_CHECK_EQ(aclprofSetConfig(ACL_PROF_SYS_IO_FREQ, "10", 2), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMallocHost(&host, kSize), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMemcpy(device, kSize, host, kSize, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    RW_CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    RW_CHECK_EQ(aclprofInit("here", 4), ACL_SUCCESS);  // the program's own again
  });
  RW_CHECK(good);
  size_t profiles = 0;
  for (const auto& entry : std::filesystem::directory_iterator(output)) {
    ++profiles;
    RW_CHECK(ReadFile(entry.path() / "host/info.json").find("\"state\":\"complete\"") != std::string::npos);
    RW_CHECK(ReadFile(entry.path() / "host/api.csv").find("aclrtMemcpy,") != std::string::npos);
    RW_CHECK(ReadFile(entry.path() / "device_1/task.csv").find(",4096,H2D,") != std::string::npos);
    RW_CHECK(ReadFile(entry.path() / "device_1/memory.csv").find("malloc,") != std::string::npos);
    RW_CHECK(std::filesystem::exists(entry.path() / "device_1/communication.csv"));
    RW_CHECK(!std::filesystem::exists(entry.path() / "device_0"));
  }
  RW_CHECK_EQ(profiles, 1u);
}

// What a thread reads after another thread failed.
bool SeesTheErrorsOfOthers() {
  std::thread([] { RW_CHECK_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID); }).join();
  return aclGetRecentErrMsg() != nullptr;
}

void ErrMsgMode(const TempFolder& folder) {
  std::string by_thread = folder.Write("thread.json", R"({"err_msg_mode":"0"})");
  std::string by_process = folder.Write("process.json", R"({"err_msg_mode":"1"})");
  RW_CHECK(InChild([&] {
    RW_CHECK_EQ(aclInit(by_thread.c_str()), ACL_SUCCESS);
    RW_CHECK(!SeesTheErrorsOfOthers());
  }));
  RW_CHECK(InChild([&] {
    RW_CHECK_EQ(aclInit(by_process.c_str()), ACL_SUCCESS);
    RW_CHECK(SeesTheErrorsOfOthers());
    RW_CHECK(aclGetRecentErrMsg() == nullptr);
  }));
}

void DefaultDevice(const TempFolder& folder) {
  std::string path = folder.Write("device.json", R"({"defaultDevice":{"default_device":"1"}})");
  RW_CHECK(InChild([&] {
    int32_t device = -1, active = -1;
    void* block = nullptr;
    RW_CHECK_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    RW_CHECK_EQ(aclInit(path.c_str()), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    RW_CHECK_EQ(device, 1);
    RW_CHECK_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtGetPrimaryCtxState(1, nullptr, &active), ACL_SUCCESS);
    RW_CHECK_EQ(active, 1);
    aclrtContext context = nullptr;
    RW_CHECK_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
    std::thread([] { RW_CHECK_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS); }).join();
    RW_CHECK_EQ(aclrtFree(block), ACL_SUCCESS);
    RW_CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    std::thread([] { RW_CHECK_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL); }).join();
  }));
}

struct CallbackLog {
  std::string order, config;
};

template <char kName>
aclError Note(const char* config, size_t length, void* data) {
  auto* log = static_cast<CallbackLog*>(data);
  log->order += kName;
  log->config.assign(config, length);
  return ACL_SUCCESS;
}

void CallbacksGetTheRawBytes(const TempFolder& folder) {
  const std::string content = " { \"max_opqueue_num\" : \"1000\" }\n";
  std::string path = folder.Write("raw.json", content);
  RW_CHECK(InChild([&] {
    CallbackLog log;
    RW_CHECK_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, &Note<'o'>, &log), ACL_SUCCESS);
    RW_CHECK_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, &Note<'d'>, &log), ACL_SUCCESS);
    RW_CHECK_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_OP_EXECUTOR, &Note<'e'>, &log), ACL_SUCCESS);
    RW_CHECK_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, &Note<'m'>, &log), ACL_SUCCESS);
    RW_CHECK_EQ(aclInit(path.c_str()), ACL_SUCCESS);
    RW_CHECK_EQ(log.order, std::string("medo"));
    RW_CHECK_EQ(log.config, content);
  }));
}

void FinaliseWithoutInit() {
  RW_CHECK(InChild([] {
    uint64_t count = 77;
    RW_CHECK_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
    RW_CHECK_EQ(count, uint64_t{0});
    RW_CHECK_EQ(aclFinalize(), ACL_SUCCESS);
    RW_CHECK_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  }));
}

void All() {
  TempFolder folder;
  Contents(folder);
  Paths(folder);
  OtherContentIsRefused(folder);
  ProfileByFile(folder);
  ErrMsgMode(folder);
  DefaultDevice(folder);
  CallbacksGetTheRawBytes(folder);
  FinaliseWithoutInit();
}

}  // namespace

int main(int argc, char** argv) { return process_test::Main(argc, argv, &All, {}); }
