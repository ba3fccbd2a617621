/* SPDX-License-Identifier: BSD-2-Clause */
/* pending.c: for the time being: nobody pulls. */
#include "collect.h"
__attribute__((weak)) struct hpx_collect *hpx_collect_new(hpx_collect_flush *f, void *c) { (void)f; (void)c; return NULL; }
__attribute__((weak)) void hpx_collect_free(struct hpx_collect *c) { (void)c; }
__attribute__((weak)) struct hpx_pull_hooks hpx_collect_hooks(struct hpx_collect *c) { (void)c; return (struct hpx_pull_hooks){0}; }
__attribute__((weak)) void hpx_collect_add(struct hpx_collect *c, const struct hpx_tree *t) { (void)c; (void)t; }
__attribute__((weak)) struct hpx_pull *hpx_pull_start(const char *a, bool b, const struct hpx_pull_hooks *h, struct hpx_err *e) { (void)a; (void)b; (void)h; (void)hpx_err_set(e, HPX_E_SYS, "not yet"); return NULL; }
__attribute__((weak)) const char *hpx_pull_at(const struct hpx_pull *p) { (void)p; return ""; }
__attribute__((weak)) void hpx_pull_stop(struct hpx_pull *p) { (void)p; }
