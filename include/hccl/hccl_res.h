/*
 * Memory of a communicator for channels of the device. Channels need an NPU: all answer HCCL_E_NOT_SUPPORT. The one-sided
 * service (hccl_one_sided_services.h) reaches memory of other ranks.
 */
#ifndef RW_HCCL_RES_H
#define RW_HCCL_RES_H

#include "hccl/hccl_types.h"
#include "hcomm/hcomm_res_defs.h"

#ifdef __cplusplus
extern "C" {
#endif

RW_API HcclResult HcclCommMemReg(HcclComm comm, const char* memTag, const CommMem* mem, HcclMemHandle* memHandle);

#ifdef __cplusplus
}
#endif

#endif /* RW_HCCL_RES_H */
