/* SPDX-License-Identifier: BSD-2-Clause */
/* leak.c: planted bug, forgets an allocation. LeakSanitizer must report it. */
#include <stdlib.h>

static void *volatile last;

int main(void)
{
    last = malloc(1234);
    last = NULL;
    return 0;
}
