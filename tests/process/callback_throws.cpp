// An exception that leaves a user's function ends the process, whichever family it belongs to and whichever thread runs it.
#include <pthread.h>
#include <signal.h>

#include <stdexcept>

#include "acl/acl.h"
#include "tests/process/process_test.h"

namespace {

using process_test::Child;
using process_test::RunSelf;

void Throw(void*) { throw std::runtime_error("out of a user's function"); }
void ThrowAtException(aclrtExceptionInfo*) { Throw(nullptr); }

aclrtStream NewStream() {
  aclrtStream stream = nullptr;
  RW_CHECK_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  return stream;
}

void HostFunction() {
  aclrtStream stream = NewStream();
  RW_CHECK_EQ(aclrtLaunchHostFunc(stream, &Throw, nullptr), ACL_SUCCESS);
  aclrtSynchronizeStream(stream);
}

void ServedCallback(aclrtCallbackBlockType block_type) {
  aclrtStream stream = NewStream();
  RW_CHECK_EQ(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtLaunchCallback(&Throw, nullptr, block_type, stream), ACL_SUCCESS);
  aclrtProcessReport(-1);
}

void BlockingCallback() { ServedCallback(ACL_CALLBACK_BLOCK); }
void PassingCallback() { ServedCallback(ACL_CALLBACK_NO_BLOCK); }

void ExceptionCallback() {
  aclrtStream stream = NewStream();
  static char pageable[64];
  void* block = nullptr;
  RW_CHECK_EQ(aclrtMalloc(&block, sizeof(pageable), ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtSetExceptionInfoCallback(&ThrowAtException), ACL_SUCCESS);
  RW_CHECK_EQ(aclrtMemcpyAsync(block, sizeof(pageable), pageable, sizeof(pageable), ACL_MEMCPY_DEVICE_TO_DEVICE, stream), ACL_SUCCESS);
  aclrtSynchronizeStream(stream);
}

void Run() {
  for (const char* mode : {"host-function", "blocking-callback", "passing-callback", "exception-callback"}) {
    const Child child = RunSelf(mode);
    if (!child.KilledBy(SIGABRT)) process_test::Fail(__FILE__, __LINE__, std::string(mode) + " went on: " + child.Describe());
    // With the exception's text, where the library and the program have one C++ runtime.
    if (child.err.find("terminate called") == std::string::npos)
      process_test::Fail(__FILE__, __LINE__, std::string(mode) + " ended otherwise: " + child.err);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return process_test::Main(argc, argv, &Run,
                            {{"host-function", &HostFunction},
                             {"blocking-callback", &BlockingCallback},
                             {"passing-callback", &PassingCallback},
                             {"exception-callback", &ExceptionCallback}});
}
