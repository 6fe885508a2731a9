// Numbers, sizes and offsets of the HCCL headers, taken from the text of the contract and not from the headers.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "dispatcher.h"
#include "dtype_common.h"
#include "hccl/hccl_one_sided_services.h"
#include "transport_pub.h"

namespace layout_test {

template <typename Enum>
constexpr int Number(Enum value) {
  return static_cast<int>(value);
}

static_assert(sizeof(HcclResult) == 4 && HCCL_E_PARA == 1 && HCCL_E_PTR == 2 && HCCL_E_MEMORY == 3 && HCCL_E_INTERNAL == 4 &&
              HCCL_E_NOT_SUPPORT == 5 && HCCL_E_NOT_FOUND == 6 && HCCL_E_UNAVAIL == 7 && HCCL_E_SYSCALL == 8 && HCCL_E_TIMEOUT == 9 &&
              HCCL_E_OPEN_FILE_FAILURE == 10 && HCCL_E_TCP_CONNECT == 11 && HCCL_E_ROCE_CONNECT == 12 && HCCL_E_TCP_TRANSFER == 13 &&
              HCCL_E_ROCE_TRANSFER == 14 && HCCL_E_RUNTIME == 15 && HCCL_E_DRV == 16 && HCCL_E_PROFILING == 17 && HCCL_E_CCE == 18 &&
              HCCL_E_NETWORK == 19 && HCCL_E_AGAIN == 20 && HCCL_E_REMOTE == 21 && HCCL_E_SUSPENDING == 22 && HCCL_E_OPRETRY_FAIL == 23 &&
              HCCL_E_OOM == 24 && HCCL_E_IN_STATUS == 1041 && HCCL_E_RESERVED == 1042);

using hccl::LinkType;
static_assert(std::is_same<std::underlying_type<LinkType>::type, int>::value);
static_assert(Number(LinkType::LINK_ONCHIP) == 0 && Number(LinkType::LINK_HCCS) == 1 && Number(LinkType::LINK_PCIE) == 2 &&
              Number(LinkType::LINK_ROCE) == 3 && Number(LinkType::LINK_SIO) == 4 && Number(LinkType::LINK_HCCS_SW) == 5 &&
              Number(LinkType::LINK_STANDARD_ROCE) == 6 && Number(LinkType::LINK_UB) == 7 && Number(LinkType::LINK_RESERVED) == 255);
static_assert(HCCS_TYPE == 0 && PXI_TYPE == 1 && SIO_TYPE == 2 && HCCS_SW_TYPE == 3 && RESERVED_LINK_TYPE == 4);

using hccl::TransportType;
static_assert(Number(TransportType::TRANS_TYPE_IBV_EXP) == 0 && Number(TransportType::TRANS_TYPE_P2P) == 1 &&
              Number(TransportType::TRANS_TYPE_DEVICE_P2P) == 2 && Number(TransportType::TRANS_TYPE_DEVICE_IBVERBS) == 3 &&
              Number(TransportType::TRANS_TYPE_DEVICE_DIRECT) == 4 && Number(TransportType::TRANS_TYPE_RESERVED) == 255);
using hccl::RdmaType;
static_assert(Number(RdmaType::RDMA_SEND_NOTIFY) == 0 && Number(RdmaType::RDMA_SEND_PAYLOAD) == 1 &&
              Number(RdmaType::RDMA_TYPE_RESERVED) == 255);
using hccl::TaskType;
static_assert(Number(TaskType::TASK_SDMA) == 0 && Number(TaskType::TASK_RDMA) == 1 && Number(TaskType::TASK_REDUCE_INLINE) == 2 &&
              Number(TaskType::TASK_REDUCE_TBE) == 3 && Number(TaskType::TASK_NOTIFY_RECORD) == 4 &&
              Number(TaskType::TASK_NOTIFY_WAIT) == 5 && Number(TaskType::TASK_HOST) == 6 && Number(TaskType::TASK_GRAPH_LAUNCH) == 7 &&
              Number(TaskType::TASK_BATCH_REPORT) == 8 && Number(TaskType::TASK_FLIP) == 9);
using hccl::ProfilerType;
static_assert(Number(ProfilerType::TASK_PROFILING) == 0 && Number(ProfilerType::TASK_EXCEPTION) == 1 &&
              Number(ProfilerType::TASK_OVERFLOW) == 2 && Number(ProfilerType::TASK_ALL) == 3 && Number(ProfilerType::TASK_RESERVE) == 4);
using hccl::StreamType;
static_assert(Number(StreamType::STREAM_TYPE_OFFLINE) == 0 && Number(StreamType::STREAM_TYPE_ONLINE) == 1 &&
              Number(StreamType::STREAM_TYPE_DEVICE) == 2 && Number(StreamType::STREAM_TYPE_RESERVED) == 3);
using hccl::UserMemType;
static_assert(Number(UserMemType::INPUT_MEM) == 0 && Number(UserMemType::OUTPUT_MEM) == 1 && Number(UserMemType::MEM_RESERVED) == 2);
static_assert(HCCL_INLINE_REDUCE == 0 && HCCL_TBE_REDUCE == 1);
static_assert(Number(DispatcherType::DISPATCHER_NORMAL) == 0 && Number(DispatcherType::DISPATCHER_VIRTURAL) == 1 &&
              Number(DispatcherType::DISPATCHER_AICPU) == 2);
static_assert(DEFAULT_TIMEWAITSYNCMODE == 0 && CONFIGURABLE_TIMEWAITSYNCMODE == 1 && UNLIMITED_TIMEWAITSYNCMODE == 2);
static_assert(HCCL_WORKFLOW_MODE_OPS_KERNEL_INFO_LIB == 0 && HCCL_WORKFLOW_MODE_OP_BASE == 1 && HCCL_WORKFLOW_MODE_RESERVED == 255);
static_assert(HCCL_RT_MEMCPY_KIND_HOST_TO_HOST == 0 && HCCL_RT_MEMCPY_KIND_HOST_TO_DEVICE == 1 && HCCL_RT_MEMCPY_KIND_DEVICE_TO_HOST == 2 &&
              HCCL_RT_MEMCPY_KIND_DEVICE_TO_DEVICE == 3 && HCCL_RT_MEMCPY_ADDR_DEVICE_TO_DEVICE == 4 && HCCL_RT_MEMCPY_KIND_RESERVED == 5);

static_assert(HCCL_DATA_TYPE_INT8 == 0 && HCCL_DATA_TYPE_INT16 == 1 && HCCL_DATA_TYPE_INT32 == 2 && HCCL_DATA_TYPE_FP16 == 3 &&
              HCCL_DATA_TYPE_FP32 == 4 && HCCL_DATA_TYPE_INT64 == 5 && HCCL_DATA_TYPE_UINT64 == 6 && HCCL_DATA_TYPE_UINT8 == 7 &&
              HCCL_DATA_TYPE_UINT16 == 8 && HCCL_DATA_TYPE_UINT32 == 9 && HCCL_DATA_TYPE_FP64 == 10 && HCCL_DATA_TYPE_BFP16 == 11 &&
              HCCL_DATA_TYPE_INT128 == 12 && HCCL_DATA_TYPE_HIF8 == 14 && HCCL_DATA_TYPE_FP8E4M3 == 15 && HCCL_DATA_TYPE_FP8E5M2 == 16 &&
              HCCL_DATA_TYPE_FP8E8M0 == 17 && HCCL_DATA_TYPE_RESERVED == 255);
static_assert(HCCL_REDUCE_SUM == 0 && HCCL_REDUCE_PROD == 1 && HCCL_REDUCE_MAX == 2 && HCCL_REDUCE_MIN == 3 && HCCL_REDUCE_RESERVED == 255);

template <typename Type, typename Wanted>
constexpr bool Same = std::is_same<Type, Wanted>::value;
static_assert(Same<s8, signed char> && Same<s16, short> && Same<s32, int> && Same<s64, long long>);
static_assert(Same<u8, unsigned char> && Same<u16, unsigned short> && Same<u32, unsigned int> && Same<u64, unsigned long long>);
static_assert(!Same<u64, uint64_t>, "the same width, another type");
static_assert(Same<rtStream_t, void*> && Same<HcclRtStream, void*> && Same<HcclRtNotify, void*> && Same<HcclRtEvent, void*> &&
              Same<HcclRtContext, void*> && Same<HcclDispatcher, void*>);

static_assert(INVALID_VALUE_RANKID == 0xFFFFFFFF && INVALID_VALUE_RANKSIZE == 0xFFFFFFFF && INVALID_UINT == 0xFFFFFFFF &&
              INVALID_QOSCFG == 0xFFFFFFFF && Same<decltype(INVALID_VALUE_RANKID), const u32>);
static_assert(INVALID_U64 == UINT64_MAX && INVALID_INT == -1 && INVALID_VALUE_STAGE == -1 && HOST_DEVICE_ID == -1);
static_assert(SYS_MAX_COUNT == 0x7FFFFFFFF && NOTIFY_DEFAULT_WAIT_TIME == 1836 && HCCL_SDMA_MAX_COUNT_4GB == 0x100000000);
static_assert(NOTIFY_MAX_WAIT_TIME == 17340 && NOTIFY_MAX_WAIT_TIME_910_73 == 2147483647);
static_assert(ATTR_POS_INLINE_REDUCE == 0 && ATTR_POS_SUPPORT_RDMA == 1 && ATTR_POS_SUPPORT_RDMA_ASYNC == 2 &&
              ATTR_POS_SUPPORT_RDMA_REDUCE == 3 && RDMA_REDUCE_BITMASK == 8 && INLINE_REDUCE_BIT == 1 && INLINE_REDUCE_BITMASK == 1);

static_assert(sizeof(HcclRootInfo) == 4108 && alignof(HcclRootInfo) == 1);
static_assert(sizeof(HcclCommConfig) == 2248 && alignof(HcclCommConfig) == 8);
static_assert(offsetof(HcclCommConfig, hcclCommName) == 32 && offsetof(HcclCommConfig, hcclUdi) == 160 &&
              offsetof(HcclCommConfig, hcclOpExpansionMode) == 288 && offsetof(HcclCommConfig, hcclRdmaTrafficClass) == 292 &&
              offsetof(HcclCommConfig, hcclWorldRankID) == 300 && offsetof(HcclCommConfig, hcclJobID) == 304 &&
              offsetof(HcclCommConfig, aclGraphZeroCopyEnable) == 312 && offsetof(HcclCommConfig, hcclExecTimeOut) == 316 &&
              offsetof(HcclCommConfig, hcclAlgo) == 320 && offsetof(HcclCommConfig, hcclRetryEnable) == 1920 &&
              offsetof(HcclCommConfig, hcclRetryParams) == 1970 && offsetof(HcclCommConfig, hcclBufferName) == 2098 &&
              offsetof(HcclCommConfig, hcclQos) == 2228 && offsetof(HcclCommConfig, hcclSymWinMaxMemSizePerRank) == 2232 &&
              offsetof(HcclCommConfig, hcclChannelSqDepth) == 2240);
static_assert(sizeof(HcclSendRecvItem) == 32 && offsetof(HcclSendRecvItem, buf) == 8 && offsetof(HcclSendRecvItem, count) == 16 &&
              offsetof(HcclSendRecvItem, dataType) == 24 && offsetof(HcclSendRecvItem, remoteRank) == 28);
static_assert(HCCL_SEND == 0 && HCCL_RECV == 1);
static_assert(HCCL_COMM_STATUS_SUSPENDING == 1 && HCCL_COMM_STATUS_INVALID == 254 && HCCL_COMM_STATUS_RESERVED == 255);
static_assert(HCCL_COMM_STATE_PHASE_INVALID == -1 && HCCL_COMM_STATE_PHASE_DESTROY_PRE == 0 && HCCL_COMM_STATE_PHASE_RESUME_POST == 3);
static_assert(HCCL_OP_EXPANSION_MODE_INVALID == -1 && HCCL_OP_EXPANSION_MODE_HOST == 2 && HCCL_OP_EXPANSION_AIV_ONLY == 6);
static_assert(HCCL_CONFIG_TYPE_INVALID == -1 && HCCL_CONFIG_TYPE_HCCL_ALGO == 1);
static_assert(HCCL_CMD_BATCH_WRITE == 18 && HCCL_CMD_HALF_ALLTOALLV == 20 && HCCL_CMD_ALL == 21 && HCCL_CMD_FINALIZE == 100 &&
              HCCL_CMD_BARRIER == 103 && HCCL_CMD_MAX == 104);
static_assert(sizeof(HcclMemDesc) == 512 && sizeof(HcclMemDescs) == 16 && HCCL_MEM_DESC_LENGTH == 511);
static_assert(sizeof(HcclOneSideOpDesc) == 32 && offsetof(HcclOneSideOpDesc, remoteAddr) == 8 && offsetof(HcclOneSideOpDesc, count) == 16 &&
              offsetof(HcclOneSideOpDesc, dataType) == 24);
static_assert(sizeof(CommMem) == 24 && offsetof(CommMem, addr) == 8 && offsetof(CommMem, size) == 16);
static_assert(COMM_MEM_TYPE_INVALID == -1 && COMM_MEM_TYPE_DEVICE == 0 && COMM_MEM_TYPE_HOST == 1 && HCCL_MEM_TYPE_DEVICE == 0 &&
              HCCL_MEM_TYPE_HOST == 1);
static_assert(sizeof(HcclPrepareConfig) == 32 && HCCL_TOPO_FULLMESH == 0);
static_assert(sizeof(hccl::DeviceMem) == 24 && sizeof(hccl::HostMem) == 24);

TEST(HcclLayout, ElementSizes) {
  const u32 wanted[] = {1, 2, 4, 2, 4, 8, 8, 1, 2, 4, 8, 2, 16, 2, 1, 1, 1, 1};
  static_assert(sizeof(SIZE_TABLE) / sizeof(SIZE_TABLE[0]) == 255);
  for (int type = 0; type < 18; ++type) EXPECT_EQ(SIZE_TABLE[type], wanted[type]) << type;
  for (int type = 18; type < 255; ++type) EXPECT_EQ(SIZE_TABLE[type], 0u) << type;
}

TEST(HcclLayout, TheWorldHasItsName) { EXPECT_STREQ(HCCL_WORLD_GROUP, "hccl_world_group"); }

TEST(HcclLayout, AConfigurationKnowsItsSizeAndVersion) {
  HcclCommConfig config;
  memset(&config, 0xAB, sizeof(config));
  HcclCommConfigInit(&config);
  uint64_t size = 0;
  uint32_t version = 0;
  memcpy(&size, config.reserved, sizeof(size));
  memcpy(&version, config.reserved + 12, sizeof(version));
  EXPECT_EQ(size, 2248u);
  EXPECT_EQ(version, 11u);
  EXPECT_STREQ(config.hcclCommName, "");
  EXPECT_EQ(config.hcclSymWinMaxMemSizePerRank, 16u);
  EXPECT_EQ(config.hcclChannelSqDepth, 0xffffffffu);
  HcclCommConfigInit(nullptr);
}

}  // namespace layout_test
