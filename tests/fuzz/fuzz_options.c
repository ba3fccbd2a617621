/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_options.c: libFuzzer over the option parser. Lines of the input: _JAVA_HPROF_OPTIONS, HPROFX_OPTIONS, the command line; the rest is
 * the text of an option file, which the command line may name by its descriptor: @/proc/self/fd/200 (the seeds do). */
#include "fuzz.h"
#include "options.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
#define OPTION_FILE_FD 200

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    int fd = memfd_create("options", MFD_CLOEXEC);
    return fd < 0 || dup3(fd, OPTION_FILE_FD, O_CLOEXEC) < 0 ? -1 : 0;
}

static void check(bool holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "%s\n", what);
        abort();
    }
}

static void check_message(const char *msg)
{
    check(strlen(msg) < 4096, "the message fits into a line of the log");
    for (const unsigned char *s = (const unsigned char *)msg; *s; s++) {
        check((*s >= 0x20 || *s == '\n') && *s != 0x7F && !(*s == 0xC2 && s[1] < 0xA0), "no controls in the message");
    }
}

static void put(void *ctx, const char *s)
{
    *(size_t *)ctx += strlen(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *at = text, *source[3] = {NULL, NULL, NULL};
    static struct hpx_err err;
    struct hpx_options o;
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = 0;
    for (size_t i = 0; i < 3 && at < text + size; i++) {
        char *end = memchr(at, '\n', (size_t)(text + size - at));
        source[i] = at;
        at = end ? end + 1 : text + size;
        if (end) {
            *end = 0;
        }
    }
    size_t rest = (size_t)(text + size - at);
    check(ftruncate(OPTION_FILE_FD, 0) == 0 && pwrite(OPTION_FILE_FD, at, rest, 0) == (ssize_t)rest, "the option file is written");
    int rc = hpx_options_parse(&o, source[0], source[1], source[2], &err);
    if (rc == 0) {
        check(o.file && o.given && o.depth <= HPX_OPT_MAX_DEPTH, "depth, names");
        check(o.interval_ns > 0 && o.interval_ns <= HPX_OPT_MAX_INTERVAL_NS && !(o.cutoff < 0), "interval, cutoff");
        check(o.cpu != HPX_CPU_OFF || o.heap_dump || o.heap_sites || o.monitor || o.wall_ns > 0, "a mode is on");
        check(!o.binary || (!o.monitor && !(o.cpu & (HPX_CPU_TIMES | HPX_CPU_OLD))), "what goes with format=b");
        check(!o.monitor || !o.owner || o.stacks == HPX_STACKS_EXACT, "what goes with owner=y");
        size_t n = 0;
        if (o.help) {
            hpx_options_help(put, &n);
        }
    } else {
        check(!o.file && !o.net && !o.given, "an error holds nothing");
        check_message(err.msg);
    }
    hpx_options_fini(&o);
    free(text);
    return 0;
}
