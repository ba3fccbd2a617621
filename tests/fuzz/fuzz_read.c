/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_read.c: any bytes as an HPROF file: the reader ends, keeps its bounds, finds the same in pieces as at once, and takes what it says
 * is whole. */
#include "fuzz.h"
#include "show.h"
#include <string.h>

struct pieces {
    const uint8_t *p;
    size_t n, piece;
};

static ssize_t give(void *ctx, void *to, size_t n)
{
    struct pieces *d = ctx;
    size_t k = d->piece < d->n ? d->piece : d->n;
    k = k < n ? k : n;
    if (k > 0) {
        memcpy(to, d->p, k);
    }
    d->p += k;
    d->n -= k;
    return (ssize_t)k;
}

static struct hpx_reader run(const uint8_t *data, size_t size, size_t piece, bool strict, FILE *shown)
{
    struct pieces d = {data, size, piece};
    struct hpx_source s;
    struct hpx_check c;
    static struct hpx_profile p;
    require(hpx_source_init(&s, give, &d) == 0 && hpx_profile_init(&p) == 0, "no memory");
    hpx_check_init(&c);
    struct hpx_reader r = {
        .source = &s, .sinks = {hpx_check_event, shown != NULL ? hpx_profile_event : NULL}, .ctx = {&c, &p}, .strict = strict};
    hpx_reader_run(&r);
    require(r.result != HPX_RD_FAILED, "failed without an error");
    require(r.whole <= size && r.end <= size && r.at <= size, "beyond the end");
    require(r.result != HPX_RD_SOUND || r.end == size, "sound before the end");
    if (shown != NULL) {
        struct hpx_report report = {.to = shown, .file = "file", .reader = &r, .check = &c, .profile = &p, .notes = true};
        struct hpx_json j = {.to = shown};
        hpx_profile_finish(&p);
        hpx_report_facts(&report);
        hpx_report_monitors(shown, &p);
        hpx_report_json(&j, &report);
        hpx_report_check(&report);
    }
    hpx_profile_fini(&p);
    hpx_check_fini(&c);
    hpx_source_fini(&s);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static FILE *shown;
    if (shown == NULL) {
        shown = fopen("/dev/null", "w");
        require(shown != NULL, "/dev/null");
    }
    struct hpx_reader at_once = run(data, size, SIZE_MAX, false, shown);
    struct hpx_reader in_pieces = run(data, size, 13, false, NULL);
    require(at_once.result == in_pieces.result && at_once.at == in_pieces.at && at_once.whole == in_pieces.whole &&
                strcmp(at_once.why, in_pieces.why) == 0 && memcmp(at_once.notes, in_pieces.notes, sizeof(at_once.notes)) == 0,
            "otherwise in pieces");
    struct hpx_reader strict = run(data, size, SIZE_MAX, true, NULL);
    require(at_once.result == HPX_RD_SOUND || strict.result != HPX_RD_SOUND, "strict takes more");
    if (at_once.result == HPX_RD_CUT && at_once.whole > 0) { /* what hprofx recover leaves */
        require(run(data, (size_t)at_once.whole, SIZE_MAX, false, NULL).result == HPX_RD_SOUND, "cut at a place that is none");
    }
    return 0;
}
