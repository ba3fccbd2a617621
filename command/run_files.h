/* SPDX-License-Identifier: BSD-2-Clause */
/* run_files.h: the files that the JVMs of a run write: which are new since it began, and what the user is told of them. One thread. */
#ifndef HPX_COMMAND_RUN_FILES_H
#define HPX_COMMAND_RUN_FILES_H

#include "list.h"
#include <sys/stat.h>

struct hpx_run_file {
    char *name;      /* of the profile; owned */
    struct stat at;  /* of what was found */
    bool unfinished; /* found by its journal, or by what a JVM has begun */
};

/* Adds the profiles, and the journals of those that are not finished, whose names a pattern of file= may have become: struct hpx_run_file,
 * 1.9 before 1.10; none twice. A plain name is a pattern, too. false: no memory. */
bool hpx_run_files_find(struct hpx_list *to, const char *pattern);
/* Leaves in `now` what is not in `before`, or was written since. */
void hpx_run_files_since(struct hpx_list *now, const struct hpx_list *before);
void hpx_run_files_fini(struct hpx_list *l);
/* How many are finished; those come first. */
size_t hpx_run_files_finished(const struct hpx_list *l);
/* There is one, it is finished, and nobody writes it any more. */
bool hpx_run_files_is_over(const struct hpx_list *l);
/* Says on stderr what becomes of those that are not finished, or are still written. false: there are none. */
bool hpx_run_files_tell_unfinished(const struct hpx_list *l);
/* The name with ".%p", the number of the process, before its suffix, as file= takes it. false: it does not fit. */
bool hpx_run_files_number(char *to, size_t size, const char *pattern);
/* Back: the name that such a pattern has become, without its number. false: it does not fit. */
bool hpx_run_files_plain(char *to, size_t size, const char *name, const char *pattern);

#endif
