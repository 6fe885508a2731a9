// libc_sec.so: memory, strings and text with bounds. It knows nothing of the other libraries.
#include "securec.h"

#include <cstdio>
#include <cstring>

namespace {

bool IsSize(size_t size) { return size != 0 && size <= SECUREC_STRING_MAX_LEN; }

bool Overlap(const void* one, size_t one_size, const void* other, size_t other_size) {
  const auto a = reinterpret_cast<uintptr_t>(one), b = reinterpret_cast<uintptr_t>(other);
  return a < b ? b - a < one_size : a - b < other_size;
}

errno_t ResetMemory(void* dest, size_t size, errno_t code) {
  std::memset(dest, 0, size);
  return code;
}

errno_t ResetString(char* dest, errno_t code) {
  *dest = '\0';
  return code;
}

errno_t CheckMemory(void* dest, size_t destMax, const void* src, size_t count) {
  if (!IsSize(destMax)) return ERANGE;
  if (dest == nullptr) return EINVAL;
  if (src == nullptr) return ResetMemory(dest, destMax, EINVAL_AND_RESET);
  if (count > destMax) return ResetMemory(dest, destMax, ERANGE_AND_RESET);
  return EOK;
}

errno_t CheckString(char* dest, size_t destMax, const char* src) {
  if (!IsSize(destMax)) return ERANGE;
  if (dest == nullptr) return EINVAL;
  return src == nullptr ? ResetString(dest, EINVAL_AND_RESET) : EOK;
}

// Puts at most `count` characters of src behind the first `used` of dest.
errno_t Append(char* dest, size_t destMax, size_t used, const char* src, size_t count) {
  const size_t length = strnlen(src, count);
  if (length >= destMax - used) return ResetString(dest, ERANGE_AND_RESET);
  if (Overlap(dest, used + length + 1, src, length + 1)) return ResetString(dest, EOVERLAP_AND_RESET);
  std::memcpy(dest + used, src, length);
  dest[used + length] = '\0';
  return EOK;
}

// -1, and nothing in dest.
int NoText(char* dest, size_t destMax) {
  if (dest != nullptr && IsSize(destMax)) *dest = '\0';
  return -1;
}

bool CanPrint(const char* dest, size_t destMax, const char* format) { return dest != nullptr && format != nullptr && IsSize(destMax); }

}  // namespace

// --- Memory -------------------------------------------------------------------------------------------------------------

errno_t memcpy_s(void* dest, size_t destMax, const void* src, size_t count) {
  if (const errno_t code = CheckMemory(dest, destMax, src, count); code != EOK) return code;
  if (dest == src || count == 0) return EOK;
  if (Overlap(dest, count, src, count)) return ResetMemory(dest, destMax, EOVERLAP_AND_RESET);
  std::memcpy(dest, src, count);
  return EOK;
}

errno_t memmove_s(void* dest, size_t destMax, const void* src, size_t count) {
  if (const errno_t code = CheckMemory(dest, destMax, src, count); code != EOK) return code;
  std::memmove(dest, src, count);
  return EOK;
}

errno_t memset_s(void* dest, size_t destMax, int c, size_t count) {
  if (!IsSize(destMax)) return ERANGE;
  if (dest == nullptr) return EINVAL;
  std::memset(dest, c, count < destMax ? count : destMax);
  return count <= destMax ? EOK : ERANGE_AND_RESET;
}

errno_t memcpy_sOptAsm(void* dest, size_t destMax, const void* src, size_t count) { return memcpy_s(dest, destMax, src, count); }
errno_t memcpy_sOptTc(void* dest, size_t destMax, const void* src, size_t count) { return memcpy_s(dest, destMax, src, count); }
errno_t memset_sOptAsm(void* dest, size_t destMax, int c, size_t count) { return memset_s(dest, destMax, c, count); }
errno_t memset_sOptTc(void* dest, size_t destMax, int c, size_t count) { return memset_s(dest, destMax, c, count); }

