/* SPDX-License-Identifier: BSD-2-Clause */
/* arch.h: of liburcu; its barriers are in uatomic.h. */
#include <urcu/uatomic.h>
