/* SPDX-License-Identifier: BSD-2-Clause */
/* heap_source.c: see heap_source.h. */
#include "heap_source.h"
#include "gunzip.h"
#include "memory.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool again(void *ctx)
{
    struct hpx_gunzip *g = ctx;
    int fd = g->fd;
    hpx_gunzip_fini(g);
    hpx_gunzip_init(g, fd);
    return lseek(fd, 0, SEEK_SET) == 0;
}

bool hpx_heap_is_file(const char *name)
{
    struct stat st;
    return stat(name, &st) == 0 && S_ISREG(st.st_mode);
}

bool hpx_heap_source_begin(struct hpx_heap_source *s, int fd, struct hpx_err *err)
{
    s->z = malloc(sizeof *s->z);
    if (s->z == NULL) {
        (void)hpx_err_set(err, HPX_E_NOMEM, "no memory");
        return false;
    }
    hpx_budget_begin(&s->budget, hpx_memory_for_file(fd), NULL);
    hpx_gunzip_init(s->z, fd);
    s->file = (struct hpx_heap_file){hpx_gunzip_read, again, s->z};
    return true;
}

void hpx_heap_source_end(struct hpx_heap_source *s)
{
    hpx_gunzip_fini(s->z);
    hpx_budget_end(&s->budget);
    free(s->z);
}
