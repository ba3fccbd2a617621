/* SPDX-License-Identifier: BSD-2-Clause */
/* jar.c: --jar: the classes of a jar rewritten, everything else copied, in the jar's order. */
#include "program.h"
#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENTRY_MAX = 1 << 30, PROGRESS = 256 };

struct jar {
    const struct hprofx_bci_opts *opts;
    struct archive *in, *out;
    struct hpx_summary summary;
    uint64_t entries, refused;
    const char *out_name;
};

/* The entry's bytes, malloc'ed; NULL: unreadable, too large, no memory. */
static uint8_t *entry_bytes(struct archive *in, size_t *n)
{
    size_t cap = 1 << 16;
    uint8_t *p = malloc(cap);
    *n = 0;
    while (p != NULL) {
        if (*n == cap) {
            uint8_t *more = cap >= ENTRY_MAX ? NULL : realloc(p, cap * 2);
            if (more == NULL) {
                break;
            }
            p = more;
            cap *= 2;
        }
        la_ssize_t got = archive_read_data(in, p + *n, cap - *n);
        if (got < 0) {
            break;
        }
        if (got == 0) {
            return p;
        }
        *n += (size_t)got;
    }
    free(p);
    return NULL;
}

static bool put(struct jar *j, struct archive_entry *entry, const uint8_t *p, size_t n)
{
    archive_entry_set_size(entry, (la_int64_t)n);
    return archive_write_header(j->out, entry) == ARCHIVE_OK && (n == 0 || archive_write_data(j->out, p, n) == (la_ssize_t)n);
}

/* false: the jar could not be read or written. */
static bool do_entry(struct jar *j, struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry), *why;
    size_t n, m = 0, len = name == NULL ? 0 : strlen(name);
    uint8_t *bytes = entry_bytes(j->in, &n), *out = NULL;
    if (bytes == NULL) {
        fprintf(stderr, "hprofx-bci: %s: %s\n", name == NULL ? "?" : name,
                archive_errno(j->in) != 0 ? archive_error_string(j->in) : "too large");
        return false;
    }
    if (len > 6 && strcmp(name + len - 6, ".class") == 0) {
        int how = hpx_summary_rewrite(&j->summary, j->opts, bytes, n, &out, &m, &why);
        if (how == 2) {
            fprintf(stderr, "hprofx-bci: %s: refused: %s\n", name, why);
            j->refused++;
        }
    }
    bool good = out != NULL ? put(j, entry, out, m) : put(j, entry, bytes, n);
    if (!good) {
        fprintf(stderr, "hprofx-bci: %s: %s\n", j->out_name, archive_error_string(j->out));
    }
    free(bytes);
    free(out);
    return good;
}

static bool do_entries(struct jar *j, const char *in_name)
{
    bool terminal = isatty(STDERR_FILENO) == 1;
    struct archive_entry *entry;
    int got;
    while ((got = archive_read_next_header(j->in, &entry)) == ARCHIVE_OK || got == ARCHIVE_WARN) {
        if (!do_entry(j, entry)) {
            return false;
        }
        if (++j->entries % PROGRESS == 0 && terminal) {
            fprintf(stderr, "\r%llu entries", (unsigned long long)j->entries);
        }
    }
    if (terminal && j->entries >= PROGRESS) {
        fprintf(stderr, "\r%llu entries\n", (unsigned long long)j->entries);
    }
    if (got != ARCHIVE_EOF) {
        fprintf(stderr, "hprofx-bci: %s: %s\n", in_name, archive_error_string(j->in));
    }
    return got == ARCHIVE_EOF;
}

int hpx_jar_rewrite(const struct hprofx_bci_opts *opts, const char *in, const char *out, bool verbose)
{
    struct jar j = {.opts = opts, .in = archive_read_new(), .out = archive_write_new(), .out_name = out};
    bool good = j.in != NULL && j.out != NULL && archive_read_support_format_zip(j.in) == ARCHIVE_OK &&
                archive_write_set_format_zip(j.out) == ARCHIVE_OK;
    if (good && archive_read_open_filename(j.in, in, 1 << 16) != ARCHIVE_OK) {
        fprintf(stderr, "hprofx-bci: %s: %s\n", in, archive_error_string(j.in));
        good = false;
    }
    if (good && archive_write_open_filename(j.out, out) != ARCHIVE_OK) {
        fprintf(stderr, "hprofx-bci: %s: %s\n", out, archive_error_string(j.out));
        good = false;
    }
    good = good && do_entries(&j, in);
    if (good && archive_write_close(j.out) != ARCHIVE_OK) {
        fprintf(stderr, "hprofx-bci: %s: %s\n", out, archive_error_string(j.out));
        good = false;
    }
    if (verbose) {
        hpx_summary_print(&j.summary);
    }
    (void)archive_read_free(j.in);
    (void)archive_write_free(j.out);
    return !good ? HPX_EXIT_FILE : j.refused > 0 ? 1 : 0;
}
