/*
 * Channels between ranks for code on the device. Channels need an NPU: all answer HCCL_E_NOT_SUPPORT.
 */
#ifndef RW_HCCL_CHANNEL_H
#define RW_HCCL_CHANNEL_H

#include "hccl/hccl_res.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API HcclResult HcclChannelGetRemoteMems(HcclComm comm, ChannelHandle channel, uint32_t* memNum, CommMem** remoteMems, char*** memTags);

#ifdef __cplusplus
}
#endif

#endif /* RW_HCCL_CHANNEL_H */
