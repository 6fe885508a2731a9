// ROPEWAY_TRACE=file: one JSON object per line, also when the process just ends, or ends with work queued.
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

constexpr size_t kSize = 4096;

aclrtStream Work() {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  void *device = nullptr, *host = nullptr;
  auto nothing = [](void*) {};
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMalloc(&device, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMallocHost(&host, kSize), ACL_SUCCESS);
  for (int i = 0; i < 100; ++i) {
    RW_CHECK_EQ(aclrtMemcpyAsync(device, kSize, host, kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtMemsetAsync(device, kSize, 1, kSize, stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtStreamWaitEvent(nullptr, event), ACL_SUCCESS);
    RW_CHECK_EQ(aclrtLaunchHostFunc(stream, nothing, nullptr), ACL_SUCCESS);
  }
  return stream;
}

void Tidy() {
  aclrtStream stream = Work();
  RW_CHECK_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
}

void WithWorkQueued() { Work(); }

// A child has lines in memory that its parent has not written yet, and leaves them to the parent.
void WithChild() {
  Work();
  RW_CHECK_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  RW_CHECK(process_test::InChild([] {}));
}

// The lines of the trace that a mode leaves; each must be a JSON object by itself, and there once.
size_t TracedLines(const char* mode, const std::string& path) {
  std::remove(path.c_str());
  process_test::ExpectClean(mode, {{"ROPEWAY_TRACE", path.c_str()}});
  std::ifstream file(path);
  RW_CHECK(file.good());
  size_t count = 0;
  std::set<std::string> lines;
  for (std::string line; std::getline(file, line); ++count) {
    nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
    if (value.is_discarded() || !value.is_object() || !lines.insert(line).second) {
      process_test::Fail(__FILE__, __LINE__, std::string(mode) + " line " + std::to_string(count + 1) + ": " + line);
    }
  }
  std::remove(path.c_str());
  return count;
}

void All() {
  std::string path = "/tmp/ropeway_trace_" + std::to_string(getpid()) + ".jsonl";
  RW_CHECK(TracedLines("tidy", path) >= 500);  // at least the tasks of Work()
  RW_CHECK(TracedLines("queued", path) > 0);
  RW_CHECK(TracedLines("with_child", path) >= 500);
  process_test::ExpectClean("tidy", {{"ROPEWAY_TRACE", ""}});
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &All, {{"tidy", &Tidy}, {"queued", &WithWorkQueued}, {"with_child", &WithChild}});
}
