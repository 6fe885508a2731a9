/*
 * What the other headers stand on: aclError and the codes of the API layer, the handle types, data types, logging
 * and data buffers.
 */
#ifndef RW_ACL_BASE_RT_H
#define RW_ACL_BASE_RT_H

#include <stddef.h>
#include <stdint.h>

#include "detail/api_macros.h"
#include "error_codes/ge_error_codes.h"
#include "error_codes/rt_error_codes.h"

/* Marks that programs repeat, also in front of functions of their own. */
#if defined(__GNUC__) && defined(FUNC_VISIBILITY)
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif
#if defined(__GNUC__) && __GNUC__ >= 6
#define ACL_DEPRECATED __attribute__((deprecated))
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#else
#define ACL_DEPRECATED
#define ACL_DEPRECATED_MESSAGE(message)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError;

RW_CONSTANT int ACL_ERROR_NONE = 0;
RW_CONSTANT int ACL_SUCCESS = 0;

/* mistakes of the caller */
RW_CONSTANT int ACL_ERROR_INVALID_PARAM = 100000;
RW_CONSTANT int ACL_ERROR_UNINITIALIZE = 100001;
RW_CONSTANT int ACL_ERROR_REPEAT_INITIALIZE = 100002;
RW_CONSTANT int ACL_ERROR_INVALID_FILE = 100003;
RW_CONSTANT int ACL_ERROR_WRITE_FILE = 100004;
RW_CONSTANT int ACL_ERROR_INVALID_FILE_SIZE = 100005;
RW_CONSTANT int ACL_ERROR_PARSE_FILE = 100006;
RW_CONSTANT int ACL_ERROR_FILE_MISSING_ATTR = 100007;
RW_CONSTANT int ACL_ERROR_FILE_ATTR_INVALID = 100008;
RW_CONSTANT int ACL_ERROR_INVALID_DUMP_CONFIG = 100009;
RW_CONSTANT int ACL_ERROR_INVALID_PROFILING_CONFIG = 100010;
RW_CONSTANT int ACL_ERROR_INVALID_MODEL_ID = 100011;
RW_CONSTANT int ACL_ERROR_DESERIALIZE_MODEL = 100012;
RW_CONSTANT int ACL_ERROR_PARSE_MODEL = 100013;
RW_CONSTANT int ACL_ERROR_READ_MODEL_FAILURE = 100014;
RW_CONSTANT int ACL_ERROR_MODEL_SIZE_INVALID = 100015;
RW_CONSTANT int ACL_ERROR_MODEL_MISSING_ATTR = 100016;
RW_CONSTANT int ACL_ERROR_MODEL_INPUT_NOT_MATCH = 100017;
RW_CONSTANT int ACL_ERROR_MODEL_OUTPUT_NOT_MATCH = 100018;
RW_CONSTANT int ACL_ERROR_MODEL_NOT_DYNAMIC = 100019;
RW_CONSTANT int ACL_ERROR_OP_TYPE_NOT_MATCH = 100020;
RW_CONSTANT int ACL_ERROR_OP_INPUT_NOT_MATCH = 100021;
RW_CONSTANT int ACL_ERROR_OP_OUTPUT_NOT_MATCH = 100022;
RW_CONSTANT int ACL_ERROR_OP_ATTR_NOT_MATCH = 100023;
RW_CONSTANT int ACL_ERROR_OP_NOT_FOUND = 100024;
RW_CONSTANT int ACL_ERROR_OP_LOAD_FAILED = 100025;
RW_CONSTANT int ACL_ERROR_UNSUPPORTED_DATA_TYPE = 100026;
RW_CONSTANT int ACL_ERROR_FORMAT_NOT_MATCH = 100027;
RW_CONSTANT int ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED = 100028;
RW_CONSTANT int ACL_ERROR_KERNEL_NOT_FOUND = 100029;
RW_CONSTANT int ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED = 100030;
RW_CONSTANT int ACL_ERROR_KERNEL_ALREADY_REGISTERED = 100031;
RW_CONSTANT int ACL_ERROR_INVALID_QUEUE_ID = 100032;
RW_CONSTANT int ACL_ERROR_REPEAT_SUBSCRIBE = 100033;
RW_CONSTANT int ACL_ERROR_STREAM_NOT_SUBSCRIBE = 100034;
RW_CONSTANT int ACL_ERROR_THREAD_NOT_SUBSCRIBE = 100035;
RW_CONSTANT int ACL_ERROR_WAIT_CALLBACK_TIMEOUT = 100036;
RW_CONSTANT int ACL_ERROR_REPEAT_FINALIZE = 100037;
RW_CONSTANT int ACL_ERROR_NOT_STATIC_AIPP = 100038;
RW_CONSTANT int ACL_ERROR_COMPILING_STUB_MODE = 100039;
RW_CONSTANT int ACL_ERROR_GROUP_NOT_SET = 100040;
RW_CONSTANT int ACL_ERROR_GROUP_NOT_CREATE = 100041;
RW_CONSTANT int ACL_ERROR_PROF_ALREADY_RUN = 100042;
RW_CONSTANT int ACL_ERROR_PROF_NOT_RUN = 100043;
RW_CONSTANT int ACL_ERROR_DUMP_ALREADY_RUN = 100044;
RW_CONSTANT int ACL_ERROR_DUMP_NOT_RUN = 100045;

