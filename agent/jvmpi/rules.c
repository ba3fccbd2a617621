/* SPDX-License-Identifier: BSD-2-Clause */
/* rules.c: the agent's behaviour against the manual's rules. A debug build checks them, and any build with HPROFX_JVMPI_RULES=1. Each rule
 * is said once. */
#include "log.h"
#include "shim.h"
#include <stdlib.h>
#include <string.h>

atomic_int hpx_jvmpi_suspended;
static bool checks; /* constant from load on */

enum when { ANY, HELD, FREE, BLOCKS };
static const struct {
    enum when when;
    const char *name;
} rows[] = {
#define ROW(name, class, when, sentence) [HPX_JVMPI_F_##name] = {when, #name},
    HPX_JVMPI_FUNCTIONS(ROW)
#undef ROW
};

void hpx_jvmpi_rules_init(void)
{
    const char *asked = getenv("HPROFX_JVMPI_RULES");
#ifdef NDEBUG
    checks = asked != NULL && strcmp(asked, "1") == 0;
#else
    checks = asked == NULL || strcmp(asked, "0") != 0;
#endif
}

#define RULES_SAID 64 /* more distinct texts than there are rules */

static bool first_time(const char *rule)
{
    static _Atomic(const char *) said[RULES_SAID]; /* relaxed: constant texts */
    for (size_t i = 0; i < RULES_SAID; i++) {
        const char *there = NULL;
        if (atomic_compare_exchange_strong_explicit(&said[i], &there, rule, memory_order_relaxed, memory_order_relaxed)) {
            return true;
        }
        if (there == rule) {
            return false;
        }
    }
    return false;
}

void hpx_jvmpi_rule(const char *rule)
{
    if (checks && first_time(rule)) {
        hpx_warn("jvmpi: the agent broke a rule: %s", rule);
    }
}

/* One line per function, whose name is a constant text. */
static void broken(enum hpx_jvmpi_function f, const char *why)
{
    if (first_time(rows[f].name)) {
        hpx_warn("jvmpi: the agent broke a rule: %s was called %s", rows[f].name, why);
    }
}

void hpx_jvmpi_called(enum hpx_jvmpi_function f)
{
    if (hpx_likely(!checks)) {
        return;
    }
    enum when when = rows[f].when;
    bool stopped = hpx_jvmpi_mode() == HPX_JVMPI_STOP;
    bool suspended = atomic_load_explicit(&hpx_jvmpi_suspended, memory_order_relaxed) > 0;
    if (when == HELD && !stopped && !hpx_jvmpi_gc_is_disabled()) {
        broken(f, "while collections were enabled; call DisableGC first");
    } else if (when == FREE && (stopped || suspended)) {
        broken(f, "while threads were suspended");
    } else if (when == FREE && hpx_jvmpi_gc_is_disabled()) {
        broken(f, "while collections were disabled");
    } else if (when == BLOCKS && suspended) {
        broken(f, "while threads were suspended; it may wait for one of them");
    }
}
