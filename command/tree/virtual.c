/* SPDX-License-Identifier: BSD-2-Clause */
/* virtual.c: see virtual.h. */
#include "virtual.h"
#include "own.h"
#include <stdio.h>
#include <string.h>

static bool is(const char *method, const char *name)
{
    size_t n = strlen(name);
    return strncmp(method, name, n) == 0 && (method[n] == '\0' || method[n] == '(');
}

/* Of the JDK, or made by it: the class of a lambda says nothing of what the lambda does. */
static bool starts(const char *method)
{
    return hpx_own(method) == HPX_WHOSE_JDK || strstr(method, "$$Lambda") != NULL;
}

uint32_t hpx_virtual_thread(struct hpx_tree *t, uint32_t node, uint32_t otherwise)
{
    uint32_t of_jdk = 0, started = 0; /* names */
    for (; node != 0; node = hpx_tree_node_at(t, node)->parent) {
        const struct hpx_tree_frame *f = hpx_tree_frame_at(t, hpx_tree_node_at(t, node)->frame);
        const char *method = hpx_tree_text(t, f->name);
        if (is(method, "java.lang.VirtualThread.run")) { /* outside of it is the carrier */
            break;
        }
        if (f->kind == HPX_FRAME_METHOD && !is(method, "java.lang.VirtualThread.runWith") && !is(method, "java.lang.Thread.runWith")) {
            of_jdk = f->name;
            started = starts(method) ? started : f->name;
        }
    }
    if (node == 0) {
        return otherwise;
    }
    char name[4096];
    const char *method = hpx_tree_text(t, started != 0 ? started : of_jdk);
    (void)snprintf(name, sizeof name, "%.4000s%s(virtual)", method, method[0] != '\0' ? " " : "");
    return hpx_tree_name(t, name, strlen(name));
}
