/*
 * Types of the transfer engine (adxl/adxl_engine.h). C++.
 */
#ifndef RW_ADXL_ADXL_TYPES_H
#define RW_ADXL_ADXL_TYPES_H

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "external/ge_common/api_error_codes.h"

namespace adxl {

using Status = uint32_t;
using AscendString = ge::AscendString;
using TransferReq = void*; /* a request that is under way; no number comes twice in a process */
using MemHandle = void*;   /* a registration */
using ShareableHandle = aclrtMemFabricHandle;

/* In front of the codes, two of which have the names of its values: compilers that warn of shadows keep quiet. */
enum class TransferStatus { WAITING = 0, COMPLETED = 1, TIMEOUT = 2, FAILED = 3 }; /* TIMEOUT is never given */

constexpr Status SUCCESS = 0U;
constexpr Status PARAM_INVALID = 103900U;
constexpr Status TIMEOUT = 103901U;
constexpr Status NOT_CONNECTED = 103902U;
constexpr Status ALREADY_CONNECTED = 103903U;
constexpr Status NOTIFY_FAILED = 103904U; /* never returned */
constexpr Status UNSUPPORTED = 103905U;
constexpr Status RESOURCE_EXHAUSTED = 203900U;
constexpr Status FAILED = 503900U;

/* Keys of the options of Initialize. */
constexpr char OPTION_RDMA_TRAFFIC_CLASS[] = "adxl.RdmaTrafficClass";
constexpr char OPTION_RDMA_SERVICE_LEVEL[] = "adxl.RdmaServiceLevel";
constexpr char OPTION_BUFFER_POOL[] = "adxl.BufferPool";
constexpr char OPTION_LOCAL_COMM_RES[] = "adxl.LocalCommRes";
constexpr char OPTION_AUTO_CONNECT[] = "AutoConnect";

enum MemType { MEM_DEVICE = 0, MEM_HOST = 1 };
enum TransferOp { READ = 0, WRITE = 1 }; /* READ: from the remote address to the local one */

enum FeatureType : int32_t { AUTO_CONNECT = 0, CLIENT_SERVER_COMM = 1 };
constexpr int32_t FEATURE_NOT_SUPPORTED = 0;
constexpr int32_t FEATURE_SUPPORTED = 1;

struct MemDesc {
    uintptr_t addr;
    size_t len;
    uint8_t reserved[128] = {};
};

struct TransferOpDesc {
    uintptr_t local_addr;
    uintptr_t remote_addr;
    size_t len;
};

struct TransferArgs {
    uint8_t reserved[128] = {};
};

struct NotifyDesc {
    AscendString name; /* 1024 bytes at most, as the message */
    AscendString notify_msg;
};

}  // namespace adxl

#endif /* RW_ADXL_ADXL_TYPES_H */
