/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_bci.c: any bytes as a class file: what is rewritten compares as the input plus probes, within the bounds of steps and size, and
 * every probe is told. The first byte chooses the options: bits 0 and 1 the first number, bit 2 no handler; without bit 3 bits 4 to 7 are
 * the minimum, with it bits 4 to 6 the kinds of probe, bit 2 also that of stores, and bit 7 a filter for each method. */
#include "../unit/bci_compare.h"
#include "fuzz.h"
#include "hprofx_bci.h"
#include <string.h>

static struct {
    uint8_t chosen[65536];
    uint32_t methods, sites, next;
} told;

static unsigned want(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx;
    unsigned probes = (m->index * 2654435761u) >> 28;
    told.chosen[m->index] = (uint8_t)(probes & m->probes);
    return probes;
}

static void tell_method(void *ctx, const struct hprofx_bci_method *m)
{
    (void)ctx;
    require(told.sites == 0 && (m->probes & HPROFX_BCI_CALLS), "a method is told that should not be");
    told.methods++;
}

static void tell_site(void *ctx, const struct hprofx_bci_site *s)
{
    (void)ctx;
    volatile char last = s->operand.len > 0 ? s->operand.at[s->operand.len - 1] : 0; /* it can be read */
    (void)last;
    require(s->bci < s->method->code_length && (s->method->probes & HPROFX_BCI_SITES), "a site is told that should not be");
    require(told.sites++ == 0 || s->id >= told.next, "ids do not ascend");
    told.next = s->id + 1;
}

static uint32_t sites(void *ctx, uint32_t n)
{
    static uint32_t first;
    (void)ctx;
    first = (first + 1009) % 70000;
    if (first < told.next) {
        first = told.next;
    }
    told.next = first + n + 1;
    return first;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t firsts[] = {0, 100, 30000, 100000};
    struct hprofx_bci_result r;
    struct bci_compared compared;
    const char *why;
    uint8_t *out;
    size_t m;
    if (size == 0) {
        return 0;
    }
    memset(&told, 0, sizeof(told));
    struct hprofx_bci_opts opts = {.result = &r, .first = firsts[data[0] & 3], .no_handler = (data[0] & 4) != 0, .min = data[0] >> 4};
    struct bci_asked asked = {.tracker = HPROFX_BCI_TRACKER, .probes = BCI_CALLS, .min = opts.min};
    opts.method = tell_method;
    if (data[0] & 8) {
        opts.probes = (data[0] >> 4 & 7u) | (opts.no_handler ? HPROFX_BCI_STORES : 0);
        opts.stores = asked.stores = "permit";
        asked.probes = opts.probes != 0 ? opts.probes : BCI_CALLS;
        opts.min = asked.min = 0;
        opts.first_site = opts.first;
        opts.site = tell_site;
        if (data[0] & 0x80) {
            opts.want = want;
            opts.sites = sites;
            asked.chosen = told.chosen;
        }
    }
    size_t n = size - 1;
    uint8_t *in = malloc(n > 0 ? n : 1); /* ends where it ends */
    require(in != NULL, "no memory");
    memcpy(in, data + 1, n);
    int how = hprofx_bci_rewrite(&opts, in, n, &out, &m, &why);
    require((how == 0) == (out != NULL) && (how == 0) == (why == NULL), "status and results disagree");
    require(r.steps <= 2 * (uint64_t)HPROFX_BCI_STEPS * n, "too many steps");
    if (how == 0) {
        require(m <= HPROFX_BCI_GROWTH * n + 1024, "the output is too large");
        const char *fault = bci_compare(in, n, out, m, &asked, &compared);
        require(fault == NULL, fault);
        require(compared.methods == r.rewritten, "the count of methods is wrong");
        require(compared.sites == r.sites && compared.objects == r.objects, "the count of probes is wrong");
        require(told.methods == r.numbered && (opts.site == NULL || told.sites == r.sites), "not every probe is told");
    } else {
        require(told.methods + told.sites == 0, "probes are told that are not there");
    }
    free(in);
    free(out);
    return 0;
}
