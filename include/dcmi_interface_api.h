/*
 * Card management: every device is a card of its own, with the one device 0. 0, or -8001 (argument), -8007 (no such device), -8255 (not
 * supported), -8005 (anything else).
 */
#ifndef RW_DCMI_INTERFACE_API_H
#define RW_DCMI_INTERFACE_API_H

#include "acl/detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dcmi_pcie_info_all {
    unsigned int venderid;
    unsigned int subvenderid;
    unsigned int deviceid;
    unsigned int subdeviceid;
    int domain;
    unsigned int bdf_busid;
    unsigned int bdf_deviceid;
    unsigned int bdf_funcid;
    unsigned char reserve[32];
};

RW_API int dcmi_init(void);
RW_API int dcmi_get_card_num_list(int* card_num, int* card_list, int list_len);
RW_API int dcmi_get_device_id_in_card(int card_id, int* device_id_max, int* mcu_id, int* cpu_id);
RW_API int dcmi_get_affinity_cpu_info_by_device_id(int card_id, int device_id, char* affinity_cpu, int* length);
RW_API int dcmi_get_device_pcie_info_v2(int card_id, int device_id, struct dcmi_pcie_info_all* pcie_info);

#ifdef __cplusplus
}
#endif

#endif /* RW_DCMI_INTERFACE_API_H */
