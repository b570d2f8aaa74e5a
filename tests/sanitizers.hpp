#pragma once

/// Whether a sanitizer with its allocator is built in: g++ defines macros, clang has features.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KTAPE_TESTS_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KTAPE_TESTS_SANITIZED
#endif
#endif
