/*
 * Two compiler marks shared by all public headers. RW_API exports a function from a library that is built with hidden
 * visibility; RW_CONSTANT opens the definition of a numeric constant without a warning where nobody uses it.
 */
#ifndef RW_ACL_DETAIL_API_MACROS_H
#define RW_ACL_DETAIL_API_MACROS_H

#if defined(__GNUC__) || defined(__clang__)
#define RW_API __attribute__((visibility("default")))
#define RW_CONSTANT __attribute__((unused)) static const
#else
#define RW_API
#define RW_CONSTANT static const
#endif

#endif /* RW_ACL_DETAIL_API_MACROS_H */
