/* SPDX-License-Identifier: BSD-2-Clause */
/* cpuclock_fixture.c: the calls of cpuclock_fixture.h. */
#include "cpuclock_fixture.h"
#include "cmocka_all.h"
#include <sys/resource.h>
#include <time.h>

int choose(void **state)
{
    (void)state;
    hpx_cpuclock_setup(HPX_CPUCLOCK_CPU, NULL);
    return 0;
}

void need_fast(void)
{
    if (!hpx_cpuclock_is_fast()) {
        print_message("no clock by counter and rseq here: %s\n", hpx_cpuclock_reason());
        skip();
    }
}

long switches(void)
{
    struct rusage u;
    return getrusage(RUSAGE_THREAD, &u) == 0 ? u.ru_nvcsw + u.ru_nivcsw : -1;
}

void rest(long ns)
{
    (void)nanosleep(&(struct timespec){0, ns}, NULL);
}
