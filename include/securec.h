/*
 * Functions of string.h and stdio.h that are told how large their destination is (libc_sec.so). What does not fit is refused: the
 * destination is emptied, or zeroed where it is memory, and the code says so.
 */
#ifndef RW_SECUREC_H
#define RW_SECUREC_H

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "acl/detail/api_macros.h"

#if defined(__GNUC__) || defined(__clang__)
#define RW_PRINTS(text, arguments) __attribute__((format(printf, text, arguments)))
#else
#define RW_PRINTS(text, arguments)
#endif

#ifndef errno_t
typedef int errno_t;
#endif

#ifndef EOK
#define EOK 0
#endif
#ifndef EINVAL
#define EINVAL 22
#endif
#ifndef ERANGE
#define ERANGE 34
#endif
/* the same, and the destination was reset */
#define EINVAL_AND_RESET 150
#define ERANGE_AND_RESET 162
#define EOVERLAP_AND_RESET 182

#define SECUREC_STRING_MAX_LEN 0x7fffffffUL
#define SECUREC_MEM_MAX_LEN 0x7fffffffUL

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Memory ---- */

RW_API errno_t memcpy_s(void* dest, size_t destMax, const void* src, size_t count);
RW_API errno_t memmove_s(void* dest, size_t destMax, const void* src, size_t count);
RW_API errno_t memset_s(void* dest, size_t destMax, int c, size_t count);

/* ---- Strings ---- */

RW_API errno_t strcpy_s(char* strDest, size_t destMax, const char* strSrc);
RW_API errno_t strncpy_s(char* strDest, size_t destMax, const char* strSrc, size_t count);
RW_API errno_t strcat_s(char* strDest, size_t destMax, const char* strSrc);
RW_API errno_t strncat_s(char* strDest, size_t destMax, const char* strSrc, size_t count);
RW_API char* strtok_s(char* strToken, const char* strDelimit, char** context);

/* ---- Text: the length, or -1. With count the text is cut off there, which is -1, too; the truncated forms return what is left. ---- */

RW_API int sprintf_s(char* strDest, size_t destMax, const char* format, ...) RW_PRINTS(3, 4);
RW_API int vsprintf_s(char* strDest, size_t destMax, const char* format, va_list argList) RW_PRINTS(3, 0);
RW_API int snprintf_s(char* strDest, size_t destMax, size_t count, const char* format, ...) RW_PRINTS(4, 5);
RW_API int vsnprintf_s(char* strDest, size_t destMax, size_t count, const char* format, va_list argList) RW_PRINTS(4, 0);
RW_API int snprintf_truncated_s(char* strDest, size_t destMax, const char* format, ...) RW_PRINTS(3, 4);
RW_API int vsnprintf_truncated_s(char* strDest, size_t destMax, const char* format, va_list argList) RW_PRINTS(3, 0);

/* Behind the address for %s, %c and %[ comes its size in bytes, as size_t. -1 where that is not enough. */
RW_API int sscanf_s(const char* buffer, const char* format, ...);
RW_API int vsscanf_s(const char* buffer, const char* format, va_list argList);

/* ---- What the macros below call ---- */

RW_API errno_t memcpy_sOptAsm(void* dest, size_t destMax, const void* src, size_t count);
RW_API errno_t memcpy_sOptTc(void* dest, size_t destMax, const void* src, size_t count);
RW_API errno_t memset_sOptAsm(void* dest, size_t destMax, int c, size_t count);
RW_API errno_t memset_sOptTc(void* dest, size_t destMax, int c, size_t count);
RW_API errno_t strcpy_error(char* strDest, size_t destMax, const char* strSrc);
RW_API errno_t strncpy_error(char* strDest, size_t destMax, const char* strSrc, size_t count);

#define memcpy_sp(dest, destMax, src, count) memcpy_sOptAsm((dest), (destMax), (src), (count))
#define memset_sp(dest, destMax, c, count) memset_sOptAsm((dest), (destMax), (c), (count))
#define strcpy_sp(dest, destMax, src) strcpy_s((dest), (destMax), (src))
#define strncpy_sp(dest, destMax, src, count) strncpy_s((dest), (destMax), (src), (count))
#define strcat_sp(dest, destMax, src) strcat_s((dest), (destMax), (src))
#define strncat_sp(dest, destMax, src, count) strncat_s((dest), (destMax), (src), (count))

#ifdef __cplusplus
}
#endif

#endif /* RW_SECUREC_H */
