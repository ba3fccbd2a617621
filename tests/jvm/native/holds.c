// SPDX-License-Identifier: BSD-2-Clause
/* holds.c: a library whose constructor lists what is loaded, and does not come back from the first one: it keeps the locks with which the C
 * library loads and lists, from when FOLDER/held is opened until FOLDER/released is. The folder is HOLDS. */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void meet(const char *folder, const char *name, int how)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    close(open(path, how | O_CLOEXEC)); /* of a FIFO: waits for the other side */
}

static int hold(struct dl_phdr_info *info, size_t size, void *folder)
{
    (void)info, (void)size;
    meet(folder, "held", O_WRONLY);
    meet(folder, "released", O_RDONLY);
    return 1;
}

__attribute__((constructor)) static void begin(void)
{
    char *folder = getenv("HOLDS");
    if (folder != NULL) {
        dl_iterate_phdr(hold, folder);
    }
}
