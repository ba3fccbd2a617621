/* SPDX-License-Identifier: BSD-2-Clause */
/* sanitized.h: whether this test runs under a sanitizer: its runtime looks functions up by dlsym(), and takes addresses by the terabyte. */
#ifndef SANITIZED_H
#define SANITIZED_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#endif

#ifndef SANITIZED
#define UNSANITIZED
#define SANITIZED false
#endif

#endif
