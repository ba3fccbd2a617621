/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_info.c: hprofx info, and what check has of it. */
#include "hprof_show.h"
#include "subcommands.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

/* Or its journal exists, which the run removes at its end: the run lives, or was killed while it appended a dump. */
static bool unfinished(const char *file)
{
    char journal[PATH_MAX];
    size_t n = strlen(file);
    int k = snprintf(journal, sizeof(journal), "%s.journal.part", file);
    return (n > 5 && strcmp(file + n - 5, ".part") == 0) || (k > 0 && (size_t)k < sizeof(journal) && access(journal, F_OK) == 0);
}

static enum hpx_status open_and_view(const struct hpx_view *asked, const char *file)
{
    if (strcmp(file, "-") == 0) {
        return hpx_view(asked, "standard input", STDIN_FILENO);
    }
    int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) {
        (void)fprintf(stderr, "hprofx: %s: %s\n", file, strerror(errno));
        return HPX_FAILED;
    }
    struct hpx_view with = *asked;
    with.part |= unfinished(file);
    enum hpx_status s = hpx_view(&with, file, fd);
    (void)close(fd);
    return s;
}

int hpx_examine(struct hpx_arguments *a, bool checks)
{
    struct hpx_view asked = {.check = checks};
    const char *file = NULL;
    size_t files = 0;
    for (int next; (next = hpx_arguments_next(a)) != HPX_ARGUMENTS_LAST;) {
        if (next == HPX_ARGUMENTS_ENDS) {
            return a->status;
        }
        asked.strict |= next == HPX_O_STRICT;
        asked.notes |= next == HPX_O_VERBOSE;
        asked.json |= next == HPX_O_JSON;
        asked.part |= next == HPX_O_PART;
        file = next == HPX_ARGUMENTS_WORD ? a->value : file;
        files += next == HPX_ARGUMENTS_WORD;
    }
    return files == 1 ? (int)open_and_view(&asked, file) : hpx_arguments_misuse(a, "%s takes one file", a->verb->name);
}

int hpx_info(struct hpx_arguments *a)
{
    return hpx_examine(a, false);
}
