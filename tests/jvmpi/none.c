/* SPDX-License-Identifier: BSD-2-Clause */
/* none.c: a library that is no agent: it has no JVM_OnLoad. */
extern int hpx_jvmpi_none;
int hpx_jvmpi_none = 1;
