/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_jmh.c: see subcommands.h. */
#include "subcommands.h"
#include <stdio.h>
#include <unistd.h>

/* One word for a shell. */
static void put_word(const char *before, const char *name, const char *after)
{
    (void)printf("'%s", before);
    for (const char *c = name; *c != 0; c++) {
        (void)(*c == '\'' ? printf("'\\''") : putchar(*c));
    }
    (void)printf("%s'", after);
}

int hpx_jmh(const struct hpx_asked *a)
{
    const char *jar = hpx_asked_jmh();
    if (access(jar, R_OK) != 0) {
        (void)fprintf(stderr, "hprofx: there is no %s: it is built where a Java compiler is found, and installed with hprofx\n", jar);
        return HPX_FAILED;
    }
    (void)printf("java -cp ");
    put_word("", jar, ":benchmarks.jar");
    (void)printf(" org.openjdk.jmh.Main -prof ");
    if (a->agent != NULL) {
        put_word("hprofx:agent=", hpx_asked_agent(a), "");
        (void)putchar('\n');
    } else {
        (void)printf("hprofx\n"); /* it looks beside the jar */
    }
    return HPX_OK;
}
