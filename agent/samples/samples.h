/* SPDX-License-Identifier: BSD-2-Clause */
/* samples.h: cpu=samples as a mode: which stacks used the CPU. */
#ifndef HPX_SAMPLES_H
#define HPX_SAMPLES_H

#include "sample_thread.h"

extern const struct hpx_vm_mode hpx_samples_vm; /* its other half */

/* After the end of the mode: whether a thread was stopped in its handler, which may go on at any time. */
bool hpx_samples_inside(void);

#endif
