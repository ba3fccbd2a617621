/* SPDX-License-Identifier: BSD-2-Clause */
/* fuzz_bci.c: any bytes as a class file: what is rewritten compares as the input plus calls, within the bounds of steps and size; the first
 * byte chooses the options. */
#include "../unit/bci_compare.h"
#include "fuzz.h"
#include "hprofx_bci.h"
#include <string.h>

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
    struct hprofx_bci_opts opts = {.result = &r, .first = firsts[data[0] & 3], .no_handler = (data[0] & 4) != 0, .min = data[0] >> 4};
    size_t n = size - 1;
    uint8_t *in = malloc(n > 0 ? n : 1); /* ends where it ends */
    require(in != NULL, "no memory");
    memcpy(in, data + 1, n);
    int how = hprofx_bci_rewrite(&opts, in, n, &out, &m, &why);
    require((how == 0) == (out != NULL) && (how == 0) == (why == NULL), "status and results disagree");
    require(r.steps <= 2 * (uint64_t)HPROFX_BCI_STEPS * n, "too many steps");
    if (how == 0) {
        require(m <= HPROFX_BCI_GROWTH * n + 1024, "the output is too large");
        const char *fault = bci_compare(in, n, out, m, HPROFX_BCI_TRACKER, &compared);
        require(fault == NULL, fault);
        require(compared.methods == r.rewritten, "the count of methods is wrong");
    }
    free(in);
    free(out);
    return 0;
}
