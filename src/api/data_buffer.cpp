// Small things of acl_base_rt.h: data buffers, data types, half precision, and the program's own log lines.
#include <cstdarg>
#include <cstdio>
#include <new>

#include "api/entry.h"
#include "base/half.h"
#include "base/log.h"

using namespace ropeway;
using namespace ropeway::api;

struct aclDataBuffer {
  void* data;
  size_t size;
};

aclDataBuffer* aclCreateDataBuffer(void* data, size_t size) { return new (std::nothrow) aclDataBuffer{data, size}; }

aclError aclDestroyDataBuffer(const aclDataBuffer* dataBuffer) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("dataBuffer", dataBuffer));
    delete dataBuffer;
    return Ok();
  });
}

aclError aclUpdateDataBuffer(aclDataBuffer* dataBuffer, void* data, size_t size) {
  return PlainEntry(__func__, [&]() -> Status {
    RW_TRY(RequirePointer("dataBuffer", dataBuffer));
    *dataBuffer = {data, size};
    return Ok();
  });
}

void* aclGetDataBufferAddr(const aclDataBuffer* dataBuffer) { return dataBuffer == nullptr ? nullptr : dataBuffer->data; }

uint32_t aclGetDataBufferSize(const aclDataBuffer* dataBuffer) { return static_cast<uint32_t>(aclGetDataBufferSizeV2(dataBuffer)); }

size_t aclGetDataBufferSizeV2(const aclDataBuffer* dataBuffer) { return dataBuffer == nullptr ? 0 : dataBuffer->size; }

// 0 for strings, for elements smaller than a byte, and for numbers that are not data types.
size_t aclDataTypeSize(aclDataType dataType) {
  switch (dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0: return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16: return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32: return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64: return 8;
    case ACL_COMPLEX128: return 16;
    default: return 0;
  }
}

float aclFloat16ToFloat(aclFloat16 value) { return HalfToFloat(value); }

aclFloat16 aclFloatToFloat16(float value) { return FloatToHalf(value); }

void aclAppLog(aclLogLevel logLevel, const char* func, const char* file, uint32_t line, const char* fmt, ...) {
  if (fmt == nullptr || !LogWanted(logLevel)) return;
  char text[1024];
  const int head = snprintf(text, sizeof(text), "[%.256s:%u] %.256s: ", file != nullptr ? file : "?", line, func != nullptr ? func : "?");
  va_list arguments;
  va_start(arguments, fmt);
  vsnprintf(text + head, sizeof(text) - static_cast<size_t>(head), fmt, arguments);
  va_end(arguments);
  WriteLog(logLevel, text);
}
