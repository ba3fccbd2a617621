/* SPDX-License-Identifier: BSD-2-Clause */
/* hprofx_doctor.h: `hprofx doctor`: what will work here and what will not, and the remedy for each. It only looks: nothing is sent to a
 * JVM. One thread. */
#ifndef HPX_COMMAND_HPROFX_DOCTOR_H
#define HPX_COMMAND_HPROFX_DOCTOR_H

#include "asked.h"

/* One line per fact on stdout: of the JVM of the word; NULL: of this machine. Returns the status: HPX_OK if a profile is possible, else
 * that with which an attempt would end. */
int hpx_doctor(const struct hpx_asked *a, const char *word);

#endif
