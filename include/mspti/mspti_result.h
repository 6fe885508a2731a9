/* How calls of mspti end. */
#ifndef RW_MSPTI_RESULT_H
#define RW_MSPTI_RESULT_H

typedef enum {
    MSPTI_SUCCESS = 0,
    MSPTI_ERROR_INVALID_PARAMETER = 1,
    MSPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 2,
    MSPTI_ERROR_MAX_LIMIT_REACHED = 3, /* no more records */
    MSPTI_ERROR_DEVICE_OFFLINE = 4,
    MSPTI_ERROR_QUEUE_EMPTY = 5,
    MSPTI_ERROR_WITHOUT_LD_PRELOAD = 6, /* not here: it works without */
    MSPTI_ERROR_INNER = 999
} msptiResult;

#endif /* RW_MSPTI_RESULT_H */
