/* Kernels by their older names: refused. Stand-ins are launched by aclrtLaunchKernel. */
#ifndef RW_RUNTIME_KERNEL_H
#define RW_RUNTIME_KERNEL_H

#include "base.h"
#include "rt_external_base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RT_DEV_BINARY_MAGIC_ELF 0x43554245U
#define RT_DEV_BINARY_MAGIC_ELF_AICPU 0x41415243U
#define RT_DEV_BINARY_MAGIC_ELF_AIVEC 0x41415246U
#define RT_DEV_BINARY_MAGIC_ELF_AICUBE 0x41494343U
#define RT_DEV_BINARY_MAGIC_PLAIN 0xabceed50U
#define RT_DEV_BINARY_MAGIC_PLAIN_AICPU 0xabceed51U
#define RT_DEV_BINARY_MAGIC_PLAIN_AIVEC 0xabceed52U

typedef struct {
    uint32_t magic;
    uint32_t version;
    const void* data;
    uint64_t length;
} rtDevBinary_t;

typedef struct {
    uint64_t L2_mirror_addr;
    uint32_t L2_data_section_size;
    uint8_t L2_preload;
    uint8_t modified;
    uint8_t priority;
    int8_t prev_L2_page_offset_base;
    uint8_t L2_page_offset_base;
    uint8_t L2_load_to_ddr;
    uint8_t reserved[2];
} rtSmData_t;

typedef struct {
    rtSmData_t data[8];
    uint64_t size;
    uint8_t remap[64];
    uint8_t l2_in_main;
    uint8_t reserved[3];
} rtSmDesc_t;

typedef struct {
    uint32_t addrOffset;
    uint32_t dataOffset;
} rtHostInputInfo_t;

typedef struct {
    void* args;
    rtHostInputInfo_t* hostInputInfoPtr;
    uint32_t argsSize;
    uint32_t tilingAddrOffset;
    uint32_t tilingDataOffset;
    uint16_t hostInputInfoNum;
    uint8_t hasTiling;
    uint8_t isNoNeedH2DCopy;
    uint8_t reserved[4];
} rtArgsEx_t;

RW_API rtError_t rtDevBinaryRegister(const rtDevBinary_t* bin, void** hdl);
RW_API rtError_t rtFunctionRegister(void* binHandle, const void* stubFunc, const char_t* stubName, const void* kernelInfoExt,
                                    uint32_t funcMode);
RW_API rtError_t rtKernelLaunch(const void* stubFunc, uint32_t numBlocks, void* args, uint32_t argsSize, rtSmDesc_t* smDesc,
                                rtStream_t stm);
RW_API rtError_t rtKernelLaunchWithFlag(const void* stubFunc, uint32_t numBlocks, rtArgsEx_t* argsInfo, rtSmDesc_t* smDesc, rtStream_t stm,
                                        uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif /* RW_RUNTIME_KERNEL_H */
