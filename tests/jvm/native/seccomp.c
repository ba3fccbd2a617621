/* SPDX-License-Identifier: BSD-2-Clause */
/* seccomp.c: preloaded, makes the kernel refuse one system call to this process and its children, as the profile of a container does.
 *
 * HPX_REFUSE=NUMBER:ERRNO  ERRNO 0: the kernel kills the process instead. e.g. 222:1, timer_create with EPERM on x86-64. Without it nothing
 * is done. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

__attribute__((constructor)) static void refuse(void)
{
    const char *text = getenv("HPX_REFUSE");
    const char *colon = text != NULL ? strchr(text, ':') : NULL;
    if (colon == NULL) {
        return;
    }
    unsigned number = (unsigned)atoi(text), error = (unsigned)atoi(colon + 1);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, error == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof code / sizeof code[0], .filter = code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        _Exit(125); /* the test tells: no filter can be installed here */
    }
}