// --- Strings ------------------------------------------------------------------------------------------------------------

errno_t strcpy_s(char* strDest, size_t destMax, const char* strSrc) { return strncpy_s(strDest, destMax, strSrc, SECUREC_STRING_MAX_LEN); }

errno_t strncpy_s(char* strDest, size_t destMax, const char* strSrc, size_t count) {
  if (const errno_t code = CheckString(strDest, destMax, strSrc); code != EOK) return code;
  if (count > SECUREC_STRING_MAX_LEN) return ResetString(strDest, ERANGE_AND_RESET);
  if (strDest == strSrc && strnlen(strSrc, destMax) <= count && strnlen(strSrc, destMax) < destMax) return EOK;
  return Append(strDest, destMax, 0, strSrc, count);
}

errno_t strcat_s(char* strDest, size_t destMax, const char* strSrc) { return strncat_s(strDest, destMax, strSrc, SECUREC_STRING_MAX_LEN); }

errno_t strncat_s(char* strDest, size_t destMax, const char* strSrc, size_t count) {
  if (const errno_t code = CheckString(strDest, destMax, strSrc); code != EOK) return code;
  if (count > SECUREC_STRING_MAX_LEN) return ResetString(strDest, ERANGE_AND_RESET);
  const size_t used = strnlen(strDest, destMax);
  if (used == destMax) return ResetString(strDest, EINVAL_AND_RESET);  // it has no end
  return Append(strDest, destMax, used, strSrc, count);
}

errno_t strcpy_error(char* strDest, size_t destMax, const char* strSrc) { return strcpy_s(strDest, destMax, strSrc); }
errno_t strncpy_error(char* strDest, size_t destMax, const char* strSrc, size_t count) {
  return strncpy_s(strDest, destMax, strSrc, count);
}

char* strtok_s(char* strToken, const char* strDelimit, char** context) {
  if (strDelimit == nullptr || context == nullptr || (strToken == nullptr && *context == nullptr)) return nullptr;
  return strtok_r(strToken, strDelimit, context);
}

// --- Text ---------------------------------------------------------------------------------------------------------------

int vsprintf_s(char* strDest, size_t destMax, const char* format, va_list argList) {
  if (!CanPrint(strDest, destMax, format)) return NoText(strDest, destMax);
  const int length = vsnprintf(strDest, destMax, format, argList);
  return length >= 0 && static_cast<size_t>(length) < destMax ? length : NoText(strDest, destMax);
}

// A count that leaves room for the end cuts the text off; a larger one means all of it.
int vsnprintf_s(char* strDest, size_t destMax, size_t count, const char* format, va_list argList) {
  if (count >= destMax) return vsprintf_s(strDest, destMax, format, argList);
  if (!CanPrint(strDest, destMax, format)) return NoText(strDest, destMax);
  const int length = vsnprintf(strDest, count + 1, format, argList);
  if (length < 0) return NoText(strDest, destMax);
  return static_cast<size_t>(length) <= count ? length : -1;
}

int vsnprintf_truncated_s(char* strDest, size_t destMax, const char* format, va_list argList) {
  if (!CanPrint(strDest, destMax, format)) return NoText(strDest, destMax);
  const int length = vsnprintf(strDest, destMax, format, argList);
  if (length < 0) return NoText(strDest, destMax);
  return static_cast<size_t>(length) < destMax ? length : static_cast<int>(destMax - 1);
}

int sprintf_s(char* strDest, size_t destMax, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsprintf_s(strDest, destMax, format, arguments);
  va_end(arguments);
  return length;
}

int snprintf_s(char* strDest, size_t destMax, size_t count, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf_s(strDest, destMax, count, format, arguments);
  va_end(arguments);
  return length;
}

int snprintf_truncated_s(char* strDest, size_t destMax, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf_truncated_s(strDest, destMax, format, arguments);
  va_end(arguments);
  return length;
}
