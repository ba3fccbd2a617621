/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_spool.c: libFuzzer over what hprofx-ship reads again of its own files, in which anything may stand. Input: 'h', then the line of a
 * batch: if it is one, it is written as it is understood; or another byte, then the file `seen`: what is understood is the same after it
 * was saved, and names of files of a folder alone. */
#include "batch.h"
#include "fuzz.h"
#include "seen.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static void read_head(const uint8_t *data, size_t size)
{
    char line[HPX_BATCH_LINE], again[HPX_BATCH_LINE];
    struct hpx_batch_head h, other;
    memset(line, ' ', sizeof line);
    memcpy(line, data, size < sizeof line ? size : sizeof line);
    line[sizeof line - 1] = '\n';
    if (!hpx_batch_head_read(&h, line)) {
        return;
    }
    require(h.nkinds <= HPX_BATCH_KINDS, "too many kinds");
    hpx_batch_head_write(&h, again);
    require(hpx_batch_head_read(&other, again), "a line of ours is none");
    require(h.profiles == other.profiles && h.oldest_ms == other.oldest_ms && h.nkinds == other.nkinds, "another head");
    for (size_t i = 0; i < h.nkinds; i++) {
        require(strcmp(h.kinds[i].name, other.kinds[i].name) == 0 && h.kinds[i].sum == other.kinds[i].sum, "another kind");
    }
}

static char folder[] = "/tmp/hpx_fuzz_XXXXXX";
static int dir = -1; /* libFuzzer calls from one thread */

static void remove_folder(void)
{
    (void)unlinkat(dir, "seen", 0);
    (void)unlinkat(dir, "seen.part", 0);
    (void)rmdir(folder);
}

static size_t content(char *to, size_t size)
{
    int fd = openat(dir, "seen", O_RDONLY | O_CLOEXEC);
    ssize_t n = pread(fd, to, size, 0);
    (void)close(fd);
    return n > 0 ? (size_t)n : 0;
}

static void save(void)
{
    struct hpx_err err;
    struct hpx_seen *s = hpx_seen_open(dir, &err);
    require(s != NULL, "it cannot be read");
    require(hpx_seen_save(s), "it cannot be saved");
    hpx_seen_close(s);
}

/* Names are escaped, so that a '/' could only be one. */
static void read_seen(const uint8_t *data, size_t size)
{
    static char once[1 << 20], twice[1 << 20];
    if (dir < 0) {
        require(mkdtemp(folder) != NULL, "no folder");
        dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        require(dir >= 0, "no folder");
        (void)atexit(remove_folder);
    }
    int fd = openat(dir, "seen", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "no file");
    (void)close(fd);
    save();
    size_t n = content(once, sizeof once);
    require(memchr(once, '/', n) == NULL && memchr(once, '\0', n) == NULL, "no name of a file");
    save();
    require(content(twice, sizeof twice) == n && memcmp(once, twice, n) == 0, "something else after a restart");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 0 && data[0] == 'h') {
        read_head(data + 1, size - 1);
    } else if (size > 0) {
        read_seen(data + 1, size - 1);
    }
    return 0;
}
