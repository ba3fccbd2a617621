/* SPDX-License-Identifier: BSD-2-Clause */
/* steer_socket.h: the socket /tmp/.hprofx-PID at which steer.c listens: its file is made, kept and removed. What else may stand there is
 * not ours and stays. One caller at a time. */
#ifndef HPX_STEER_SOCKET_H
#define HPX_STEER_SOCKET_H

#include "err.h"
#include <stdbool.h>

/* Listens there, for `queue` clients that wait. A descriptor, the caller's; -HPX_E_IO: it cannot be made, and no file of it is left. */
int hpx_steer_socket_open(int queue, struct hpx_err *err);
/* Makes the file again if a sweeper of /tmp has removed it: without it no command finds the agent, and a JVM that nothing can be attached
 * to stays out of reach. A new descriptor in the place of the old one; -1: it is there, or cannot be made. */
int hpx_steer_socket_keep(int queue);
/* Removes the file if it is ours. */
void hpx_steer_socket_remove(void);
/* This process has made it: no child of a fork. */
bool hpx_steer_socket_is_own(void);

#endif