RW_CONSTANT int ACL_ERROR_PROF_REPEAT_SUBSCRIBE = 148046;
RW_CONSTANT int ACL_ERROR_PROF_API_CONFLICT = 148047;
RW_CONSTANT int ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG = 148048;
RW_CONSTANT int ACL_ERROR_INVALID_OPP_PATH = 148049;
RW_CONSTANT int ACL_ERROR_OP_UNSUPPORTED_DYNAMIC = 148050;
RW_CONSTANT int ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED = 148051;
RW_CONSTANT int ACL_ERROR_UNSUPPORTED_JPEG = 148052;
RW_CONSTANT int ACL_ERROR_INVALID_BUNDLE_MODEL_ID = 148053;

/* resources and abilities */
RW_CONSTANT int ACL_ERROR_BAD_ALLOC = 200000;
RW_CONSTANT int ACL_ERROR_API_NOT_SUPPORT = 200001;
RW_CONSTANT int ACL_ERROR_INVALID_DEVICE = 200002;
RW_CONSTANT int ACL_ERROR_MEMORY_ADDRESS_UNALIGNED = 200003;
RW_CONSTANT int ACL_ERROR_RESOURCE_NOT_MATCH = 200004;
RW_CONSTANT int ACL_ERROR_INVALID_RESOURCE_HANDLE = 200005;
RW_CONSTANT int ACL_ERROR_FEATURE_UNSUPPORTED = 200006;
RW_CONSTANT int ACL_ERROR_PROF_MODULES_UNSUPPORTED = 200007;

/* limits */
RW_CONSTANT int ACL_ERROR_STORAGE_OVER_LIMIT = 300000;

/* faults */
RW_CONSTANT int ACL_ERROR_INTERNAL_ERROR = 500000;
RW_CONSTANT int ACL_ERROR_FAILURE = 500001;
RW_CONSTANT int ACL_ERROR_GE_FAILURE = 500002;
RW_CONSTANT int ACL_ERROR_RT_FAILURE = 500003;
RW_CONSTANT int ACL_ERROR_DRV_FAILURE = 500004;
RW_CONSTANT int ACL_ERROR_PROFILING_FAILURE = 500005;

typedef void* aclrtStream;
typedef void* aclrtEvent;
typedef void* aclrtContext;
typedef void* aclrtMbuf;

/* IEEE half precision, as bits */
typedef uint16_t aclFloat16;

typedef struct aclDataBuffer aclDataBuffer;

