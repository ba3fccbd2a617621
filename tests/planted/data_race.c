/* SPDX-License-Identifier: BSD-2-Clause */
/* data_race.c: planted bug, two threads count in one plain variable. ThreadSanitizer must report it. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

static volatile uint64_t counter;

static void *count(void *unused)
{
    (void)unused;
    for (int i = 0; i < 10000; i++) {
        counter++;
    }
    return NULL;
}

int main(void)
{
    pthread_t other;
    if (pthread_create(&other, NULL, count, NULL) != 0) {
        return 0;
    }
    count(NULL);
    return pthread_join(other, NULL) != 0;
}
