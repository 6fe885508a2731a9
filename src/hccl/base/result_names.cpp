// Every HcclResult with its name and its meaning, and HcclGetErrorString, which hands the meanings out.
#include "hccl/base/result.h"
#include "hccl/hccl_comm.h"

namespace ropeway::comm {
namespace {

struct ResultRow {
  HcclResult code;
  const char* name;
  const char* meaning;
};

#define RW_ROW(code, meaning) \
  { code, #code, meaning }

constexpr ResultRow kRows[] = {
    RW_ROW(HCCL_SUCCESS, "no error"),
    RW_ROW(HCCL_E_PARA, "an argument has a value that is not allowed"),
    RW_ROW(HCCL_E_PTR, "a pointer or handle is NULL"),
    RW_ROW(HCCL_E_MEMORY, "host memory is exhausted"),
    RW_ROW(HCCL_E_INTERNAL, "internal error"),
    RW_ROW(HCCL_E_NOT_SUPPORT, "the feature is not there"),
    RW_ROW(HCCL_E_NOT_FOUND, "what the call names does not exist"),
    RW_ROW(HCCL_E_UNAVAIL, "a resource is not available"),
    RW_ROW(HCCL_E_SYSCALL, "a system call failed"),
    RW_ROW(HCCL_E_TIMEOUT, "the time limit has passed"),
    RW_ROW(HCCL_E_OPEN_FILE_FAILURE, "a file cannot be opened"),
    RW_ROW(HCCL_E_TCP_CONNECT, "a TCP connection cannot be made"),
    RW_ROW(HCCL_E_ROCE_CONNECT, "a connection for remote memory access cannot be made"),
    RW_ROW(HCCL_E_TCP_TRANSFER, "a transfer over TCP failed"),
    RW_ROW(HCCL_E_ROCE_TRANSFER, "a remote memory access failed"),
    RW_ROW(HCCL_E_RUNTIME, "the runtime refused a call"),
    RW_ROW(HCCL_E_DRV, "the driver refused a call"),
    RW_ROW(HCCL_E_PROFILING, "profiling failed"),
    RW_ROW(HCCL_E_CCE, "a compute kernel failed"),
    RW_ROW(HCCL_E_NETWORK, "the network refused a call"),
    RW_ROW(HCCL_E_AGAIN, "in use at the moment, or registered already"),
    RW_ROW(HCCL_E_REMOTE, "another rank failed"),
    RW_ROW(HCCL_E_SUSPENDING, "the communicator is suspended"),
    RW_ROW(HCCL_E_OPRETRY_FAIL, "the operation failed again when it was retried"),
    RW_ROW(HCCL_E_OOM, "device memory is exhausted"),
    RW_ROW(HCCL_E_IN_STATUS, "an operation has failed before"),
};
constexpr ResultRow kUnknown = RW_ROW(HCCL_E_RESERVED, "unknown result");

const ResultRow& Find(HcclResult code) {
  for (const ResultRow& row : kRows) {
    if (row.code == code) return row;
  }
  return kUnknown;
}

}  // namespace

const char* ResultName(HcclResult code) { return Find(code).name; }
const char* ResultMeaning(HcclResult code) { return Find(code).meaning; }

}  // namespace ropeway::comm

const char* HcclGetErrorString(HcclResult code) { return ropeway::comm::ResultMeaning(code); }