typedef enum aclDataType {
    ACL_DT_UNDEFINED = -1,
    ACL_FLOAT = 0,
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_UINT16 = 7,
    ACL_UINT32 = 8,
    ACL_INT64 = 9,
    ACL_UINT64 = 10,
    ACL_DOUBLE = 11,
    ACL_BOOL = 12,
    ACL_STRING = 13,
    ACL_COMPLEX64 = 16,
    ACL_COMPLEX128 = 17,
    ACL_BF16 = 27,
    ACL_INT4 = 29,
    ACL_UINT1 = 30,
    ACL_COMPLEX32 = 33,
    ACL_HIFLOAT8 = 34,
    ACL_FLOAT8_E5M2 = 35,
    ACL_FLOAT8_E4M3FN = 36,
    ACL_FLOAT8_E8M0 = 37,
    ACL_FLOAT6_E3M2 = 38,
    ACL_FLOAT6_E2M3 = 39,
    ACL_FLOAT4_E2M1 = 40,
    ACL_FLOAT4_E1M2 = 41
} aclDataType;

typedef enum aclFormat {
    ACL_FORMAT_UNDEFINED = -1,
    ACL_FORMAT_NCHW = 0,
    ACL_FORMAT_NHWC = 1,
    ACL_FORMAT_ND = 2,
    ACL_FORMAT_NC1HWC0 = 3,
    ACL_FORMAT_FRACTAL_Z = 4,
    ACL_FORMAT_NC1HWC0_C04 = 12,
    ACL_FORMAT_HWCN = 16,
    ACL_FORMAT_NDHWC = 27,
    ACL_FORMAT_FRACTAL_NZ = 29,
    ACL_FORMAT_NCDHW = 30,
    ACL_FORMAT_NDC1HWC0 = 32,
    ACL_FRACTAL_Z_3D = 33,
    ACL_FORMAT_NC = 35,
    ACL_FORMAT_NCL = 47,
    ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,
    ACL_FORMAT_FRACTAL_NZ_C0_32 = 51,
    ACL_FORMAT_FRACTAL_NZ_C0_2 = 52,
    ACL_FORMAT_FRACTAL_NZ_C0_4 = 53,
    ACL_FORMAT_FRACTAL_NZ_C0_8 = 54
} aclFormat;

typedef enum aclLogLevel { ACL_DEBUG = 0, ACL_INFO = 1, ACL_WARNING = 2, ACL_ERROR = 3 } aclLogLevel;

/* ACL_APP_LOG(level, format, ...): one line in the log, with the place it came from */
#define ACL_APP_LOG(level, ...) aclAppLog(level, __func__, __FILE__, __LINE__, __VA_ARGS__)

typedef enum aclCannAttr {
    ACL_CANN_ATTR_UNDEFINED = -1,
    ACL_CANN_ATTR_INF_NAN = 0,
    ACL_CANN_ATTR_BF16 = 1,
    ACL_CANN_ATTR_JIT_COMPILE = 2
} aclCannAttr;

typedef enum aclDeviceInfo {
    ACL_DEVICE_INFO_UNDEFINED = -1,
    ACL_DEVICE_INFO_AI_CORE_NUM = 0,
    ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
    ACL_DEVICE_INFO_L2_SIZE = 2
} aclDeviceInfo;

/* Between half and single precision. */
RW_API float aclFloat16ToFloat(aclFloat16 value);
RW_API aclFloat16 aclFloatToFloat16(float value);

/* An address with a size. The memory stays the caller's. */
RW_API aclDataBuffer* aclCreateDataBuffer(void* data, size_t size);
RW_API aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer);
RW_API aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size);
RW_API void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer);
RW_API uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer);
RW_API size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer);

/* Bytes per element. */
RW_API size_t aclDataTypeSize(aclDataType dataType);

/* See ACL_APP_LOG. */
RW_API void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt, ...);

/* The chip's name, for example Ascend910B1. Lives as long as the process. */
RW_API const char* aclrtGetSocName(void);

/* What the software can do. */
RW_API aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num);
RW_API aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value);

/* One number about the device. Unknown device or number: 100000. */
RW_API aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value);

#ifdef __cplusplus
}
#endif

#endif /* RW_ACL_BASE_RT_H */
