// Whether a sanitizer watches this build: it slows everything down tenfold and replaces the allocator.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define RW_TEST_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define RW_TEST_SANITIZED 1
#endif

namespace ropeway_test {

#ifdef RW_TEST_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace ropeway_test
