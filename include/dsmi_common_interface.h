/* Device management, as far as a device made of software has something to tell. 0 or a number of drvError_t. */
#ifndef RW_DSMI_COMMON_INTERFACE_H
#define RW_DSMI_COMMON_INTERFACE_H

#include "acl/detail/api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { DSMI_MAIN_CMD_QOS = 13 } DSMI_MAIN_CMD;

enum { DSMI_QOS_SUB_MATA_CONFIG = 0, DSMI_QOS_SUB_MASTER_CONFIG = 1, DSMI_QOS_SUB_BW_DATA = 2, DSMI_QOS_SUB_GLOBAL_CONFIG = 3 };

#define DSMI_QOS_SUB_CMD_MAKE(index, command) (((index) << 8) | (command))

struct dsmi_board_info_stru {
    unsigned int board_id;
    unsigned int pcb_id;
    unsigned int bom_id;
    unsigned int slot_id;
};

/* Only their sizes are known here. */
struct qos_mata_config {
    unsigned int reserved[12];
};
struct qos_master_config {
    unsigned int reserved[20];
};
struct qos_gbl_config {
    unsigned int reserved[12];
};

RW_API int dsmi_get_version(int device_id, char* version_str, unsigned int version_len, unsigned int* ret_len);
RW_API int dsmi_get_device_info(unsigned int device_id, DSMI_MAIN_CMD main_cmd, unsigned int sub_cmd, void* buf, unsigned int* size);
RW_API int dsmi_set_device_info(unsigned int device_id, DSMI_MAIN_CMD main_cmd, unsigned int sub_cmd, const void* buf,
                                unsigned int buf_size);
RW_API int dsmi_get_board_info(int device_id, struct dsmi_board_info_stru* pboard_info);
RW_API int dsmi_get_device_count(int* device_count);

#ifdef __cplusplus
}
#endif

#endif /* RW_DSMI_COMMON_INTERFACE_H */
