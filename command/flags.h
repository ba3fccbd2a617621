/* SPDX-License-Identifier: BSD-2-Clause */
/* flags.h: what the options of a JVM say of one flag of type bool, -XX:+NAME or -XX:-NAME. No state; any thread. */
#ifndef HPX_COMMAND_FLAGS_H
#define HPX_COMMAND_FLAGS_H

enum hpx_flag { HPX_FLAG_ABSENT, HPX_FLAG_OFF, HPX_FLAG_ON };

/* Of one option. */
enum hpx_flag hpx_flag_of_word(const char *word, const char *name);
/* Of a text as in JAVA_TOOL_OPTIONS: options with blanks between, quotes around a part. The last one counts, as for the JVM. */
enum hpx_flag hpx_flag_of_text(const char *text, const char *name);

#endif
