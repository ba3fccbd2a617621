/* SPDX-License-Identifier: BSD-2-Clause */
/* compare_page BASE NEW >PAGE: the page that compares two profiles. */
#include "formats.h"
#include "writers.h"
#include <fcntl.h>
#include <unistd.h>

static bool read_tree(struct hpx_tree *t, const char *file)
{
    struct hpx_err err;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    bool good = hpx_tree_init(t) && fd >= 0 && hpx_tree_read(t, fd, NULL, NULL, &err) == HPX_TREE_WHOLE;
    hpx_tree_finish(t);
    (void)close(fd);
    return good && !t->no_memory;
}

int main(int argc, char **argv)
{
    struct hpx_tree base = {0}, new = {0};
    struct hpx_tree_column c;
    bool good = argc == 3 && read_tree(&base, argv[1]) && read_tree(&new, argv[2]);
    good = good && hpx_tree_column(&new, NULL, &c) && hpx_write_page_diff(&base, &new, c, stdout) && fflush(stdout) == 0;
    hpx_tree_fini(&base);
    hpx_tree_fini(&new);
    return good ? 0 : 1;
}
