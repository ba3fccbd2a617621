/* SPDX-License-Identifier: BSD-2-Clause */
/* halfprofile.c: preloaded into a JVM: a profile of the command gets its name when it has lost its second half. */
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

__attribute__((visibility("default"))) int rename(const char *from, const char *to)
{
    static int (*real)(const char *, const char *);
    static const char end[] = ".profile";
    size_t n = strlen(to), k = sizeof end - 1;
    struct stat st;
    if (real == NULL) {
        *(void **)&real = dlsym(RTLD_NEXT, "rename");
    }
    if (n > k && strcmp(to + n - k, end) == 0 && (stat(from, &st) != 0 || truncate(from, st.st_size / 2) != 0)) {
        return -1;
    }
    return real(from, to);
}
