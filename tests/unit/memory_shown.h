/* SPDX-License-Identifier: BSD-2-Clause */
/* memory_shown.h: what the files of test_no_memory.c show, and what their last report counts. */
#ifndef HPX_MEMORY_SHOWN_H
#define HPX_MEMORY_SHOWN_H

#include "hprof_format.h"
#include "memory_modes.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct shown {
    uint64_t rows, dump, sites;  /* dump: rows since the last report; sites: their tables are of everything so far */
    uint64_t counted, unwritten; /* of the last report, by all causes; of them, what dumps alone lack */
    uint64_t lacks;              /* likewise, what the journal alone lacks */
    bool keeps;
} shown;

static void read_report_line(const char *line)
{
    static const enum hpx_counter losses[] = {HPX_C_LOST_RING_FULL, HPX_C_LOST_NO_MEMORY, HPX_C_ALLOCATIONS_UNCOUNTED,
                                              HPX_C_WALL_LOST,      HPX_C_ROWS_UNWRITTEN, HPX_C_JOURNAL_LACKS};
    static const char keeps[] = "hprofx: counts: go on", version[] = "hprofx: version: ", lost[] = "hprofx: lost: ";
    if (strncmp(line, version, sizeof version - 1) == 0) {
        shown.counted = shown.unwritten = shown.lacks = 0;
        shown.keeps = false;
    }
    if (strncmp(line, keeps, sizeof keeps - 1) == 0) {
        shown.keeps = true;
    }
    if (strncmp(line, ROWLESS, sizeof ROWLESS - 1) == 0) {
        shown.counted += strtoull(strrchr(line, ' '), NULL, 10);
    }
    if (strncmp(line, lost, sizeof lost - 1) == 0) {
        shown.rows += shown.keeps ? 0 : shown.dump;
        shown.dump = 0;
    }
    for (size_t i = 0; i < HPX_ARRAY_LEN(losses); i++) {
        const char *key = hpx_counter_infos[losses[i]].key;
        if (strncmp(line + 8, key, strlen(key)) == 0 && line[8 + strlen(key)] == ':') {
            uint64_t n = strtoull(line + 8 + strlen(key) + 1, NULL, 10);
            shown.counted += losses[i] != HPX_C_JOURNAL_LACKS ? n : 0;
            shown.lacks += losses[i] == HPX_C_JOURNAL_LACKS ? n : 0;
            shown.unwritten += losses[i] == HPX_C_ROWS_UNWRITTEN ? n : 0;
        }
    }
}

static uint64_t column(const char *line, int n)
{
    for (; n > 0; n--) {
        line += strspn(line, " ");
        line += strcspn(line, " ");
    }
    return strtoull(line, NULL, 10);
}

static void read_text(char *text)
{
    int of = 0; /* the column that counts; 0: outside of a table */
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t len = strlen(line);
        bool is_sites = strncmp(line, "SITES BEGIN", 11) == 0;
        if (strncmp(line, "hprofx: ", 8) == 0) {
            read_report_line(line);
        } else if (strstr(line, " BEGIN (") != NULL) {
            of = is_sites ? 6 : strncmp(line, "MONITOR OWNERS", 14) != 0 ? 3 : 0;
            shown.sites = is_sites ? 0 : shown.sites;
        } else if (len > 4 && strcmp(line + len - 4, " END") == 0) {
            of = 0;
        } else if (of > 0 && line[strspn(line, " ")] >= '0' && line[strspn(line, " ")] <= '9') {
            *(of == 6 ? &shown.sites : &shown.dump) += column(line, of);
        }
    }
}

static uint64_t number(const uint8_t *at, size_t n)
{
    uint64_t v = 0;
    for (; n > 0; n--) {
        v = v << 8 | *at++;
    }
    return v;
}

static void read_record(unsigned tag, const uint8_t *at, size_t n)
{
    static char text[HPX_REPORT_TEXT];
    const size_t id = hpx_session.opt->idsize;
    if (tag == HPX_TAG_SAMPLES) {
        for (uint32_t i = 0; i < number(at + 4, 4); i++) {
            shown.dump += number(at + HPX_SAMPLES_HEAD + (size_t)i * HPX_SAMPLES_ROW, 4);
        }
    } else if (tag == HPX_TAG_SITES) {
        shown.sites = 0;
        for (uint32_t i = 0; i < number(at + HPX_SITES_HEAD - 4, 4); i++) {
            shown.sites += number(at + HPX_SITES_HEAD + (size_t)(i + 1) * HPX_SITES_ROW - 4, 4);
        }
    } else if (tag == HPX_TAG_STRING && n > id + 15 && memcmp(at + id, "hprofx: version", 15) == 0) {
        assert_true(n - id < sizeof text);
        memcpy(text, at + id, n - id);
        text[n - id] = 0;
        read_text(text);
    }
}

/* Adds it to what others have shown. false: there is no such file. */
static bool read_file(const char *name)
{
    struct stat st;
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    assert_int_equal(fstat(fd, &st), 0);
    uint8_t *bytes = malloc((size_t)st.st_size + 1), *at = bytes + 31, *end = bytes + st.st_size;
    assert_non_null(bytes);
    assert_int_equal(read(fd, bytes, (size_t)st.st_size), st.st_size);
    close(fd);
    *end = 0;
    if (!hpx_session.opt->binary) {
        read_text((char *)bytes);
    }
    for (size_t n; hpx_session.opt->binary && at < end; at += n) {
        unsigned tag = *at;
        n = number(at + 5, 4);
        at += 9;
        read_record(tag, at, n);
    }
    free(bytes);
    return true;
}

#endif
