/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_jmh.c: see subcommands.h. */
#include "subcommands.h"
#include <stdio.h>
#include <unistd.h>

int hpx_jmh(const struct hpx_asked *a)
{
    const char *jar = hpx_asked_jmh();
    if (access(jar, R_OK) != 0) {
        (void)fprintf(stderr, "hprofx: there is no %s: it is built where a Java compiler is found, and installed with hprofx\n", jar);
        return HPX_FAILED;
    }
    (void)printf("java -cp '%s:benchmarks.jar' org.openjdk.jmh.Main -prof ", jar);
    if (a->agent != NULL) {
        (void)printf("'hprofx:agent=%s'\n", hpx_asked_agent(a));
    } else {
        (void)printf("hprofx\n"); /* it looks beside the jar */
    }
    return HPX_OK;
}
