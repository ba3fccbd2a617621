/* SPDX-License-Identifier: BSD-2-Clause */
/* out_name.h: names of outputs out of file=: what % stands for.
 *
 * In two steps, because a program may change its environment while it runs: the first one, at load, leaves a pattern, the second one
 * numbers the profiles. */
#ifndef HPX_OUT_NAME_H
#define HPX_OUT_NAME_H

#include "compiler.h"
#include <stddef.h>
#include <time.h>

#define HPX_NAME_VARIABLE 128u /* bytes of a variable's value that go into a name */

/* %p pid, %t start of the run as YYYYMMDD-HHMMSS in local time, %h host name, %{NAME} environment variable, %n number of the profile, %%
 * percent; other %x stay as they are. buf gets a pattern for hpx_name_number(). Of a variable only what belongs into a file name stays:
 * ASCII letters, digits, "._+=@,~-" and bytes above 127; other bytes, and a dot at the beginning, become '_'. One that is not set is empty,
 * with a line. At load. 0; -HPX_E_RANGE: longer than n. */
int hpx_name_expand(char *buf, size_t n, const char *name, time_t start);
/* The name of a profile. 0; -HPX_E_RANGE: longer than n. Any thread. */
int hpx_name_number(char *buf, size_t n, const char *pattern, uint32_t number);
/* The profiles of the pattern have different names. Any thread. */
bool hpx_name_is_numbered(const char *pattern);

#endif
