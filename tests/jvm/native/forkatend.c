/* SPDX-License-Identifier: BSD-2-Clause */
/* forkatend.c: preloaded into a JVM: forks, as any thread of the program might, while the end of a session frees the socket of net=. Says
 * on stderr "forked" for every child, and "closed" where a child has lost descriptor 0: freed blocks are full of zeroes. */
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUEUE  ((size_t)8 << 20) /* of net=, the only mapping of this size that the agent gives back */
#define BLOCKS 4                 /* that are freed next by that thread: the name of the peer, the socket */

static __thread unsigned left;
static void (*real_free)(void *);

__attribute__((constructor)) static void prepare(void)
{
    *(void **)&real_free = dlsym(RTLD_NEXT, "free");
}

static void fork_and_look(void)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        _exit(fcntl(STDIN_FILENO, F_GETFD) < 0);
    }
    if (child > 0 && waitpid(child, &status, 0) == child) {
        (void)!write(STDERR_FILENO, status != 0 ? "closed\n" : "forked\n", 7);
    }
}

__attribute__((visibility("default"))) int munmap(void *at, size_t n)
{
    static int (*real)(void *, size_t);
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "munmap");
    }
    int rc = real(at, n);
    left = n == QUEUE ? BLOCKS : left;
    return rc;
}

__attribute__((visibility("default"))) void free(void *p)
{
    if (left == 0 || p == NULL) {
        if (real_free != NULL) {
            real_free(p);
        }
        return;
    }
    unsigned more = left - 1;
    left = 0;
    memset(p, 0, malloc_usable_size(p));
    real_free(p);
    fork_and_look();
    left = more;
}
