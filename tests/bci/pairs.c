/* SPDX-License-Identifier: BSD-2-Clause */
/* pairs.c: bci-pairs TRACKER [PROBES [FIELD]]: reads classes in pairs, as they were and rewritten, and says which differ by more or less
 * than PROBES, calls of TRACKER: a sum of 1 (calls), 2 (sites), 4 (objects), 8 (stores to FIELD); 1 if not given. A pair on stdin: u4
 * length of a label, u4 length of the class, u4 length of the rewritten class, and these three; big endian. Status 1 if one differs. */
#include "../unit/bci_compare.h"
#include <stdio.h>
#include <stdlib.h>

static size_t length(const unsigned char *p)
{
    return (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
}

int main(int argc, char **argv)
{
    unsigned char head[12];
    unsigned long pairs = 0, bad = 0, methods = 0, handlers = 0, sites = 0, objects = 0, stores = 0, wide = 0, inverted = 0,
                  trampolines = 0;
    struct bci_asked asked = {.tracker = argc > 1 ? argv[1] : NULL,
                              .probes = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : BCI_CALLS,
                              .stores = argc > 3 ? argv[3] : NULL};
    if (argc < 2 || argc > 4 || asked.probes < BCI_CALLS || asked.probes > (BCI_CALLS | BCI_SITES | BCI_OBJECTS | BCI_STORES)) {
        fprintf(stderr, "usage: bci-pairs TRACKER [PROBES [FIELD]]\n");
        return 64;
    }
    while (fread(head, 1, sizeof(head), stdin) == sizeof(head)) {
        size_t l = length(head), n = length(head + 4), m = length(head + 8);
        unsigned char *p = malloc(l + n + m + 1);
        if (p == NULL || fread(p, 1, l + n + m, stdin) != l + n + m) {
            fprintf(stderr, "bci-pairs: the input is cut off\n");
            free(p);
            return 65;
        }
        struct bci_compared r;
        const char *fault = bci_compare(p + l, n, p + l + n, m, &asked, &r);
        if (fault != NULL) {
            printf("%.*s: %s\n", (int)l, (char *)p, fault);
            bad++;
        }
        pairs++;
        methods += r.methods;
        handlers += r.handlers;
        sites += r.sites;
        objects += r.objects;
        stores += r.stores;
        wide += r.wide;
        inverted += r.inverted;
        trampolines += r.trampolines;
        free(p);
    }
    printf("%lu classes compared, %lu differ; %lu methods, %lu with a handler; %lu sites, %lu objects, %lu stores; %lu wide, %lu inverted, "
           "%lu trampolines\n",
           pairs, bad, methods, handlers, sites, objects, stores, wide, inverted, trampolines);
    return bad > 0;
}
